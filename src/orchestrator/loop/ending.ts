import { saidOf } from '../../base/messageOf.ts';
import { withTexts } from '../../base/say.ts';
import type { Briefer } from '../iteration/briefing.ts';
import {
  doneWithoutCommit,
  type UncommittedWork,
  uncommittedWork,
} from '../iteration/uncommittedWork.ts';
import { exitCodeOf, type RunOutcome } from '../journal/eventCodes.ts';
import { type RunState, storyRecord } from '../journal/runState.ts';
import type { Place } from '../places/place.ts';
import { type Snapshot, storyCountOf } from '../places/snapshot.ts';
import { endLeftovers } from '../process/processTree.ts';
import type { Run } from '../run/run.ts';
import type { RunEnd } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { StoryList } from '../stories/story.ts';
import { sharedIdsIn } from '../stories/unreadParts.ts';
import type { Tracker } from '../trackers/tracker.ts';
import { keepRunState } from '../workspace/runCheckpoint.ts';
import { keepBoundary } from './boundary.ts';
import type { CurrentFiles } from './currentFiles.ts';
import type { Lanes } from './lanes.ts';
import type { RequestDesk } from './requestDesk.ts';
import { lastSyncSignal, syncTracker } from './trackerSync.ts';

interface EndingParts {
  /** The user's tree. */
  readonly place: Place;
  readonly current: CurrentFiles;
  readonly desk: RequestDesk;
  readonly briefer: Briefer;
  /** Absent: one agent worked in the user's tree. */
  readonly lanes: Lanes | undefined;
  readonly tracker: Tracker | undefined;
  /** Removes what old runs have left, if that has not been done; nothing in a run that was continued. */
  readonly tidy: () => Promise<void>;
  /** Brings the ends of iterations to the disk, and removes what was kept to judge them. */
  readonly finishIterations: () => Promise<void>;
}

/**
 * Ends a run: waits for what still lands, settles what is owed to others, and records the end. What fails on the way
 * is a warning where possible, because the end itself must be recorded.
 * @returns the final state of the run
 */
export async function endRun(
  run: Run,
  { aside, circle, detail, gone, open, outcome, putAside, unknown }: RunEnd,
  parts: EndingParts,
): Promise<RunState> {
  const { briefer, current, desk, lanes, place, tracker } = parts;
  const { id, journal, marker } = run;
  try {
    await lanes?.idle();
    if (lanes) {
      // Something may have landed and been ticked since the files were last read.
      await current.refreshStories();
    }
    await syncTracker(run, tracker, current.snapshot, lastSyncSignal(run.stop));
  } catch (error) {
    // The branch or its repository may be gone; the end must be recorded in any case.
    warn(journal, 'gitUnreadable', saidOf(error));
  }
  // Once more, so that a tick in the last moment is not lost.
  try {
    await (marker.isDisplaced ? undefined : desk.look());
  } catch (error) {
    // If state files cannot be restored, this must not hide how the run ended.
    warn(journal, 'stateDamaged', saidOf(error));
  }
  await Promise.all([desk.close(), parts.tidy()]);
  // Processes that escaped when their agent was ended.
  await endLeftovers(undefined, id);
  try {
    await briefer.end(
      { iteration: Math.max(1, run.state().iteration), place, before: current.snapshot },
      { completed: outcome === 'completed', message: detail },
      () => !marker.isDisplaced,
    );
  } catch (error) {
    // The end itself must be recorded, even if the disk has no space for anything else.
    warn(journal, 'handoffNotWritten', saidOf(error));
  }
  const uncommitted = lanes === undefined ? await leftUncommitted(run, outcome, parts) : undefined;
  const head = await keepBoundary(journal, place.git, {
    ...{ state: run.state(), files: run.files, runId: id, storyFile: run.storyFile },
  });
  const { snapshot } = current;
  journal.append({
    type: 'run.ended',
    outcome,
    exitCode: exitCodeOf(outcome, run.state().held !== undefined),
    detail: detail && withTexts(detail, text => text.slice(0, 4_000)),
    open: open === undefined ? undefined : [...open],
    circle: circle === undefined ? undefined : [...circle],
    putAside,
    aside: aside === undefined ? undefined : [...aside],
    unknown: unknown === undefined ? undefined : [...unknown],
    gone: gone === undefined ? undefined : [...gone],
    sharedIds: idsShared(snapshot.stories),
    uncommitted,
    head,
    stories: storyCountOf(lanes ? withLanded(snapshot, run.state()) : snapshot),
    iterations: run.state().iteration,
  });
  journal.sync();
  if (journal.isInPlace()) {
    await keepRunState(run.files, id, run.state());
  }
  try {
    // Also after an error between an iteration's end and the next step.
    await parts.finishIterations();
  } catch (error) {
    warn(journal, 'oldRunsNotCleared', saidOf(error));
  }
  try {
    await marker.write(false);
  } catch (error) {
    // The run has already ended; the only effect is that other modes may consider it active.
    warn(journal, 'stateFileNotWritten', saidOf(error));
  }
  return run.state();
}

/** So that nobody is advised to tick by such an id; `undefined` if there are none. */
function idsShared(list: StoryList | undefined): string[] | undefined {
  const ids = list === undefined ? [] : sharedIdsIn(list);
  return ids.length === 0 ? undefined : [...ids];
}

/**
 * An interrupted iteration need not have committed its work. What agents forgot is of interest once no further agent
 * will see it.
 */
async function leftUncommitted(
  run: Run,
  outcome: RunOutcome,
  { current: { snapshot }, place }: Pick<EndingParts, 'current' | 'place'>,
): Promise<UncommittedWork | undefined> {
  const state = run.state();
  if (state.running.length > 0 || run.marker.isDisplaced) {
    return undefined;
  }
  const storyIds = doneWithoutCommit(state, snapshot.stories?.stories ?? []);
  const isCommitted = outcome === 'completed' && state.commits.length > 0;
  return storyIds.length > 0 || isCommitted
    ? uncommittedWork(run, place, snapshot, storyIds)
    : undefined;
}

/** What has landed is done, also if the file could not be ticked, or is that of another branch. */
function withLanded({ stories: list, ...snapshot }: Snapshot, state: RunState): Snapshot {
  const stories = list?.stories.map(story =>
    storyRecord(state, story.id).landed === true ? { ...story, done: true } : story,
  );
  return { ...snapshot, stories: list && stories && { ...list, stories } };
}
