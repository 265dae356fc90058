import path from 'node:path';
import { saidOf } from '../../base/messageOf.ts';
import { appendPlainFile, requirePlainFolders } from '../../base/plainFile.ts';
import { englishOf } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { storyNotes } from '../journal/runState.ts';
import type { Run } from '../run/run.ts';
import type { Scope } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import { requireInside } from '../stories/outsideLinks.ts';

/** Records an error in an iteration of the pure loop, for the next one to read in `errors.log`. */
export async function appendError(
  { planDir, state }: Pick<Run, 'planDir' | 'state'>,
  scope: Scope,
): Promise<void> {
  const { iteration } = scope;
  const { failedCheck, lastError } = storyNotes(state(), scope.story?.id);
  if (planDir === undefined) {
    return;
  }
  const failures = [
    lastError?.iteration === iteration
      ? `The agent failed: ${englishOf(lastError.message)}`
      : undefined,
    failedCheck?.iteration === iteration ? `The check failed: ${failedCheck.command}` : undefined,
  ].filter(failure => failure !== undefined);
  if (failures.length === 0) {
    return;
  }
  const at = new Date().toISOString();
  const text = failures
    .map(failure => `[${at}] Iteration ${iteration}: ${shorten(failure, 1_000)}\n`)
    .join('');
  try {
    requirePlainFolders(planDir);
    const file = path.join(planDir, 'errors.log');
    // The folder belongs to the repository, which may have a link there.
    requireInside(file);
    await appendPlainFile(file, text);
  } catch (error) {
    warn(scope, 'errorsLogNotWritten', saidOf(error));
  }
}
