import { l10n, ProgressLocation, window } from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { deliverRequest } from '../../orchestrator/workspace/delivery.ts';
import {
  idIn,
  knownId,
  type NamedStory,
  namedByRun,
} from '../../orchestrator/workspace/knownStories.ts';
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
  return story?.seen ?? (story?.position === undefined ? undefined : stories.list[story.position]);
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

/**
 * The id in the file of a story that the person has chosen: one without a position is from what the run says.
 * @throws {HumanError} if that is not certain
 */
export async function idInFile(folder: Folder, story: StoryRef): Promise<string> {
  const { runId } = folder.runs.current;
  const isOfRun = story.position === undefined && runId !== undefined;
  const known = isOfRun ? await namedByRun(folder.files, runId, story.storyId) : undefined;
  if (known === undefined) {
    return story.storyId;
  }
  await folder.stories.refresh();
  const id = idIn(folder.stories.list, known);
  if (id === undefined) {
    throw new HumanError(
      l10n.t(
        'The list has changed since the run has read it, and it is not certain which story is meant. Choose it in the Stories view.',
      ),
    );
  }
  return id;
}

export function noRun(): HumanError {
  return new HumanError(l10n.t('No run is active in this folder.'));
}
