import { readFirstLine } from '../../base/growingFile.ts';
import type { GitRepository } from '../git/git.ts';
import { parseRunEvent, type RunEvent } from '../journal/events.ts';
import { foldRun } from '../journal/foldRun.ts';
import { readDecisions } from '../journal/journal.ts';
import { cutOffOf, type RunState } from '../journal/runState.ts';
import { readSnapshot, type Snapshot } from '../places/snapshot.ts';
import { modeOf, relativePath } from '../run/runWork.ts';
import { setStoryDone } from '../stories/edit/edit.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { storyChanges } from '../stories/storyChanges.ts';
import { matchStories } from '../stories/storyMatching.ts';
import { storiesOfCutOff } from '../workspace/keptStories.ts';
import { readKnownStories } from '../workspace/knownStories.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { runIds } from '../workspace/runIds.ts';
import { RUNS_KEPT } from './clearBehind.ts';
import type { RunOptions } from './runOptions.ts';

/** The claims of the last run that this one has reset. */
export interface Reopened {
  /** Ids of the stories that were reset to not done. */
  readonly storyIds: readonly string[];
  /** The files after the reset. */
  readonly snapshot: Snapshot;
}

/**
 * Resets stories to not done if the last run on their file left them as claims that were not judged yet. A run that continues
 * judges them; a new run has no such iteration, and would trust the file. Call it before the new run becomes the
 * newest: if it is killed in between, the next one still finds the claims. If there are no checks, claims are
 * accepted, unless their work is not on the run's branch. What was refused and could not be reset is reset in any case.
 *
 * @throws {HumanError} if the story file cannot be written: the claim would then be accepted
 */
export async function reopenUnchecked(
  options: RunOptions,
  git: GitRepository,
  snapshot: Snapshot,
): Promise<Reopened> {
  const { config, files, storyFile } = options;
  const hasChecks = config.verify.length > 0 || config.reviewer;
  if (storyFile === undefined || modeOf(options) !== 'stories') {
    return { storyIds: [], snapshot };
  }
  const lastRun = options.resume
    ? options.runId
    : await lastRunOn(files, relativePath(files.workspace, storyFile));
  if (lastRun === undefined) {
    return { storyIds: [], snapshot };
  }
  const events = await readDecisions(files.journalFile(lastRun));
  const state = foldRun(events);
  if (options.resume && state.cutOff.length > 0) {
    // Its claims are judged first, also those that were refused while it was killed.
    return { storyIds: [], snapshot };
  }
  const isTrusted = options.resume || (!hasChecks && !isAstray(state));
  const isRefused = [...state.storyRecords.values()].some(({ refused }) => refused === true);
  // With lanes, a refused story was never ticked: if it is now, a person has finished it.
  if (isTrusted ? !isRefused || state.isolated : state.cutOff.length === 0 && !isRefused) {
    return { storyIds: [], snapshot };
  }
  // The branch of the stories may have been checked out meanwhile.
  const now = await readSnapshot(storyFile, git, snapshot);
  if (now.stories === undefined || now.storyFileProblem !== undefined) {
    return { storyIds: [], snapshot };
  }
  const judged = isTrusted ? { ...state, cutOff: [] } : state;
  const cutOff = cutOffOf(judged);
  const claims = uncheckedClaims(now.stories, {
    ...(await storiesOfCutOff({ ...options, runId: lastRun }, cutOff)),
    ...{ events, state: judged },
    isReviewed: config.reviewer,
    known: await readKnownStories(files, lastRun, state.renumberings),
  });
  let hash = now.stories.hash;
  for (const { id, position } of claims) {
    const edit = await setStoryDone(storyFile, { id, position }, false, { expectedHash: hash });
    // Our own edit must not make the next story's position untrusted.
    hash = edit.hash;
  }
  return claims.length === 0
    ? { storyIds: [], snapshot }
    : {
        storyIds: claims.map(({ id }) => id),
        snapshot: await readSnapshot(storyFile, git, now),
      };
}

/**
 * The newest run that worked on a story file: runs on others in between say nothing about its claims. Only runs that
 * are kept completely are looked at; what an older one had claimed is no longer known. Journals say which file it was:
 * an agent could write a checkpoint to have its claim accepted.
 */
async function lastRunOn(files: RunFiles, storyFile: string): Promise<string | undefined> {
  for (const runId of (await runIds(files)).slice(-RUNS_KEPT).toReversed()) {
    const line = await readFirstLine(files.journalFile(runId));
    const first = line === undefined ? undefined : parseRunEvent(line);
    if (first?.type === 'run.started' && first.storyFile === storyFile) {
      return runId;
    }
  }
  return undefined;
}

/** Whether the interrupted iteration left its work on a branch other than the run's. */
function isAstray(state: RunState): boolean {
  const { branchLeft } = state;
  return branchLeft?.iteration === cutOffOf(state)?.number && branchLeft?.broughtBack === false;
}

/** Claims of the interrupted iteration, and refused claims that could not be reset. */
function uncheckedClaims(
  { stories }: StoryList,
  {
    before,
    left,
    events,
    isReviewed,
    known,
    state,
  }: {
    /** As the interrupted iteration found and left them. */
    readonly before?: StoryList;
    readonly left?: StoryList;
    readonly events: readonly RunEvent[];
    /** The list whose numbers the journal uses; absent: those of `before`. */
    readonly known: readonly Story[] | undefined;
    readonly isReviewed: boolean;
    readonly state: RunState;
  },
): readonly Story[] {
  const { cutOff, storyRecords } = state;
  const idThen = idsIn(known ?? before?.stories ?? [], stories);
  const wasLeft = left?.stories ?? stories;
  const then = idsIn(wasLeft, stories);
  const changed = storyChanges({
    storiesBefore: before?.stories ?? [],
    storiesAfter: wasLeft,
    handled: new Map(),
  }).map(({ storyId }) => storyId);
  const byHand = tickedSinceTheEnd(events);
  return stories.filter(story => {
    const id = idThen(story) ?? story.id;
    const record = storyRecords.get(id);
    const isJudged = record?.approved === true || (record?.verified === true && !isReviewed);
    const isClaimed =
      before === undefined
        ? cutOff.some(({ storyId }) => storyId === id)
        : changed.includes(then(story) ?? story.id);
    return (
      story.done && !byHand.has(story.id) && (record?.refused === true || (isClaimed && !isJudged))
    );
  });
}

/** The ids that stories of a list had in an earlier version of it; `undefined` if they were not there. */
function idsIn(
  earlier: readonly Story[],
  now: readonly Story[],
): (story: Story) => string | undefined {
  const pairs = new Map(matchStories(earlier, now).pairs.map(pair => [pair.after, pair.before.id]));
  return story => pairs.get(story);
}

/** During an iteration an agent may have forged a tick; after it, a person's tick is valid. */
function tickedSinceTheEnd(events: readonly RunEvent[]): ReadonlySet<string> {
  const end = events.findLastIndex(({ type }) => type === 'run.ended');
  return new Set(
    events
      .slice(end + 1)
      .flatMap(event => (event.type === 'story.ticked' && event.done ? [event.storyId] : [])),
  );
}
