import { saidOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { GitRepository } from '../git/git.ts';
import { type KeptVersion, readVersion } from '../iteration/guard/guarding.ts';
import type { CurrentIteration } from '../journal/currentIteration.ts';
import { type Journal, readDecisions } from '../journal/journal.ts';
import { handledIn, type RunState, storyRecord } from '../journal/runState.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { relativePath } from '../run/runWork.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { storyChanges } from '../stories/storyChanges.ts';
import { storyFileHash } from '../stories/storyFile.ts';
import { matchStories } from '../stories/storyMatching.ts';
import { KeptStories } from '../workspace/keptStories.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { beginningOf, doubtfulTicks } from './doubtfulTicks.ts';
import type { StoryIds } from './storyIds.ts';

/**
 * Keeps what iterations leave that are interrupted and not judged yet, before others can change it: their version of
 * the story file, and HEAD. Nothing is kept if the work is on another branch: what others do to bring it back is then
 * examined with it.
 * @returns HEAD for `run.ended`; `undefined` if there is no such iteration, or HEAD is unknown
 */
export async function keepBoundary(
  journal: Journal,
  git: GitRepository,
  {
    files,
    runId,
    state,
    storyFile,
  }: {
    readonly files: RunFiles;
    readonly runId: string;
    readonly state: RunState;
    readonly storyFile?: string;
  },
): Promise<string | undefined> {
  const open = state.running.filter(
    // In a place of its own, nobody else changes what it has left.
    ({ interrupted, lane }) => !interrupted && lane === undefined,
  );
  if (open.length === 0) {
    return undefined;
  }
  try {
    const { branch, head } = await git.headAndBranch();
    const kept = new KeptStories(files, runId, storyFile);
    for (const iteration of open) {
      if (iteration.branch !== undefined && iteration.branch !== branch) {
        return undefined;
      }
      await kept.keepLeft(iteration.number);
    }
    return head ?? '';
  } catch (error) {
    // The end itself must be recorded, even if the disk has no space for anything else.
    warn(journal, 'leftNotKept', saidOf(error));
    return undefined;
  }
}

/** What is known of the stories of an interrupted iteration. */
export interface Boundary {
  /** The story file before the iteration; absent if there is no copy. */
  readonly kept?: KeptVersion;
  /** The stories before it, as far as they are known, by the numbers that the journal uses. */
  readonly stories?: StoryList;
  /**
   * The stories as it left them. Absent if nobody has changed the file since, or it is not known what was changed:
   * then everything counts as the iteration's, and is checked.
   */
  readonly left?: StoryList;
  /** What ends the run, if nobody knows which stories the iteration has set to done. */
  readonly doubt?: Verdict;
}

/**
 * Reads the stories of an interrupted iteration, and records what others have changed in the story file since then.
 * @param at.ids the numbers that the journal uses
 * @param at.snapshot the files now
 */
export async function readBoundary(
  run: Run,
  current: CurrentIteration,
  { ids, snapshot }: { readonly ids: StoryIds; readonly snapshot: Snapshot },
): Promise<Boundary> {
  const { files, id, keptStories } = run;
  const beginning = beginningOf(await readDecisions(files.journalFile(id)), current.number);
  const { storyFileHash: hash } = beginning;
  const copy = await keptStories.read(current.number);
  // An agent can change the copy, too, or remove it.
  const bytes = copy && hash !== undefined && storyFileHash(copy) !== hash ? undefined : copy;
  const kept = keptStories.parse(bytes);
  const now = snapshot.stories && ids.asKnown(snapshot.stories);
  const stories = kept === undefined ? withOwnOpen(now, current.storyId) : ids.asKnown(kept);
  const left = await storiesLeft(run, current, stories?.stories ?? []);
  const ticks =
    kept !== undefined || hash === undefined
      ? []
      : doubtfulTicks(beginning, now?.stories ?? [], { own: current.storyId, state: run.state() });
  return {
    kept: bytes && kept && { bytes, stories: kept },
    stories,
    left,
    doubt: ticks.length === 0 ? undefined : doubtOf(run, current, ticks),
  };
}

function doubtOf(
  { files, storyFile = '' }: Run,
  { number }: CurrentIteration,
  ticks: readonly string[],
): Verdict {
  return {
    kind: 'astray',
    message: say(
      'Iteration {0} was interrupted, and the copy of {1} from before it was removed or changed. More stories are done now than then, without any check, among these: {2}. Set back what is not done ("ralph-fresh untick ID"), and run again to continue; or start a new run with --new, which takes the file as it is.',
      number,
      relativePath(files.workspace, storyFile),
      shorten(ticks.join(', '), 200),
    ),
  };
}

async function storiesLeft(
  { journal, keptStories, state, storyFile }: Run,
  { number }: CurrentIteration,
  known: readonly Story[],
): Promise<StoryList | undefined> {
  const bytes = await keptStories.readLeft(number);
  const left = keptStories.parse(bytes);
  const now = storyFile === undefined ? undefined : await readVersion(storyFile);
  if (left === undefined || now === undefined || bytes?.equals(now.bytes)) {
    return undefined;
  }
  const changes = storyChanges({
    storiesBefore: left.stories,
    storiesAfter: now.stories.stories,
    handled: handledIn(state(), number),
  });
  // The journal knows those without an id by other numbers.
  const then = new Map(
    matchStories(known, now.stories.stories).pairs.map(pair => [pair.after.id, pair.before.id]),
  );
  for (const { done, storyId: id } of changes) {
    const storyId = then.get(id) ?? id;
    const { doneBy } = storyRecord(state(), storyId);
    // Another attempt to judge the iteration may have recorded it.
    const isKnown = done
      ? doneBy === 'outside'
      : doneBy === undefined && state().storyRecords.has(storyId);
    if (!isKnown) {
      journal.append({ type: 'story.changed', storyId, done, by: 'outside' });
    }
  }
  return left;
}

/** Without a copy of the file from before: its own story was open when it began. */
function withOwnOpen(
  list: StoryList | undefined,
  storyId: string | undefined,
): StoryList | undefined {
  return (
    list && {
      ...list,
      stories: list.stories.map(story =>
        story.id === storyId ? { ...story, done: false } : story,
      ),
    }
  );
}
