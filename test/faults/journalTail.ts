import { closeSync, openSync, readdirSync, readFileSync, readSync, statSync } from 'node:fs';
import { parseRunEvent, type RunEvent } from '../../src/orchestrator/journal/events.ts';
import { isRunId, type RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';

/** Follows all journals of a workspace by polling; synchronous, so that a kill follows an event at once. */
export class JournalTail {
  private readonly files: RunFiles;
  private readonly offsets = new Map<string, number>();

  constructor(files: RunFiles) {
    this.files = files;
  }

  /** @returns the events that were added since the last call, of all runs */
  readNew(): RunEvent[] {
    return runIdsNow(this.files).flatMap(runId => this.readRun(runId));
  }

  private readRun(runId: string): RunEvent[] {
    const file = this.files.journalFile(runId);
    const from = this.offsets.get(runId) ?? 0;
    const size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
    if (size <= from) {
      return [];
    }
    const bytes = Buffer.alloc(size - from);
    const fd = openSync(file, 'r');
    const length = readSync(fd, bytes, 0, bytes.length, from);
    closeSync(fd);
    // The next loop drops an incomplete last line; the part that was read is read again.
    const end = bytes.subarray(0, length).lastIndexOf(0x0a) + 1;
    this.offsets.set(runId, from + end);
    const lines = bytes.subarray(0, end).toString('utf8').split('\n').slice(0, -1);
    return lines.flatMap(line => parseRunEvent(line) ?? []);
  }
}

/** All lines of one journal. @throws if a line is not an event, or the last one is incomplete */
export function wholeJournal(files: RunFiles, runId: string): RunEvent[] {
  const lines = readFileSync(files.journalFile(runId), 'utf8').split('\n');
  if (lines.pop() !== '') {
    throw new Error(`the journal of run ${runId} ends with half a line`);
  }
  return lines.map(line => {
    const event = parseRunEvent(line);
    if (event === undefined) {
      throw new Error(`the journal of run ${runId} has a line that is no event: ${line}`);
    }
    return event;
  });
}

/** How the last of the runs that have ended has ended. */
export function lastEnd(
  events: readonly RunEvent[],
): Extract<RunEvent, { type: 'run.ended' }> | undefined {
  return events.findLast(event => event.type === 'run.ended');
}

/** Runs that have a journal, oldest first. */
export function runIdsNow(files: RunFiles): string[] {
  try {
    return (
      readdirSync(files.runsDir)
        // A start tries whether it can write there.
        .filter(
          id =>
            isRunId(id) && statSync(files.journalFile(id), { throwIfNoEntry: false }) !== undefined,
        )
        .sort()
    );
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      // There has been no run yet.
      return [];
    }
    throw error;
  }
}
