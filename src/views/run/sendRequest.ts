import { l10n, ProgressLocation, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { deliverRequest } from '../../orchestrator/workspace/delivery.ts';
import type { NamedStory } from '../../orchestrator/workspace/knownStories.ts';
import type { RunRequest } from '../../orchestrator/workspace/request.ts';
import type { Folder } from '../folders/folder.ts';

/**
 * Waits until the loop has accepted a request; without a loop, it goes to the journal for the next one.
 * @param story what the person sees of the request's story
 * @throws {HumanError} if it needs an active run, and there is none
 */
export async function sendRequest(
  folder: Folder,
  request: RunRequest,
  story?: NamedStory,
): Promise<void> {
  const wasAlive = folder.runs.current.alive;
  const delivered = await window.withProgress(
    { location: ProgressLocation.Window, title: l10n.t('Sending it to Ralph…') },
    () => deliverRequest(folder.files, request, story),
  );
  await folder.runs.refresh();
  // A run that ended before it could accept a stop or a pause does not need it.
  if (delivered.kind === 'noLoop' && !wasAlive) {
    throw noRun();
  }
}

export function noRun(): HumanError {
  return new HumanError(l10n.t('No run is active in this folder.'));
}
