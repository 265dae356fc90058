import { readdir, readFile } from 'node:fs/promises';
import { setTimeout as delay } from 'node:timers/promises';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { readJournal } from '../../src/orchestrator/journal/journal.ts';
import { isRunning as isSameRunning } from '../../src/orchestrator/process/processIdentity.ts';
import { newestRunId, RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';

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
 * Ends everything that a test may have left running in a workspace: the loop and the agents that the newest journal
 * names, and loops that have not started a run yet. Returns when they are gone, so that nothing writes into a folder
 * that is removed next.
 */
export async function endRuns(workspace: string): Promise<void> {
  for (;;) {
    const living = await launchedLoops(workspace);
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

/** Loops that a window has started, identified by their command lines; none if the system does not report these. */
async function launchedLoops(workspace: string): Promise<number[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter(name => /^\d+$/.test(name));
  const found = await Promise.all(
    pids.map(async pid => {
      const line = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
      return line.split('\0').includes(`--cwd=${workspace}`) ? [Number(pid)] : [];
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
