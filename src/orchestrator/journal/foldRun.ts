import { assertNever } from '../../base/assertNever.ts';
import { callState } from './callState.ts';
import { discoveryState } from './discoveries.ts';
import type { RunEvent } from './events.ts';
import { judgedState } from './judgedState.ts';
import { landingState, withTitle } from './landingState.ts';
import { renumbered } from './renumbering.ts';
import { resumedRun, startedRun } from './runStart.ts';
import {
  INITIAL_RUN_STATE,
  type LostCommit,
  openQuestions,
  type RunState,
  storyNotes,
  WHOLE_TASK,
} from './runState.ts';
import {
  changing,
  goneUnanswered,
  MAX_NOTES,
  storyOf,
  withBranchLeft,
  withHandled,
  withItem,
  withIteration,
  withNotes,
  withoutKey,
  withoutLimit,
  withoutOwnQuestion,
  withoutQuestion,
  withStory,
} from './stateChanges.ts';
import { storyCount } from './storyCount.ts';
import { changed, newStart, notStuck, withoutProof } from './storyRecord.ts';
import { warningState } from './warningState.ts';

/** Running iterations of a run with lanes; iterations that wait to land are among them. */
const MAX_OPEN = 1_000;

/** Folds a whole journal. */
export function foldRun(events: Iterable<RunEvent>): RunState {
  const folding = new Folding(INITIAL_RUN_STATE);
  for (const event of events) {
    folding.apply(event);
  }
  return folding.state;
}

/** Folds many events, of which only the last state is used: earlier ones change with it. */
export class Folding {
  private readonly mine = new WeakSet();
  private folded: RunState;

  constructor(from: RunState) {
    this.folded = from;
  }

  /** Use it after the last event. */
  get state(): RunState {
    return this.folded;
  }

  apply(event: RunEvent): void {
    this.folded = changing(this.mine, () => applyEvent(this.folded, event));
  }
}

/**
 * Folds one event into the state. Pure and total: any sequence of events gives a state, because journals may come
 * from other versions, from crashes and from damaged disks. An event that was already applied (by its `seq`)
 * changes nothing.
 */
export function applyEvent(before: RunState, event: RunEvent): RunState {
  if (event.seq <= before.lastSeq) {
    return before;
  }
  const state: RunState = { ...before, lastSeq: event.seq };
  switch (event.type) {
    case 'run.started':
      return startedRun(event);
    case 'run.resumed':
      return resumedRun(state, event);
    case 'plan.written':
      return {
        ...withoutKey(state, 'prepare'),
        stories: { done: 0, total: event.stories },
      };
    case 'plan.refused':
      return state;
    case 'iteration.started':
      return {
        ...withTitle(withoutKey(state, 'rolledBack'), event),
        cutOff: [],
        iteration: state.isolated ? Math.max(state.iteration, event.iteration) : event.iteration,
        stories: storyCount(event.stories),
        workBranch: event.branch ?? state.workBranch,
        uncommittedBefore: state.uncommittedBefore ?? event.uncommitted,
        untrackedBefore: state.untrackedBefore ?? event.untracked,
        laneStories:
          event.lane === undefined || event.storyId === undefined
            ? state.laneStories
            : new Map(state.laneStories).set(event.lane, event.storyId),
        running: [
          ...state.running.filter(({ number }) => number !== event.iteration),
          {
            number: event.iteration,
            storyId: event.storyId,
            storyTitle: event.storyTitle,
            lane: event.lane,
            startedAt: event.at,
            startCommit: event.startCommit,
            branch: event.branch,
            storyLink: event.storyLink,
            commits: 0,
            step: 'agent' as const,
            costUsd: 0,
            handled: new Map(),
          },
          // An iteration whose end event is lost must not stay in the list forever.
        ].slice(state.isolated ? -MAX_OPEN : -1),
      };
    case 'agent.started':
    case 'agent.init':
    case 'agent.text':
    case 'agent.tool':
    case 'agent.ended':
    case 'agent.replaced':
    case 'call.retried':
      return callState(state, event);
    case 'agent.toolFailed':
    case 'agent.toolResult':
    case 'agent.subagentEnded':
    case 'agent.retry':
    case 'agent.denied':
    case 'agent.compacted':
    case 'agent.output':
    case 'agent.overflow':
    case 'progress.compacted':
    case 'stack.checked':
      return state;
    case 'commit.recorded':
      return {
        ...withIteration(state, event, current => ({ ...current, commits: current.commits + 1 })),
        commits: withItem(state.commits, {
          hash: event.hash,
          subject: event.subject,
          at: event.at,
          iteration: event.iteration,
          storyId: event.storyId,
          landed: isLanding(state, event) || undefined,
        }),
      };
    case 'limit.waiting':
      return {
        ...state,
        limits: new Map(state.limits).set(event.iteration, {
          kind: 'limit',
          until: event.until,
          known: event.known,
          message: event.message,
        }),
      };
    case 'limit.ended':
      return withoutLimit(state, event.iteration);
    case 'pause.requested':
      return { ...state, pauseRequested: true };
    case 'pause.started':
      return {
        ...state,
        pauseRequested: false,
        pause: {
          kind: 'pause',
          reason: event.reason,
          storyId: event.storyId,
          detail: event.detail,
          stories: event.stories,
          settling: event.settling,
          lanes: event.lanes,
        },
      };
    case 'pause.ended':
      return afterPause(state, event);
    case 'hint.given':
      return {
        ...state,
        hints: [
          ...state.hints,
          {
            text: event.text,
            storyId: event.storyId,
            id: event.id,
          },
        ].slice(-MAX_NOTES),
      };
    case 'question.answered': {
      const { answer, question, storyId } = event;
      const { pause } = state;
      const isOther = pause?.reason === 'question' && pause.storyId !== storyId;
      return {
        ...withoutQuestion(state, { storyId, message: question }),
        // The run continues because of this answer, so the question that it waits for stays open.
        ...(state.isolated && isOther && { pause: { kind: 'pause', reason: 'person' } as const }),
        answers: [...state.answers, { question, answer, storyId }].slice(-MAX_NOTES),
      };
    }
    case 'story.skipped':
      return withStory(withoutOwnQuestion(state, event.storyId), event.storyId, record => ({
        ...record,
        skipped: event.by,
      }));
    case 'story.reset':
      return withStory(state, event.storyId, record => ({ ...newStart(record), reset: true }));
    case 'story.stuck':
      return event.action === 'later'
        ? withStory(state, event.storyId, record => ({
            ...record,
            later: { since: event.seq, stuckFor: record.stuckFor },
          }))
        : state;
    case 'guard.found': {
      const { changes, iteration, restored } = event;
      return withNotes(state, storyOf(state, iteration), notes => ({
        ...notes,
        guard: { iteration, changes, restored },
      }));
    }
    case 'branch.left':
      return withBranchLeft(state, event);
    case 'commits.lost':
      return withLost(
        state,
        event.commits.map(({ hash, storyId, subject }) => ({ hash, storyId, subject })),
      );
    case 'gate.started':
    case 'check.started':
    case 'check.ended':
    case 'gate.ended':
    case 'review.ended':
    case 'duplicates.found':
    case 'promise.seen':
    case 'iteration.ended':
      return judgedState(state, event);
    case 'story.changed': {
      const settled = withoutSettling(withoutLost(state, event), event);
      const told =
        event.done && event.by === 'outside' ? withoutOwnQuestion(settled, event.storyId) : settled;
      return withStory(told, event.storyId, record => changed(record, event));
    }
    case 'stories.renumbered':
      return renumbered(state, event);
    case 'story.ticked': {
      const handled = withHandled(state, event.storyId, event.done);
      const settled = withoutSettling(withoutLost(handled, event), event);
      const told = event.done ? withoutOwnQuestion(settled, event.storyId) : settled;
      return withStory(told, event.storyId, record => ({
        ...newStart(record),
        was: event.was,
        ...(event.done && { doneBy: 'hand' as const }),
      }));
    }
    case 'work.kept':
    case 'landing.queued':
    case 'landing.candidate':
    case 'landing.landed':
    case 'landing.returned':
    case 'story.settling':
      return landingState(state, event);
    case 'target.held': {
      const { files, reason, ref, untracked } = event;
      return { ...state, held: { files, reason, ref, untracked } };
    }
    case 'target.followed':
      return { ...state, held: undefined };
    case 'lanes.changed':
      return { ...state, lanes: event.lanes, lanesChosen: event.lanes };
    case 'lane.paused': {
      const others = (state.pausedLanes ?? []).filter(lane => lane !== event.lane);
      const pausedLanes = event.paused ? [...others, event.lane] : others;
      return { ...state, pausedLanes: pausedLanes.length === 0 ? undefined : pausedLanes };
    }
    case 'story.paused':
      return withStory(state, event.storyId, record => ({
        ...record,
        paused: event.paused || undefined,
      }));
    case 'discovery.reported':
    case 'discovery.edited':
    case 'discovery.accepted':
    case 'discovery.added':
    case 'discovery.refused':
    case 'discovery.dropped':
      return discoveryState(state, event);
    case 'warning':
      return warningState(state, event);
    case 'stop.requested':
      return state.phase === 'running' || state.phase === 'stopping'
        ? { ...state, phase: 'stopping', stopMode: event.mode }
        : state;
    case 'run.ended': {
      return {
        // No agent comes after a complete run, so nobody waits for an answer.
        ...(event.outcome === 'completed' ? goneUnanswered(state, openQuestions(state)) : state),
        pause: undefined,
        limits: new Map(),
        // If it is interrupted again while it is judged, it has not done anything since the first time.
        cutOff:
          state.running.length > 0
            ? state.running.map(open => ({
                ...open,
                interrupted: true as const,
                endCommit: open.interrupted ? open.endCommit : event.head,
              }))
            : state.cutOff,
        running: [],
        phase: 'ended',
        endedAt: event.at,
        outcome: event.outcome,
        exitCode: event.exitCode,
        detail: event.detail,
        open: event.open,
        circle: event.circle,
        aside: event.aside,
        unknown: event.unknown,
        gone: event.gone,
        sharedIds: event.sharedIds,
        // Counted at the end: what is reopened later is not put aside. A run of single stories leaves others open.
        putAside:
          event.outcome === 'completed' &&
          state.onlyStories === undefined &&
          event.stories.total > event.stories.done
            ? event.stories.total - event.stories.done
            : event.putAside,
        uncommitted: event.uncommitted,
        stories: storyCount(event.stories),
      };
    }
    case 'run.rolledBack': {
      const { commit, iteration, of, storyIds = [] } = event;
      return storyIds.reduce<RunState>((now, id) => withStory(now, id, withoutProof), {
        ...state,
        rolledBack: { iteration, commit, of },
      });
    }
    default:
      return assertNever(event);
  }
}

/** Whether a commit is the candidate of an iteration that waits to land. */
function isLanding(
  { running }: RunState,
  { hash, iteration }: Extract<RunEvent, { type: 'commit.recorded' }>,
): boolean {
  return running.some(
    ({ candidate, number }) => number === iteration && candidate?.commit === hash,
  );
}

/** If a person lets the run continue after a question or an alert, they have dealt with it. */
function afterPause(
  before: RunState,
  { by }: Extract<RunEvent, { type: 'pause.ended' }>,
): RunState {
  const { pause, ...rest } = before;
  const state: RunState = { ...rest, pauseRequested: false };
  if (by !== 'person' || pause === undefined) {
    return state;
  }
  const open = storyNotes(state, pause.storyId).question;
  // After an answer, it is not open any more.
  const settled = pause.reason === 'question' && open ? goneUnanswered(state, [open]) : state;
  return pause.reason === 'stuck'
    ? withStory(settled, pause.storyId ?? WHOLE_TASK, notStuck)
    : settled;
}

/** Who marks a story as done has no conflict to settle any more. */
function withoutSettling(
  state: RunState,
  { done, storyId }: { readonly done: boolean; readonly storyId: string },
): RunState {
  return done && state.storyNotes.get(storyId)?.settling !== undefined
    ? withNotes(state, storyId, notes => ({ ...notes, settling: undefined }))
    : state;
}

/** If a story must be done again, its old commits need not come back. */
function withoutLost(
  state: RunState,
  { done, storyId }: { readonly done: boolean; readonly storyId: string },
): RunState {
  const { lostCommits = [] } = state;
  return withLost(
    state,
    lostCommits.filter(commit => done || commit.storyId !== storyId),
  );
}

function withLost(state: RunState, lostCommits: readonly LostCommit[]): RunState {
  return { ...state, lostCommits: lostCommits.length === 0 ? undefined : lostCommits };
}
