import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { readJournal } from '../../src/orchestrator/journal/journal.ts';
import { isRunning as isSameRunning } from '../../src/orchestrator/process/processIdentity.ts';
import { RUN_MARKER } from '../../src/orchestrator/process/processTree.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { newestRunId } from '../../src/orchestrator/workspace/runIds.ts';

/** The journal of the workspace's newest run, as far as it is written. */
export async function newestJournal(workspace: string): Promise<RunEvent[]> {
  const files = new RunFiles(workspace);
  const runId = await newestRunId(files);
  return runId === undefined ? [] : readJournal(files.journalFile(runId));
}

/** Pids of the loop, of loops that continued the run, and of all its agents, from the journal. */
export function pidsOf(events: readonly RunEvent[]): number[] {
  return processesOf(events).map(({ pid }) => pid);
}

function processesOf(events: readonly RunEvent[]) {
  return events.filter(
    event =>
      event.type === 'run.started' ||
      event.type === 'run.resumed' ||
      event.type === 'agent.started',
  );
}

/**
 * Ends everything that a test may have left running in a workspace: the loop, the agents and the checks of the newest
 * run, and loops that have not started a run yet. Returns when they are gone, so that nothing writes into a folder
 * that is removed next.
 */
export async function endRuns(workspace: string): Promise<void> {
  for (;;) {
    const living = await runningFor(workspace);
    for (const { pid, startId } of processesOf(await newestJournal(workspace))) {
      // A handmade journal names process 1, or one that is gone; a test must not end those.
      if (startId !== undefined && (await isSameRunning({ pid, startId }))) {
        living.push(pid);
      }
    }
    if (living.length === 0) {
      return;
    }
    for (const pid of living) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    await delay(20);
  }
}

/**
 * Loops that a window has started, identified by their command lines, and what the newest run has started, by its
 * environment; none if the system does not report these.
 */
async function runningFor(workspace: string): Promise<number[]> {
  const runId = await newestRunId(new RunFiles(workspace));
  const pids = (await readdir('/proc').catch(() => [])).filter(name => /^\d+$/.test(name));
  const parts = async (pid: string, file: string) =>
    (await readFile(`/proc/${pid}/${file}`, 'utf8').catch(() => '')).split('\0');
  const found = await Promise.all(
    pids.map(async pid => {
      const isLoop = (await parts(pid, 'cmdline')).includes(`--cwd=${workspace}`);
      const isOfRun =
        runId !== undefined && (await parts(pid, 'environ')).includes(`${RUN_MARKER}=${runId}`);
      return isLoop || isOfRun ? [Number(pid)] : [];
    }),
  );
  return found.flat();
}

/** Whether the process runs; a zombie does not. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^\d+ \(.*\) Z/s.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));
}
