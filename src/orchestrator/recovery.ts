import { endLeftovers } from './agents/processTree.ts';
import { EXIT_CODES } from './run/events.ts';
import { JournalWriter, readJournal } from './run/journal.ts';
import { isRunning, processStartId } from './run/processIdentity.ts';
import { newestRunId, type RunFiles } from './run/runFiles.ts';
import { acquireRunLock } from './run/runLock.ts';
import { foldRun } from './run/runState.ts';

/**
 * Closes a run whose loop was killed: ends what its agent left running, and writes the end that the loop
 * could not write. Call it while holding the run lock.
 */
export async function closeDeadRun(files: RunFiles, runId: string): Promise<void> {
  const file = files.journalFile(runId);
  if (!(await isOpen(files, runId))) {
    return;
  }
  const state = foldRun(await readJournal(file));
  await endLeftovers(await groupToEnd(state.current), runId);
  const journal = await JournalWriter.open(file);
  try {
    journal.append({
      type: 'run.ended',
      outcome: 'interrupted',
      exitCode: EXIT_CODES.interrupted,
      stories: state.stories,
      iterations: state.iteration,
    });
    journal.sync();
  } finally {
    journal.close();
  }
}

/**
 * Closes the newest run when its loop was killed and nobody has closed it yet.
 * @returns whether there was such a run
 */
export async function closeRunFoundDead(files: RunFiles): Promise<boolean> {
  const runId = await newestRunId(files);
  if (runId === undefined || !(await isOpen(files, runId))) {
    return false;
  }
  const attempt = await acquireRunLock(files, runId);
  if (attempt.kind === 'held') {
    return false;
  }
  try {
    await closeDeadRun(files, runId);
  } finally {
    await attempt.lock.release();
  }
  return true;
}

async function isOpen(files: RunFiles, runId: string): Promise<boolean> {
  const { phase } = foldRun(await readJournal(files.journalFile(runId)));
  return phase === 'running' || phase === 'stopping';
}

/**
 * The agent's process group, unless its number may belong to somebody else by now. While any process of
 * the group lives, the system does not give its number away, so a dead leader leaves it safe to use.
 */
async function groupToEnd(
  current: { readonly agentPid?: number; readonly agentStartId?: string } | undefined,
): Promise<number | undefined> {
  const pid = current?.agentPid;
  if (pid === undefined) {
    return undefined;
  }
  const startId = current?.agentStartId;
  const ours = await isRunning(startId === undefined ? { pid } : { pid, startId });
  return ours || (await processStartId(pid)) === undefined ? pid : undefined;
}
