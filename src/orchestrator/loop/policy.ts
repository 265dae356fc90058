import { say } from '../../base/say.ts';
import { isSpent } from '../agents/call/budgetLedger.ts';
import type { PauseReason } from '../journal/eventCodes.ts';
import {
  pausedStories,
  questionOf,
  type RunState,
  settledStories,
  storyNotes,
  storyRecord,
  WHOLE_TASK,
} from '../journal/runState.ts';
import { asProven, leftAlone } from '../run/storiesLeft.ts';
import type { RunEnd, Verdict } from '../run/verdict.ts';
import type { RunConfig } from '../settings/config.ts';
import { asideCount, waitsForAside } from '../stories/asideReason.ts';
import { nextStory, storiesToDo } from '../stories/select.ts';
import type { Story, StoryProblem } from '../stories/story.ts';
import { openCircle } from '../stories/storyProblems.ts';
import { waitsForUnknown } from '../stories/unknownNeeds.ts';

/** More stories that wait for one that never comes are not recorded. */
const MAX_WAITING = 20;

/** The information for deciding the next step. */
export interface Situation {
  readonly state: RunState;
  /** As last read; absent in free-form and plan mode. */
  readonly stories?: readonly Story[];
  /** Of the list of the stories, for the lines. */
  readonly problems?: readonly StoryProblem[] | undefined;
  readonly config: Pick<
    RunConfig,
    'maxIterations' | 'failThreshold' | 'stuckThreshold' | 'onStuck' | 'onQuestion' | 'budgetUsd'
  >;
  readonly stopRequested: boolean;
  /** The result of the last iteration, if it ends the run. */
  readonly verdict?: Verdict;
  /** Another mode that has become active in this folder. */
  readonly otherMode?: string;
  /** What agents are working on now; absent: no agent is working. */
  readonly working?: readonly Start[];
  /** Number of further agents that may start; default: one. */
  readonly freeLanes?: number;
}

/** An iteration to start. */
export interface Start {
  readonly iteration: number;
  /** Absent in free-form and plan mode. */
  readonly story?: Story;
}

export type Decision =
  /** At least one, in the order of their numbers; at most as many as there are free lanes. */
  | { readonly kind: 'start'; readonly starts: readonly Start[] }
  /** Wait until a working agent has ended. */
  | { readonly kind: 'wait' }
  /** Skip a story that makes no progress. */
  | { readonly kind: 'skip'; readonly story: Story; readonly iterations: number }
  /** Postpone a story that makes no progress after the others. */
  | { readonly kind: 'later'; readonly story: Story; readonly iterations: number }
  | {
      readonly kind: 'pause';
      readonly reason: PauseReason;
      readonly storyId?: string;
      readonly detail?: string;
      /** What a person has paused, if nothing else can continue. */
      readonly stories?: readonly string[];
      readonly lanes?: readonly number[];
      /** Those among the stories whose conflict a person settles. */
      readonly settling?: readonly string[];
    }
  | RunEnd;

/** Iterations that a story gets after its agent was warned, before the others have their turn. */
const ITERATIONS_AFTER_WARNING = 2;

/** Decides the next step, and why. Pure; every rule of design section 3 is tested through it. */
export function decide(situation: Situation): Decision {
  const { freeLanes = 1, state, working = [] } = situation;
  const decision = endOf(situation) ?? nextSteps(situation, freeLanes);
  // Any other decision waits for the working agents; meanwhile only further agents may start.
  const isNow = decision.kind === 'start' || decision.kind === 'skip' || decision.kind === 'later';
  return working.length > 0 && (freeLanes < 1 || state.limits.size > 0 || !isNow)
    ? { kind: 'wait' }
    : decision;
}

/** The stories with their verified status: neither a refused claim nor one that is being judged counts as done. */
function provenStories({ state, stories, working = [] }: Situation): readonly Story[] | undefined {
  const judged = new Set(working.map(({ story }) => story?.id));
  return stories?.map(story =>
    story.done && judged.has(story.id) ? { ...story, done: false } : asProven(story, state),
  );
}

/** The next stories; those that agents are working on are skipped. */
function turnOf(situation: Situation) {
  const { state, working = [] } = situation;
  const only = state.onlyStories && new Set(state.onlyStories);
  const taken = working.flatMap(({ story }) => story?.id ?? []);
  // With several lanes, the others continue while one story waits for a person.
  const asking = !state.isolated
    ? []
    : [...state.storyNotes].flatMap(([id, notes]) => (notes.question ? [id] : []));
  const skip = new Set([...leftAlone(situation), ...taken, ...asking]);
  return { skip, last: comeLast(state), only };
}

/** Why the run ends, regardless of the remaining work. */
function endOf(situation: Situation): RunEnd | undefined {
  const { state, verdict, working = [] } = situation;
  if (verdict?.kind === 'astray') {
    // Checked before the files: on another branch they may show other work, or none.
    return { kind: 'end', outcome: 'error', detail: verdict.message };
  }
  const stories = provenStories(situation);
  const next = stories && nextStory(stories, turnOf(situation));
  const complete = next === undefined ? verdict?.kind === 'complete' : next.reason === 'allDone';
  const atWork = new Set(working.map(({ iteration }) => iteration));
  if (state.running.some(({ number }) => !atWork.has(number))) {
    // Interrupted before its claim could be checked: the status in the files is not verified yet.
    return verdict?.kind === 'fatal'
      ? { kind: 'end', outcome: 'error', detail: verdict.message }
      : verdict?.kind === 'budget'
        ? { kind: 'end', outcome: 'budget', detail: verdict.message }
        : { kind: 'end', outcome: 'stopped' };
  }
  // The files decide what is done, so this takes precedence over everything that anybody says or asks.
  if (complete) {
    return { kind: 'end', outcome: 'completed' };
  }
  if (situation.stopRequested) {
    return { kind: 'end', outcome: 'stopped' };
  }
  if (verdict?.kind === 'fatal') {
    return { kind: 'end', outcome: 'error', detail: verdict.message };
  }
  if (situation.otherMode !== undefined) {
    return {
      kind: 'end',
      outcome: 'error',
      detail: say(
        'The mode "{0}" of oh-my-claudecode has become active in this folder.',
        situation.otherMode,
      ),
    };
  }
  return undefined;
}

function nextSteps(situation: Situation, freeLanes: number): Decision {
  const { config, state } = situation;
  const stories = provenStories(situation);
  const turn = turnOf(situation);
  const next = stories && nextStory(stories, turn);
  return (
    (!state.isolated || next?.story === undefined ? question(situation) : undefined) ??
    (state.pauseRequested ? { kind: 'pause', reason: 'person' } : undefined) ??
    (next?.reason === undefined
      ? undefined
      : (onlyPaused(situation) ?? notReady(stories, situation))) ??
    (isSpent(config.budgetUsd, state.costUsd) ? { kind: 'end', outcome: 'budget' } : undefined) ??
    (lastIteration(situation) >= config.maxIterations
      ? { kind: 'end', outcome: 'maxIterations' }
      : undefined) ??
    tooManyFailures(situation) ??
    (freeLanes > 0 ? starts(situation, turn, freeLanes) : allPaused(state))
  );
}

/** The highest number that was given; an agent whose place is being prepared is not in the journal yet. */
function lastIteration({ state, working = [] }: Situation): number {
  return Math.max(state.iteration, ...working.map(({ iteration }) => iteration));
}

/** As many stories as there are free lanes, or what must be done about the first of them. */
function starts(
  situation: Situation,
  turn: ReturnType<typeof turnOf>,
  freeLanes: number,
): Decision {
  const { config, state } = situation;
  const stories = provenStories(situation);
  const found: Start[] = [];
  let pause: Decision | undefined;
  const skip = new Set(turn.skip);
  // Without stories there is one task, for one agent.
  const most = stories === undefined ? 1 : freeLanes;
  const last = lastIteration(situation);
  while (found.length < most && last + found.length < config.maxIterations) {
    const story = stories && nextStory(stories, { ...turn, skip }).story;
    if (stories !== undefined && story === undefined) {
      break;
    }
    const trouble =
      stuck(situation, story) ??
      later(situation, story, other => {
        const others = new Set([...skip, other.id]);
        return nextStory(stories ?? [], { ...turn, skip: others }).story !== undefined;
      });
    if (trouble === undefined) {
      found.push({ iteration: last + 1 + found.length, story });
    } else if (found.length === 0) {
      if (!state.isolated || trouble.kind !== 'pause') {
        return trouble;
      }
      // The others continue meanwhile.
      pause ??= trouble;
    }
    if (story) {
      skip.add(story.id);
    }
  }
  return found.length === 0 && pause ? pause : { kind: 'start', starts: found };
}

/** An agent asked a person: wait for the answer, or end the run if nobody is there. */
function question({ config, state }: Situation): Decision | undefined {
  const question = questionOf(state);
  if (question === undefined) {
    return undefined;
  }
  const { message, storyId } = question;
  return config.onQuestion === 'end'
    ? { kind: 'end', outcome: 'needsHuman', detail: message }
    : {
        kind: 'pause',
        reason: 'question',
        detail: message,
        storyId,
      };
}

/** For modes without stories, where there is nothing else to continue with. */
function tooManyFailures({ config, state, stories }: Situation): Decision | undefined {
  const { failures } = storyRecord(state, WHOLE_TASK);
  const { failedCheck, lastError } = storyNotes(state, WHOLE_TASK);
  return stories === undefined && failures >= config.failThreshold
    ? {
        kind: 'end',
        outcome: 'error',
        detail: lastError?.message || failedCheck?.command || '',
      }
    : undefined;
}

/** At the threshold the agent is warned; this decides what follows if that did not help. */
function stuck({ config, state }: Situation, story: Story | undefined): Decision | undefined {
  const { stuckFor } = storyRecord(state, story?.id ?? WHOLE_TASK);
  if (stuckFor <= config.stuckThreshold) {
    return undefined;
  }
  const detail = `${stuckFor}`;
  switch (config.onStuck) {
    case 'warn':
      return undefined;
    case 'skip':
      return story
        ? { kind: 'skip', story, iterations: stuckFor }
        : { kind: 'end', outcome: 'stuck', detail };
    case 'ask':
      return { kind: 'pause', reason: 'stuck', detail, storyId: story?.id };
    case 'stop':
      return { kind: 'end', outcome: 'stuck', detail: story?.id ?? detail };
  }
}

/** If only a warning follows, a story must not take every iteration while others are ready. */
function later(
  { config, state }: Situation,
  story: Story | undefined,
  areOthersReady: (story: Story) => boolean,
): Decision | undefined {
  if (story === undefined || config.onStuck !== 'warn') {
    return undefined;
  }
  const record = storyRecord(state, story.id);
  const since = record.later?.stuckFor ?? config.stuckThreshold;
  return record.stuckFor >= since + ITERATIONS_AFTER_WARNING && areOthersReady(story)
    ? { kind: 'later', story, iterations: record.stuckFor }
    : undefined;
}

/** Stories that come after all others, in the order in which they were postponed. */
export function comeLast({
  storyRecords,
}: Pick<RunState, 'storyRecords'>): ReadonlyMap<string, number> {
  return new Map(
    [...storyRecords].flatMap(([id, record]) =>
      record.later === undefined ? [] : [[id, record.later.since] as const],
    ),
  );
}

/** A person has paused the stories that could be worked on, or settles their conflicts: the run waits for them. */
function onlyPaused(situation: Situation): Decision | undefined {
  const { state } = situation;
  const turn = turnOf(situation);
  const settling = settledStories(state);
  const stories = provenStories(situation) ?? [];
  // One that was paused while its agent worked may be done by now.
  const open = new Set(stories.flatMap(({ done, id }) => (done ? [] : [id])));
  const held = new Set([...pausedStories(state), ...settling]);
  const paused = [...held].filter(id => open.has(id));
  const skip = new Set([...turn.skip].filter(id => !paused.includes(id)));
  const next = nextStory(stories, { ...turn, skip });
  return next.story === undefined
    ? undefined
    : {
        ...{ kind: 'pause', reason: 'person', stories: paused },
        settling: settling.length > 0 ? settling : undefined,
      };
}

/** No lane is free, and if no agent works, a person has paused them all. */
function allPaused({ lanes, pausedLanes = [] }: RunState): Decision {
  const paused = pausedLanes.filter(lane => lane <= lanes).sort((a, b) => a - b);
  return { kind: 'pause', reason: 'person', lanes: paused };
}

function notReady(
  stories: readonly Story[] | undefined,
  { problems = [], state }: Situation,
): Decision {
  const open = openStories(stories, state);
  const circle = openCircle(stories ?? []);
  const only = state.onlyStories && new Set(state.onlyStories);
  const aside = waitsForAside(stories ?? [], only).slice(0, MAX_WAITING);
  // Who chooses stories knows that no agent works on the others.
  const putAside = only === undefined ? asideCount(stories ?? []) : 0;
  const unknown = waitsForUnknown(stories ?? [], problems, only).slice(0, MAX_WAITING);
  return {
    kind: 'end',
    outcome: 'noReadyStory',
    // For people; an id may contain any character, so programs use the list.
    detail: open.join(', '),
    open,
    circle,
    putAside: putAside > 0 ? putAside : undefined,
    aside: aside.length > 0 ? aside : undefined,
    unknown: unknown.length > 0 ? unknown : undefined,
  };
}

function openStories(
  stories: readonly Story[] | undefined,
  { onlyStories }: RunState,
): readonly string[] {
  const open = storiesToDo(stories ?? [], onlyStories && new Set(onlyStories)).map(({ id }) => id);
  // A selected story may have been removed from the file.
  const ids =
    onlyStories?.filter(id => open.includes(id) || !stories?.some(s => s.id === id)) ?? open;
  // Several stories may have the same id by mistake.
  return [...new Set(ids)];
}
