import { l10n, ProgressLocation, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { deliverRequest } from '../../orchestrator/workspace/delivery.ts';
import { knownId, type NamedStory } from '../../orchestrator/workspace/knownStories.ts';
import type { RunRequest } from '../../orchestrator/workspace/request.ts';
import type { StoryRef } from '../common/refs.ts';
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

/**
 * What the person sees of a story that they have chosen. One with a position is from the list, in which it may have
 * another number than in the journal; without, it is from what the run says, and the journal knows it by this id.
 */
export function seenIn({ stories }: Folder, story: StoryRef | undefined): NamedStory | undefined {
  return story?.position === undefined ? undefined : stories.list[story.position];
}

/**
 * The id by which the newest run knows a story that the person has chosen.
 * @returns `undefined` if that is not certain
 */
export async function idInRun(folder: Folder, story: StoryRef): Promise<string | undefined> {
  const seen = seenIn(folder, story);
  const { runId } = folder.runs.current;
  const { storyId: id } = story;
  return seen && runId !== undefined ? knownId(folder.files, runId, { ...seen, id }) : id;
}

export function noRun(): HumanError {
  return new HumanError(l10n.t('No run is active in this folder.'));
}
