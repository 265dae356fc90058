import { readdir, rm, rmdir } from 'node:fs/promises';
import path from 'node:path';
import { requirePlainFolders } from '../../base/plainFile.ts';
import { isRunId, type RunFiles } from './runFiles.ts';

/** What a run leaves beside its journal: prompts, what agents printed, outputs of checks, requests, the loop's own words. */
const BULK: readonly string[] = ['iterations', 'inbox.jsonl', 'loop.log'];

const JOURNAL = 'journal.jsonl';
const CHECKPOINT = 'checkpoint.json';

/**
 * Removes what old runs left beside their journals, and folders of starts that came to no run. The journal stays: it
 * tells the whole run, names the commits that a story can be taken back by, and says how a story came to be done.
 * Whatever else lies in these folders stays, too. A link is removed, never followed. Killed halfway, the next call goes on.
 *
 * @param kept ids of the runs that stay whole, the oldest first; what is younger than the first of them stays as well
 * @param isForeign whether files at a place, relative to the workspace and with forward slashes, came with the repository
 * @throws {HumanError} when a folder on the way is a link
 * @throws the system's error when something cannot be removed; all that can be is gone then
 */
export async function clearOldRuns(
  files: RunFiles,
  kept: readonly string[],
  isForeign: (place: string) => Promise<boolean>,
): Promise<void> {
  requirePlainFolders(files.runsDir);
  const [oldestKept] = kept;
  const entries = await readdir(files.runsDir, { withFileTypes: true });
  const old = entries
    .filter(entry => entry.isDirectory() && isRunId(entry.name))
    .map(entry => entry.name)
    .filter(id => oldestKept !== undefined && id < oldestKept && !kept.includes(id));
  const problems: unknown[] = [];
  for (const id of old) {
    try {
      await clearRun(files, id, isForeign);
    } catch (error) {
      // One that nobody can remove must not keep all others for ever.
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
  // What is kept of a journal tells nothing without it.
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
