import { postRequest } from './inbox.ts';
import { JournalWriter } from './journal.ts';
import { isRunId, newestRunId, newRunId, type RunFiles } from './runFiles.ts';
import { acquireRunLock } from './runLock.ts';

/**
 * Puts into the journal that a person ticked or unticked a story (its file is written already). While a
 * loop runs it is asked to, since it alone writes; else this process takes the loop's place for a moment.
 */
export async function recordTick(files: RunFiles, storyId: string, done: boolean): Promise<void> {
  const attempt = await acquireRunLock(files);
  if (attempt.kind === 'held') {
    const { runId } = attempt.by;
    if (runId !== undefined && isRunId(runId)) {
      await postRequest(files, runId, { type: 'tick', storyId, done });
    }
    return;
  }
  try {
    const runId = (await newestRunId(files)) ?? newRunId();
    const journal = await JournalWriter.open(files.journalFile(runId));
    try {
      journal.append({ type: 'story.ticked', storyId, done });
    } finally {
      journal.close();
    }
  } finally {
    await attempt.lock.release();
  }
}
