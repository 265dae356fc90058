import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import type { KnownDiscovery } from '../journal/discoveries.ts';
import { addToText } from '../stories/edit/addStory.ts';
import type { NewStory } from '../stories/edit/newStory.ts';
import { noStoryFile, readStoryBytes } from '../stories/storyFile.ts';
import { type AddAccess, addTrackedStory } from '../trackers/addTracked.ts';
import { beadsDatabase } from '../trackers/beads/beadsDatabase.ts';
import { readFoundWork } from '../workspace/foundWork.ts';
import { livingRun } from '../workspace/livingRun.ts';
import { deliverRequest, recordRequest } from '../workspace/requests.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { requireRecordable } from './tickStory.ts';

/** Where accepted work is now. */
export type Accepted =
  /** In the story file. */
  | { readonly kind: 'added'; readonly storyId: string }
  /** The active run adds it as soon as no agent works on the file. */
  | { readonly kind: 'posted' };

/**
 * Turns work that an agent found into a story. While a run is active, its loop does so between two iterations: an
 * agent must not see the file change under its hands, and the guard would take the story for the agent's own.
 *
 * @param storyFile absolute path
 * @throws {HumanError} if the file has no place for it, or nothing can be recorded; nothing is changed then
 */
export async function acceptFoundWork(
  files: RunFiles,
  storyFile: string,
  { from, id, title, why }: KnownDiscovery,
  access: AddAccess,
): Promise<Accepted> {
  const story: NewStory = { id, title, why, from };
  await requireRecordable(files);
  await requireNoStory(files, id);
  if ((await livingRun(files))?.runId !== undefined) {
    if ((await beadsDatabase(storyFile)) === undefined) {
      // Tells now what the loop could only say later.
      const content = await readStoryBytes(storyFile);
      if (content === undefined) {
        throw new HumanError(noStoryFile(storyFile));
      }
      addToText(storyFile, content, story);
    }
    const { kind } = await deliverRequest(files, {
      ...{ type: 'discovery', action: 'accept', id, title },
      ...(why !== undefined && { why }),
      ...(from !== undefined && { storyId: from }),
    });
    if (kind === 'taken') {
      return { kind: 'posted' };
    }
  }
  // Loaded on demand: a window only needs it to write.
  const { closeRunFoundDead } = await import('./recovery.ts');
  await closeRunFoundDead(files);
  const storyId = await addTrackedStory(storyFile, story, access);
  await recordRequest(files, { type: 'discovery', action: 'added', id, storyId });
  return { kind: 'added', storyId };
}

/** Gives work that an agent found another title. */
export async function editFoundWork(files: RunFiles, id: string, title: string): Promise<void> {
  await requireRecordable(files);
  await requireNoStory(files, id);
  await deliverRequest(files, { type: 'discovery', action: 'edit', id, title });
  await requireNoStory(files, id);
}

/** Says that work which an agent found is not wanted. */
export async function dropFoundWork(files: RunFiles, id: string): Promise<void> {
  await requireRecordable(files);
  await requireNoStory(files, id);
  await deliverRequest(files, { type: 'discovery', action: 'drop', id });
  // Somebody may have accepted it at the same moment.
  await requireNoStory(files, id);
}

/** @throws {HumanError} if it is a story already, which a decision about a report does not change */
async function requireNoStory(files: RunFiles, id: string): Promise<void> {
  const found = (await readFoundWork(files)).find(discovery => discovery.id === id);
  if (found?.state === 'added') {
    throw new HumanError(
      say(
        '{0} is already the story {1}: change or remove it in the story file.',
        id,
        found.storyId ?? id,
      ),
    );
  }
}
