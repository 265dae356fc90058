import { say } from '../../base/say.ts';
import { LESS_THAN_A_CENT } from '../agents/call/budgetLedger.ts';
import type { PauseReason } from '../journal/eventCodes.ts';
import {
  questionOf,
  type RunState,
  storyNotes,
  storyRecord,
  WHOLE_TASK,
} from '../journal/runState.ts';
import { asProven, leftAlone } from '../run/storiesLeft.ts';
import type { RunEnd, Verdict } from '../run/verdict.ts';
import type { RunConfig } from '../settings/config.ts';
import { nextStory } from '../stories/select.ts';
import type { Story } from '../stories/story.ts';
import { openCircle } from '../stories/storyProblems.ts';

/** What is known when the loop decides what comes next. */
export interface Situation {
  readonly state: RunState;
  /** As last read; absent in free-form and plan mode. */
  readonly stories?: readonly Story[];
  readonly config: Pick<
    RunConfig,
    'maxIterations' | 'failThreshold' | 'stuckThreshold' | 'onStuck' | 'onQuestion' | 'budgetUsd'
  >;
  readonly stopRequested: boolean;
  /** What the last iteration said or suffered that ends the run. */
  readonly verdict?: Verdict;
  /** Another mode that has become active in this folder. */
  readonly otherMode?: string;
  /** What agents work on at this moment; absent: none works. */
  readonly working?: readonly Start[];
  /** So many more could; one when absent. */
  readonly freeLanes?: number;
}

/** One iteration to begin. */
export interface Start {
  readonly iteration: number;
  /** Absent in free-form and plan mode. */
  readonly story?: Story;
}

export type Decision =
  /** At least one, in the order of their numbers; no more than there are free lanes. */
  | { readonly kind: 'start'; readonly starts: readonly Start[] }
  /** Until an agent that works has ended. */
  | { readonly kind: 'wait' }
  /** Leave a story alone that does not get on. */
  | { readonly kind: 'skip'; readonly story: Story; readonly iterations: number }
  /** Give the others their turn before a story that does not get on. */
  | { readonly kind: 'later'; readonly story: Story; readonly iterations: number }
  | {
      readonly kind: 'pause';
      readonly reason: PauseReason;
      readonly storyId?: string;
      readonly detail?: string;
    }
  | RunEnd;

/** Iterations that a story gets once its agent is warned, before others have their turn. */
const ITERATIONS_AFTER_WARNING = 2;

/** Decides what comes next, and why. Pure; every rule of design section 3 is tested through it. */
export function decide(situation: Situation): Decision {
  const { freeLanes = 1, state, working = [] } = situation;
  const decision = endOf(situation) ?? nextSteps(situation, freeLanes);
  // Agents that work are waited for, whatever comes after them; only more of them may be started meanwhile.
  const isNow = decision.kind === 'start' || decision.kind === 'skip' || decision.kind === 'later';
  return working.length > 0 && (freeLanes < 1 || state.limits.size > 0 || !isNow)
    ? { kind: 'wait' }
    : decision;
}

/** The stories as far as they are proven: neither a claim that was refused is done, nor one that is still being judged. */
function provenStories({ state, stories, working = [] }: Situation): readonly Story[] | undefined {
  const judged = new Set(working.map(({ story }) => story?.id));
  return stories?.map(story =>
    story.done && judged.has(story.id) ? { ...story, done: false } : asProven(story, state),
  );
}

/** Who is next; those that agents work on are passed over. */
function turnOf(situation: Situation) {
  const { state, working = [] } = situation;
  const only = state.onlyStories && new Set(state.onlyStories);
  const taken = working.flatMap(({ story }) => story?.id ?? []);
  // With several lanes the others go on while one story waits for a person.
  const asking =
    state.lanes === 1
      ? []
      : [...state.storyNotes].flatMap(([id, notes]) => (notes.question ? [id] : []));
  const skip = new Set([...leftAlone(situation), ...taken, ...asking]);
  return { skip, last: comeLast(state), ...(only && { only }) };
}

/** Why the run ends, whatever there would be to do. */
function endOf(situation: Situation): RunEnd | undefined {
  const { state, verdict, working = [] } = situation;
  if (verdict?.kind === 'astray') {
    // Before what the files say: whoever reads them elsewhere may find other work, or none.
    return { kind: 'end', outcome: 'error', detail: verdict.message };
  }
  const stories = provenStories(situation);
  const next = stories && nextStory(stories, turnOf(situation));
  const complete = next === undefined ? verdict?.kind === 'complete' : next.reason === 'allDone';
  const atWork = new Set(working.map(({ iteration }) => iteration));
  if (state.running.some(({ number }) => !atWork.has(number))) {
    // Cut off before its claim could be checked: what the files say is not proven yet.
    return verdict?.kind === 'fatal'
      ? { kind: 'end', outcome: 'error', detail: verdict.message }
      : { kind: 'end', outcome: verdict?.kind === 'budget' ? 'budget' : 'stopped' };
  }
  // Done is what the files say, so it comes before everything that anybody says or asks.
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
    (state.lanes === 1 || next?.story === undefined ? question(situation) : undefined) ??
    (state.pauseRequested ? { kind: 'pause', reason: 'person' } : undefined) ??
    (next?.reason === undefined ? undefined : notReady(stories, state)) ??
    (config.budgetUsd !== undefined && state.costUsd >= config.budgetUsd - LESS_THAN_A_CENT
      ? { kind: 'end', outcome: 'budget' }
      : undefined) ??
    (state.iteration >= config.maxIterations
      ? { kind: 'end', outcome: 'maxIterations' }
      : undefined) ??
    tooManyFailures(situation) ??
    starts(situation, turn, freeLanes)
  );
}

/** As many stories as there are lanes for, or what has to be done about the first of them. */
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
  const most = stories === undefined ? 1 : Math.max(1, freeLanes);
  while (found.length < most && state.iteration + found.length < config.maxIterations) {
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
      found.push({ iteration: state.iteration + 1 + found.length, ...(story && { story }) });
    } else if (found.length === 0) {
      if (state.lanes === 1 || trouble.kind !== 'pause') {
        return trouble;
      }
      // The others go on meanwhile.
      pause ??= trouble;
    }
    if (story) {
      skip.add(story.id);
    }
  }
  return found.length === 0 && pause ? pause : { kind: 'start', starts: found };
}

/** An agent asked for a person: wait for the answer, or end where nobody is there. */
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
        ...(storyId === undefined ? {} : { storyId }),
      };
}

/** Without stories there is no other one to go on with. */
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

/** At the threshold the agent is warned; here is what follows when that did not help. */
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
      return { kind: 'pause', reason: 'stuck', detail, ...(story && { storyId: story.id }) };
    case 'stop':
      return { kind: 'end', outcome: 'stuck', detail: story?.id ?? detail };
  }
}

/** Where a warning is all that follows, a story must not take every iteration while others are ready. */
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

/** Stories that have their turn behind the others; among them the one first that was put there first. */
export function comeLast({
  storyRecords,
}: Pick<RunState, 'storyRecords'>): ReadonlyMap<string, number> {
  return new Map(
    [...storyRecords].flatMap(([id, record]) =>
      record.later === undefined ? [] : [[id, record.later.since] as const],
    ),
  );
}

function notReady(stories: readonly Story[] | undefined, state: RunState): Decision {
  const open = openStories(stories, state);
  const circle = openCircle(stories ?? []);
  return {
    kind: 'end',
    outcome: 'noReadyStory',
    // For people; an id may hold anything, so who needs the ids takes them from the list.
    detail: open.join(', '),
    open,
    ...(circle && { circle }),
  };
}

function openStories(
  stories: readonly Story[] | undefined,
  { onlyStories }: RunState,
): readonly string[] {
  const open = (stories ?? []).filter(story => !story.done).map(({ id }) => id);
  // A chosen one may have gone from the file.
  return onlyStories?.filter(id => open.includes(id) || !stories?.some(s => s.id === id)) ?? open;
}
