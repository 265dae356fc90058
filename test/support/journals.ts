import { readFile } from 'node:fs/promises';
import type { RunEvent } from '../../src/orchestrator/run/events.ts';
import { readJournal } from '../../src/orchestrator/run/journal.ts';
import { newestRunId, RunFiles } from '../../src/orchestrator/run/runFiles.ts';

/** The journal of the workspace's newest run, as far as it is written. */
export async function newestJournal(workspace: string): Promise<RunEvent[]> {
  const files = new RunFiles(workspace);
  const runId = await newestRunId(files);
  return runId === undefined ? [] : readJournal(files.journalFile(runId));
}

/** Pids of the loop and of all its agents, by the journal. */
export function pidsOf(events: readonly RunEvent[]): number[] {
  return events.flatMap(event =>
    event.type === 'run.started' || event.type === 'agent.started' ? [event.pid] : [],
  );
}

/** Whether the process runs; one that is dead but not yet taken note of does not. */
export async function isRunning(pid: number): Promise<boolean> {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  return !/^\d+ \(.*\) Z/s.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''));
}
