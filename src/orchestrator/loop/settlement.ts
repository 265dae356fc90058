import { existsSync } from 'node:fs';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { runGit, writeGit } from '../git/runGit.ts';
import { type RunState, runningIn, storyNotes } from '../journal/runState.ts';
import type { ConflictWork } from '../journal/storyNotes.ts';
import { viewShared } from '../landing/sharedViews.ts';
import type { ClonePlace } from '../places/clonePlaces.ts';
import {
  type ConflictedFile,
  hasMerge,
  markSettled,
  mergeInto,
  type Side,
  takeSide,
} from '../places/conflictedPlace.ts';
import { keepWork } from '../places/keptWork.ts';
import { PlaceFiles } from '../places/placeFiles.ts';
import { cleanPlace } from '../places/placeList.ts';
import { type Delivered, deliverRequest } from '../workspace/delivery.ts';
import { livingRun } from '../workspace/livingRun.ts';
import { readRefs } from '../workspace/refs.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { SETTLED, workRef } from '../workspace/workRefs.ts';
import { named, newestRun, noPlace, partsOf, type Settlement } from './settlementPlace.ts';

export type { Settlement } from './settlementPlace.ts';

const MAX_NAME = 30;
const MAX_FILES = 5;

/** Who has a story now: its agent, the landing queue, or nobody. */
export async function holderOf(
  files: RunFiles,
  storyId: string,
): Promise<'agent' | 'queue' | undefined> {
  const { isActive, state } = await newestRun(files);
  const current = isActive ? runningIn(state, storyId) : undefined;
  return current && (current.queued ? 'queue' : 'agent');
}

/** @throws {HumanError} if a story has no conflict that a person could settle */
export async function requireConflict(files: RunFiles, storyId: string): Promise<void> {
  conflictIn((await newestRun(files)).state, storyId);
}

function conflictIn(state: RunState, storyId: string): ConflictWork {
  const { conflict, settling = conflict } = storyNotes(state, storyId);
  if (settling === undefined) {
    throw new HumanError(
      say('{0} has no conflict to settle. Its newest work fits, or has landed.', named(storyId)),
    );
  }
  return settling;
}

/** Ids of the stories whose conflicts can be settled by hand, and of those that are being settled. */
export async function conflictsOf(
  files: RunFiles,
): Promise<{ readonly open: readonly string[]; readonly begun: readonly string[] }> {
  const { state } = await newestRun(files);
  const notes = [...state.storyNotes];
  return {
    open: notes.flatMap(([id, { conflict, settling }]) => ((conflict ?? settling) ? [id] : [])),
    begun: notes.flatMap(([id, { settling }]) => (settling ? [id] : [])),
  };
}

/**
 * Takes a story from the agents, and prepares a place in which a person settles its conflict: what has landed, merged
 * with the work on the story as far as git can. An agent that works on it is ended, and what it has done is kept. A
 * place that was prepared before is given again as it is.
 *
 * @throws {HumanError} if the story has no conflict, or its work is gone or is landing
 */
export async function beginSettlement(files: RunFiles, storyId: string): Promise<Settlement> {
  const before = await newestRun(files);
  const settling = conflictIn(before.state, storyId);
  await requireWork(files, before.runId, storyId, settling);
  const delivered = await deliverRequest(files, { type: 'settle', storyId, settling: true });
  const event = eventIn(delivered);
  if (event?.type !== 'story.settling' || !event.settling) {
    throw new HumanError(
      say('{0} has no conflict to settle any more: its work is landing.', named(storyId)),
    );
  }
  const known = await newestRun(files);
  const parts = await partsOf(files, known, storyId);
  const place = await parts.places.reopen(parts.name, parts.work.iteration);
  try {
    if (place !== undefined && (await isBegun(place))) {
      return await parts.settlement();
    }
  } finally {
    await place?.dispose();
  }
  const { tip } = await parts.target.look();
  const made = await parts.places.take(parts.name, {
    ...{ commit: tip, branch: parts.target.branch, isExact: true },
    ...{ story: storyId, iteration: parts.work.iteration },
  });
  try {
    const sides = [tip, parts.work.head];
    const { paths: shared } = await viewShared(parts.root, sides, parts.target.sharedFiles);
    await mergeInto(made, { start: tip, work: parts.work.head, shared });
  } catch (error) {
    throw asHumanError(error, say('git cannot merge the work on {0}', named(storyId)));
  } finally {
    await made.dispose();
  }
  return parts.settlement();
}

/**
 * What a person settles now.
 * @throws {HumanError} if nobody settles a conflict of this story
 */
export async function readSettlement(files: RunFiles, storyId: string): Promise<Settlement> {
  return (await partsOf(files, await newestRun(files), storyId)).settlement();
}

/** Top folder of the place in which a person settles a story; `undefined` if it is gone. */
export async function settlingPlace(files: RunFiles, storyId: string): Promise<string | undefined> {
  const { folder, name } = await partsOf(files, await newestRun(files), storyId);
  const { tree } = new PlaceFiles(folder, name);
  return existsSync(tree) ? tree : undefined;
}

/** Takes one side of a file in conflict as a whole. */
export async function settleWithSide(
  settlement: Settlement,
  file: string,
  side: Side,
): Promise<void> {
  try {
    await takeSide(settlement, file, side);
  } catch (error) {
    throw asHumanError(error, say('git cannot settle {0}', shorten(file, 200)));
  }
}

/** Counts a file as settled as it is in the place now. */
export async function settleAsIs(settlement: Settlement, file: string): Promise<void> {
  try {
    await markSettled(settlement, file);
  } catch (error) {
    throw asHumanError(error, say('git cannot settle {0}', shorten(file, 200)));
  }
}

/**
 * Hands what a person has settled to the landing queue: of the active run, or of the next one.
 * @returns whether a run is active, which lands it now
 * @throws {HumanError} if something is not settled yet
 */
export async function landSettlement(
  files: RunFiles,
  storyId: string,
): Promise<{ readonly isActive: boolean }> {
  const known = await newestRun(files);
  const { folder, name, places, ref, root, work, ...parts } = await partsOf(files, known, storyId);
  const settlement = await parts.settlement();
  requireSettled(settlement);
  const place = await places.reopen(name, work.iteration);
  if (place === undefined) {
    throw noPlace(storyId);
  }
  let head: string;
  try {
    head = await commitOf(place, root, ref + SETTLED, settlement);
  } finally {
    await place.dispose();
  }
  const event = eventIn(await deliverRequest(files, { type: 'land', storyId, head }));
  if (event?.type !== 'landing.queued') {
    throw new HumanError(
      say(
        'The run does not expect a settled conflict of {0} any more. Your commit is kept: git show {1}',
        named(storyId),
        head,
      ),
    );
  }
  // One that cannot be removed now is shown by `places`.
  if ((await cleanPlace(folder, root, name)) === undefined) {
    // What landed has the same files; otherwise it would be listed as work that has not landed.
    await writeGit(root, ['update-ref', '-d', `${ref}${SETTLED}-uncommitted`]);
  }
  return { isActive: (await livingRun(files))?.runId !== undefined };
}

/** Whether a person still settles this conflict; it may have landed, or been given back elsewhere. */
export async function isStillSettled(
  files: RunFiles,
  { storyId, theirs }: Pick<Settlement, 'storyId' | 'theirs'>,
): Promise<boolean> {
  const { state } = await newestRun(files);
  return storyNotes(state, storyId).settling?.head === theirs;
}

/**
 * Gives a story back to the agents. What the person has done so far is kept by a ref.
 * @returns that ref; `undefined` if there is nothing to keep
 */
export async function cancelSettlement(
  files: RunFiles,
  storyId: string,
): Promise<string | undefined> {
  const known = await newestRun(files);
  const { folder, name, places, ref, root, work } = await partsOf(files, known, storyId);
  const place = await places.reopen(name, work.iteration);
  let kept: string | undefined;
  if (place !== undefined) {
    try {
      const found = await keepWork(place, root, `${ref}-settling`);
      kept = found.uncommitted === undefined ? undefined : `${ref}-settling-uncommitted`;
    } finally {
      await place.dispose();
    }
  }
  await deliverRequest(files, { type: 'settle', storyId, settling: false });
  // One that cannot be removed now is shown by `places`.
  await cleanPlace(folder, root, name);
  return kept;
}

/** @throws {HumanError} naming the files that a person has not settled */
function requireSettled({ files, root, storyId }: Settlement): void {
  const open = files.filter(({ isOpen }) => isOpen);
  const listed = (some: readonly ConflictedFile[]) =>
    [
      ...some.slice(0, MAX_FILES).map(file => shorten(file.path, 200)),
      ...(some.length > MAX_FILES ? ['…'] : []),
    ].join(', ');
  const marked = open.filter(({ marks }) => marks !== undefined);
  if (marked.length > 0) {
    throw new HumanError(
      say(
        '{0} cannot land yet: these files still have conflict markers: {1}. Settle them in {2}, then try again.',
        named(storyId),
        listed(marked),
        root,
      ),
    );
  }
  const unsaid = open.filter(({ kind }) => kind === 'text');
  if (unsaid.length > 0) {
    throw new HumanError(
      say(
        '{0} cannot land yet: git does not know that these files are settled: {1}. Look at them in {2}, say so with "git add", then try again.',
        named(storyId),
        listed(unsaid),
        root,
      ),
    );
  }
  if (open.length > 0) {
    throw new HumanError(
      say(
        '{0} cannot land yet: git cannot know which version counts of {1}. In {2}, use "git add" to keep a file as it is there, or "git rm" to delete it, then try again.',
        named(storyId),
        listed(open),
        root,
      ),
    );
  }
}

/** The commit that is to land: the files of the place, on top of both sides. A ref of the user's repository holds it. */
async function commitOf(
  place: ClonePlace,
  root: string,
  ref: string,
  { storyId, theirs }: Settlement,
): Promise<string> {
  const kept = await keepWork(place, root, ref);
  const { head, problem } = kept;
  if (problem !== undefined || head === undefined) {
    throw new HumanError(
      say('What was settled cannot be read: {0}', problem ?? say('There is no commit.')),
    );
  }
  try {
    const tree = (await runGit(root, 'rev-parse', `${kept.uncommitted ?? head}^{tree}`)).trim();
    const isMerged = (await runGit(root, 'rev-list', '--max-count=1', theirs, `^${head}`)) === '';
    const parents = isMerged ? [head] : [head, theirs];
    const commit = await writeGit(
      root,
      ['commit-tree', tree, ...parents.flatMap(parent => ['-p', parent])],
      { input: `Settle the conflict of ${shorten(storyId, MAX_NAME)} with what has landed\n` },
    );
    await writeGit(root, ['update-ref', ref, commit.trim()]);
    return commit.trim();
  } catch (error) {
    throw asHumanError(error, say('git cannot commit what was settled'));
  }
}

/** @throws {HumanError} if a person has discarded it */
async function requireWork(
  { workspace }: RunFiles,
  runId: string,
  storyId: string,
  { iteration }: ConflictWork,
): Promise<void> {
  const ref = workRef(workspace, { runId, storyId, iteration });
  if (!(await readRefs(workspace, ref)).some(({ name }) => name === ref)) {
    throw new HumanError(
      say('The work on {0} that has a conflict is not kept any more.', named(storyId)),
    );
  }
}

async function isBegun({ git, root }: ClonePlace): Promise<boolean> {
  const record = await PlaceFiles.of(root).readRecord();
  // A person may have removed the folder.
  const head = await git.head().catch(() => undefined);
  return (await hasMerge(root)) || (head !== undefined && head !== record?.start);
}

function eventIn(delivered: Delivered) {
  return delivered.kind === 'taken'
    ? delivered.event
    : delivered.kind === 'written'
      ? delivered.events[0]
      : undefined;
}
