import { existsSync } from 'node:fs';
import { readdir } from 'node:fs/promises';
import { readFirstLine } from '../../base/growingFile.ts';
import { startedRunId } from '../journal/events.ts';
import { isRunId, type RunFiles } from './runFiles.ts';

/**
 * @returns the id of the newest run of the workspace that has begun. Before the first run, the id of the newest
 * journal, which contains a person's ticks; `undefined` if there is none
 */
export async function newestRunId(files: RunFiles): Promise<string | undefined> {
  const newestFirst = (await runIds(files)).toReversed();
  for (const runId of newestFirst) {
    if (await hasBegun(files, runId)) {
      return runId;
    }
  }
  return newestFirst[0];
}

/** Like {@link runIds}, but only runs that have begun. */
export async function begunRunIds(files: RunFiles): Promise<string[]> {
  const begun: string[] = [];
  // One at a time: journals are kept forever, and a process cannot open that many files at once.
  for (const runId of await runIds(files)) {
    if (await hasBegun(files, runId)) {
      begun.push(runId);
    }
  }
  return begun;
}

/**
 * Whether a journal starts like that of a loop. Other journals did not become a run, contain ticks from before the
 * first run, or were put there by an agent or a repository; a later name must not make them the newest run. This is
 * not a proof: a program that can write there can also write the first line.
 */
async function hasBegun(files: RunFiles, runId: string): Promise<boolean> {
  const line = await readFirstLine(files.journalFile(runId));
  return line !== undefined && startedRunId(line) === runId;
}

/**
 * A folder without a journal is a run that is being started, or failed to start.
 * @returns the ids of all journals of the workspace, oldest first (ids sort by time)
 */
export async function runIds(files: RunFiles): Promise<string[]> {
  try {
    const entries = await readdir(files.runsDir, { withFileTypes: true });
    return entries
      .filter(entry => entry.isDirectory() && isRunId(entry.name))
      .map(entry => entry.name)
      .filter(runId => existsSync(files.journalFile(runId)))
      .sort();
  } catch (error) {
    // ENOTDIR: something else is at this path; the next write reports it.
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      return [];
    }
    throw error;
  }
}
