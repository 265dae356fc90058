import { existsSync } from 'node:fs';
import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { requirePlainFolders } from '../../base/plainFile.ts';
import { isRunId, newRunId, type RunFiles } from './runFiles.ts';

/**
 * The files of a run next to its journal: prompts, output of agents, output of checks, requests, the loop's own
 * output.
 */
const BULK: readonly string[] = ['iterations', 'inbox.jsonl', 'stories.json', 'loop.log'];

const JOURNAL = 'journal.jsonl';
/** In ms; longer than any start takes. */
const START_MS = 10 * 60_000;
const CHECKPOINT = 'checkpoint.json';

/**
 * Removes the files of old runs next to their journals, and folders of starts that did not become a run. The
 * journal stays: it documents the whole run, names the commits that are needed to revert a story, and says how a
 * story was completed. Any other file in these folders stays, too. A link is removed, never followed. If the
 * process is killed, the next call continues.
 *
 * @param kept ids of the runs to keep completely, oldest first; runs newer than the first of them are kept as well
 * @param isForeign whether files at a path, relative to the workspace and with forward slashes, came with the
 * repository
 * @throws {HumanError} if a parent folder is a link
 * @throws the system's error if something cannot be removed, after removing everything else
 */
export async function clearOldRuns(
  files: RunFiles,
  kept: readonly string[],
  isForeign: (place: string) => Promise<boolean>,
): Promise<void> {
  requirePlainFolders(files.runsDir);
  const [oldestKept] = kept;
  // Several starts at once: all but one fail, and why is in their folders until it is told.
  const underWay = newRunId(new Date(Date.now() - START_MS));
  const entries = await readdir(files.runsDir, { withFileTypes: true });
  const old = entries
    .filter(entry => entry.isDirectory() && isRunId(entry.name))
    .map(entry => entry.name)
    .filter(id => oldestKept !== undefined && id < oldestKept && !kept.includes(id))
    .filter(id => id < underWay || existsSync(files.journalFile(id)));
  const problems: unknown[] = [];
  for (const id of old) {
    try {
      await clearRun(files, id, isForeign);
    } catch (error) {
      // One folder that cannot be removed must not keep the others forever.
      problems.push(error);
    }
  }
  if (problems.length > 0) {
    throw problems[0];
  }
}

async function clearRun(
  files: RunFiles,
  id: string,
  isForeign: (place: string) => Promise<boolean>,
): Promise<void> {
  const dir = files.runDir(id);
  const names = await readdir(dir);
  // The checkpoint is useless without its journal.
  const bulk = names.filter(
    name => BULK.includes(name) || (name === CHECKPOINT && !names.includes(JOURNAL)),
  );
  if ((names.length > 0 && bulk.length === 0) || (await isForeign(placeOf(files, dir)))) {
    return;
  }
  for (const name of bulk) {
    await rm(path.join(dir, name), { recursive: true, force: true });
  }
  if (bulk.length === names.length) {
    await rmdir(dir);
  }
}

function placeOf({ workspace }: RunFiles, dir: string): string {
  return path.relative(workspace, dir).split(path.sep).join('/');
}
