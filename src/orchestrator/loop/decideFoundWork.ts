import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { isNumberId } from '../../base/numberId.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { type Discovery, type KnownDiscovery, MAX_TITLE } from '../journal/discoveries.ts';
import { relativePath } from '../run/runWork.ts';
import { addToText } from '../stories/edit/addStory.ts';
import type { NewStory } from '../stories/edit/newStory.ts';
import { idsWithReports } from '../stories/reportNote.ts';
import { noStoryFile, readStoryBytes, readStoryList } from '../stories/storyFile.ts';
import { type AddAccess, addTrackedStory } from '../trackers/addTracked.ts';
import { beadsDatabase } from '../trackers/beads/beadsDatabase.ts';
import { deliverRequest, recordRequest } from '../workspace/delivery.ts';
import { readFoundWork } from '../workspace/foundWork.ts';
import { livingRun } from '../workspace/livingRun.ts';
import { readRun } from '../workspace/runCheckpoint.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { takeFileLock } from '../workspace/takeFileLock.ts';
import { requireRecordable } from './tickStory.ts';

/** Where accepted work is now. */
export type Accepted =
  /** In the story file. */
  | { readonly kind: 'added'; readonly storyId: string }
  /** The active run adds it as soon as no agent works on the file. */
  | { readonly kind: 'posted' };

/** How work is accepted. */
export interface AcceptAccess extends AddAccess {
  /** Also if somebody has dropped it. */
  readonly evenDropped?: boolean;
}

/**
 * Turns work that an agent found into a story. While a run is active, its loop does so between two iterations: an
 * agent must not see the file change under its hands, and the guard would take the story for the agent's own.
 *
 * @param storyFile absolute path
 * @throws {HumanError} if it was decided otherwise, the file has no place for it, or nothing can be recorded; nothing is
 * changed then
 */
export async function acceptFoundWork(
  files: RunFiles,
  storyFile: string,
  discovery: KnownDiscovery,
  access: AcceptAccess,
): Promise<Accepted> {
  await requireRecordable(files);
  return inTurn(files, () => accept(files, storyFile, discovery, access));
}

async function accept(
  files: RunFiles,
  storyFile: string,
  { id, ...known }: KnownDiscovery,
  { evenDropped = false, ...access }: AcceptAccess,
): Promise<Accepted> {
  const isActive = (await livingRun(files))?.runId !== undefined;
  const now = await foundNow(files, id);
  // A rollback, another branch or a person may have taken the story out of the file since.
  if (isActive || (await isInFile(storyFile, id, now?.storyId))) {
    requireNotAdded(now, id);
  }
  await requireNotElsewhere(files, storyFile, now);
  if (!evenDropped) {
    requireNotDropped(now, id);
  }
  // It may have got another title since it was shown.
  const { from, title, why } = now ?? known;
  const story: NewStory = { id, title, why, from };
  if (isActive) {
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
      why,
      storyId: from,
    });
    if (kind === 'taken') {
      return { kind: 'posted' };
    }
  }
  if (access.mayRun) {
    await requireListHere(files, storyFile);
  }
  // Loaded on demand: a window only needs it to write.
  const { closeRunFoundDead } = await import('./recovery.ts');
  await closeRunFoundDead(files);
  const storyId = await addTrackedStory(storyFile, story, access);
  await recordRequest(files, {
    ...{ type: 'discovery', action: 'added', id, storyId },
    storyFile: relativePath(files.workspace, storyFile),
  });
  return { kind: 'added', storyId };
}

/** Gives work that an agent found another title. */
export async function editFoundWork(files: RunFiles, id: string, title: string): Promise<void> {
  await requireRecordable(files);
  await inTurn(files, async () => {
    requireNotDropped(await requireNoStory(files, id), id);
    await deliverRequest(files, { type: 'discovery', action: 'edit', id, title });
    await requireNoStory(files, id);
  });
}

/** Says that work which an agent found is not wanted. */
export async function dropFoundWork(files: RunFiles, id: string): Promise<void> {
  await requireRecordable(files);
  await inTurn(files, async () => {
    await requireNoStory(files, id);
    // What a run that has ended did not add can still be dropped: another one that is active does not add it.
    const runId = (await livingRun(files))?.runId;
    const ofRun = runId === undefined ? undefined : await readRun(files, runId);
    requireNotAccepted(
      ofRun?.discoveries?.find(discovery => discovery.id === id),
      id,
    );
    await deliverRequest(files, { type: 'discovery', action: 'drop', id });
    // A setting may have accepted it at the same moment.
    requireNotAccepted(await requireNoStory(files, id), id);
  });
}

/** Of those who decide at the same moment, one after the other; each sees what was decided before. */
async function inTurn<T>(files: RunFiles, decide: () => Promise<T>): Promise<T> {
  const release = await takeFileLock(files, files.discoveredFile, undefined, files.runsDir);
  try {
    return await decide();
  } finally {
    await release();
  }
}

function requireNotDropped(found: KnownDiscovery | undefined, id: string): void {
  if (found?.state === 'dropped') {
    throw new HumanError(
      say(
        '{0} was dropped. To make it a story all the same: ralph-fresh discovered accept {0} --dropped',
        id,
      ),
    );
  }
}

function requireNotAccepted(found: Discovery | undefined, id: string): void {
  if (found?.state === 'accepted') {
    throw new HumanError(
      say(
        '{0} was accepted, and the active run adds it to the story file. If it is not wanted, remove the story there.',
        id,
      ),
    );
  }
}

/**
 * @returns what is known of it now
 * @throws {HumanError} if it is a story already, which a decision about a report does not change
 */
async function requireNoStory(files: RunFiles, id: string): Promise<KnownDiscovery | undefined> {
  const found = await foundNow(files, id);
  requireNotAdded(found, id);
  return found;
}

async function foundNow(files: RunFiles, id: string): Promise<KnownDiscovery | undefined> {
  return (await readFoundWork(files)).find(discovery => discovery.id === id);
}

/** Whether the story of a report is there, or nobody can tell: the file cannot be read, or may be behind its database. */
async function isInFile(storyFile: string, id: string, storyId = id): Promise<boolean> {
  if ((await beadsDatabase(storyFile)) !== undefined) {
    return true;
  }
  const stories = (await readStoryList(storyFile))?.stories;
  const ids = stories && idsWithReports(stories);
  // A number may be that of another story by now.
  return ids === undefined || ids.has(id) || (!isNumberId(storyId) && ids.has(storyId));
}

/**
 * A list that went on in a branch gets no story elsewhere: to go to that branch later would be a conflict.
 * @throws {HumanError} naming the way to that branch
 */
async function requireListHere(files: RunFiles, storyFile: string): Promise<void> {
  // Loaded on demand: a window needs git only here.
  const { goToWork, listElsewhere } = await import('../workspace/landedElsewhere.ts');
  const branch = await listElsewhere(files, storyFile);
  if (branch !== undefined) {
    throw await goToWork(files.workspace, branch);
  }
}

/**
 * It must not become a story of two lists.
 * @param storyFile absolute path of the one that is to get it
 */
async function requireNotElsewhere(
  { workspace }: RunFiles,
  storyFile: string,
  found: KnownDiscovery | undefined,
): Promise<void> {
  if (found?.state !== 'added' || found.storyFile === undefined) {
    return;
  }
  const { id, storyFile: named, storyId } = found;
  const other = path.resolve(workspace, named);
  const isThere = (await readStoryBytes(other)) !== undefined;
  if (other !== storyFile && isThere && (await isInFile(other, id, storyId))) {
    throw new HumanError(
      say(
        '{0} is already the story {1} in {2}: change it there, or remove it there first.',
        ...[id, storyWords(found), named],
      ),
    );
  }
}

function requireNotAdded(found: KnownDiscovery | undefined, id: string): void {
  if (found?.state === 'added') {
    throw new HumanError(
      say(
        '{0} is already the story {1}: change or remove it in the story file.',
        id,
        storyWords(found),
      ),
    );
  }
}

/** The story that a report has become: by its title if it has only a number, which may be that of another one by now. */
function storyWords({ id, storyId = id, title }: KnownDiscovery): string {
  return isNumberId(storyId) ? `"${shorten(title, MAX_TITLE)}"` : storyId;
}
