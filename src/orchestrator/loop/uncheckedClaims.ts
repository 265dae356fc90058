import type { GitRepository } from '../git/git.ts';
import type { RunEvent } from '../journal/events.ts';
import { foldRun } from '../journal/foldRun.ts';
import { readDecisions } from '../journal/journal.ts';
import { cutOffOf, type RunState } from '../journal/runState.ts';
import { readSnapshot, type Snapshot } from '../places/snapshot.ts';
import { modeOf, relativePath } from '../run/runWork.ts';
import { setStoryDone } from '../stories/edit/edit.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { storyChanges } from '../stories/storyChanges.ts';
import { storiesBeforeCutOff } from '../workspace/keptStories.ts';
import type { RunOptions } from './runOptions.ts';

/** What a new run finds of the claims of the last one. */
export interface Reopened {
  /** Ids of the stories that were set back to not done. */
  readonly storyIds: readonly string[];
  /** The files after that. */
  readonly snapshot: Snapshot;
}

/**
 * Sets stories back to not done that the last run left as claims which a check was still to judge. A run that goes on
 * judges them; a new one has no such iteration, and would take the file's word. Call it before the new run is the newest:
 * killed in between, the next one still finds the claims. Where nothing is checked, claims are believed, unless the work
 * behind them is not on the run's branch.
 *
 * @param lastRun id of the newest run, closed
 * @throws {HumanError} when the story file cannot be written: it would be believed then
 */
export async function reopenUnchecked(
  options: RunOptions,
  git: GitRepository,
  snapshot: Snapshot,
  lastRun: string | undefined,
): Promise<Reopened> {
  const { config, files, storyFile } = options;
  const hasChecks = config.verify.length > 0 || config.reviewer;
  if (
    options.resume ||
    lastRun === undefined ||
    storyFile === undefined ||
    modeOf(options) !== 'stories'
  ) {
    return { storyIds: [], snapshot };
  }
  const events = await readDecisions(files.journalFile(lastRun));
  const state = foldRun(events);
  if (!hasChecks && !isAstray(state)) {
    return { storyIds: [], snapshot };
  }
  const isRefused = [...state.storyRecords.values()].some(({ refused }) => refused === true);
  if (
    (state.cutOff.length === 0 && !isRefused) ||
    state.storyFile !== relativePath(files.workspace, storyFile)
  ) {
    return { storyIds: [], snapshot };
  }
  // The branch of the stories may have been checked out meanwhile.
  const now = await readSnapshot(storyFile, git, snapshot);
  if (now.stories === undefined || now.storyFileProblem !== undefined) {
    return { storyIds: [], snapshot };
  }
  const before = await storiesBeforeCutOff({ ...options, runId: lastRun }, cutOffOf(state));
  const claims = uncheckedClaims(now.stories, {
    ...{ before, events, state },
    isReviewed: config.reviewer,
  });
  let hash = now.stories.hash;
  for (const { id, position } of claims) {
    const edit = await setStoryDone(storyFile, { id, position }, false, { expectedHash: hash });
    // Our own edit does not make the next one's place uncertain.
    hash = edit.hash;
  }
  return claims.length === 0
    ? { storyIds: [], snapshot }
    : {
        storyIds: claims.map(({ id }) => id),
        snapshot: await readSnapshot(storyFile, git, now),
      };
}

/** The iteration that was cut off left its work elsewhere than on the run's branch: nothing of it is there. */
function isAstray(state: RunState): boolean {
  const { branchLeft } = state;
  return branchLeft?.iteration === cutOffOf(state)?.number && branchLeft?.broughtBack === false;
}

/** Those of the iteration that was cut off, and those that were refused and could not be put back. */
function uncheckedClaims(
  { stories }: StoryList,
  {
    before,
    events,
    isReviewed,
    state,
  }: {
    readonly before: StoryList | undefined;
    readonly events: readonly RunEvent[];
    readonly isReviewed: boolean;
    readonly state: RunState;
  },
): readonly Story[] {
  const { cutOff, storyRecords } = state;
  const claimed =
    before === undefined
      ? cutOff.map(({ storyId }) => storyId)
      : storyChanges({
          storiesBefore: before.stories,
          storiesAfter: stories,
          handled: new Map(),
        }).map(({ storyId }) => storyId);
  const byHand = tickedSinceTheEnd(events);
  return stories.filter(({ done, id }) => {
    const record = storyRecords.get(id);
    const isJudged = record?.approved === true || (record?.verified === true && !isReviewed);
    return (
      done && !byHand.has(id) && (record?.refused === true || (claimed.includes(id) && !isJudged))
    );
  });
}

/** During an iteration a tick may be an agent's forgery; afterwards a person's word stands. */
function tickedSinceTheEnd(events: readonly RunEvent[]): ReadonlySet<string> {
  const end = events.findLastIndex(({ type }) => type === 'run.ended');
  return new Set(
    events
      .slice(end + 1)
      .flatMap(event => (event.type === 'story.ticked' && event.done ? [event.storyId] : [])),
  );
}
