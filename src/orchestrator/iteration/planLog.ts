import { constants } from 'node:fs';
import { open } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { saidOf } from '../../base/messageOf.ts';
import { PLAIN, requirePlainFolders } from '../../base/plainFile.ts';
import { englishOf, say } from '../../base/say.ts';
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
    const { O_WRONLY, O_APPEND, O_CREAT } = constants;
    const file = path.join(planDir, 'errors.log');
    // The folder belongs to the repository, which may have a link there.
    requireInside(file);
    const handle = await open(file, O_WRONLY | O_APPEND | O_CREAT | PLAIN, 0o644);
    try {
      const found = await handle.stat();
      if (!found.isFile() || found.nlink > 1) {
        throw new HumanError(
          say(
            '{0} is a pipe, a device or a hard link, so nothing was written there. Remove it.',
            file,
          ),
        );
      }
      await handle.appendFile(text);
    } finally {
      await handle.close();
    }
  } catch (error) {
    warn(scope, 'errorsLogNotWritten', saidOf(error));
  }
}
