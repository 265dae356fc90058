import type { CurrentIteration } from './currentIteration.ts';
import type { RunEvent } from './events.ts';
import {
  questionOf,
  type RunState,
  runningIteration,
  storyNotes,
  storyRecord,
  WHOLE_TASK,
} from './runState.ts';
import type { Question, StoryNotes } from './storyNotes.ts';
import type { StoryRecord } from './storyRecord.ts';

/** Older hints and answers are forgotten, oldest first. */
export const MAX_NOTES = 50;

/** Maps and lists that only the fold of one journal has seen, so that it may change them. */
let own: WeakSet<object> | undefined;

/**
 * Makes one change of a fold. A map that belongs to the fold is changed and not copied: with 5,000 stories, a copy for
 * each event would take most of the time.
 * @param mine the maps and lists of this fold; nobody else has seen a state with them
 */
export function changing<T>(mine: WeakSet<object>, change: () => T): T {
  own = mine;
  try {
    return change();
  } finally {
    own = undefined;
  }
}

function editable<K, V>(map: ReadonlyMap<K, V>): Map<K, V> {
  if (own?.has(map)) {
    return map as Map<K, V>;
  }
  const copy = new Map(map);
  own?.add(copy);
  return copy;
}

/** A list with one more item. */
export function withItem<T>(list: readonly T[], item: T): readonly T[] {
  if (own?.has(list)) {
    (list as T[]).push(item);
    return list;
  }
  const copy = [...list, item];
  own?.add(copy);
  return copy;
}

/**
 * Changes the iteration that an event belongs to. In old journals, where agents' events have no iteration number,
 * this is the running one.
 */
export function withIteration(
  state: RunState,
  { iteration }: { readonly iteration?: number | undefined },
  change: (current: CurrentIteration) => CurrentIteration,
): RunState {
  const number = iteration ?? state.running.at(-1)?.number;
  return {
    ...state,
    running: state.running.map(current => (current.number === number ? change(current) : current)),
  };
}

export function withStory(
  state: RunState,
  storyId: string,
  change: (record: StoryRecord) => StoryRecord,
): RunState {
  const record = change(storyRecord(state, storyId));
  const storyRecords = editable(state.storyRecords);
  storyRecords.set(storyId, record);
  return { ...state, storyRecords };
}

/** @param storyId absent: the whole task */
export function withNotes(
  state: RunState,
  storyId: string | undefined,
  change: (notes: StoryNotes) => StoryNotes,
): RunState {
  const changed = change(storyNotes(state, storyId));
  const notes = editable(state.storyNotes);
  notes.set(storyId ?? WHOLE_TASK, changed);
  return { ...state, storyNotes: notes };
}

/** A person's tick does not count as work of the running or the interrupted iteration. */
export function withHandled(state: RunState, storyId: string, done: boolean): RunState {
  const handle = (iteration: CurrentIteration): CurrentIteration => ({
    ...iteration,
    handled: new Map([...iteration.handled, [storyId, done]]),
  });
  return { ...state, running: state.running.map(handle), cutOff: state.cutOff.map(handle) };
}

export function withoutKey<K extends 'planner' | 'prepare' | 'rolledBack'>(
  state: RunState,
  key: K,
): RunState {
  return { ...state, [key]: undefined };
}

export function withoutLimit(state: RunState, iteration: number): RunState {
  const limits = new Map(state.limits);
  return limits.delete(iteration) ? { ...state, limits } : state;
}

/** Removes an answered question: the story's, otherwise the one with this text, otherwise the newest. */
export function withoutQuestion(
  state: RunState,
  {
    message,
    storyId,
  }: { readonly storyId: string | undefined; readonly message: string | undefined },
): RunState {
  const questions = [...state.storyNotes.values()].flatMap(({ question }) => question ?? []);
  const settled =
    storyId === undefined
      ? (questions.find(question => question.message === message) ?? questionOf(state))
      : storyNotes(state, storyId).question;
  return settled === undefined
    ? state
    : withNotes(state, settled.storyId, notes => ({ ...notes, question: undefined }));
}

/** Nobody waits for an answer about a story that gets no agent. */
export function withoutOwnQuestion(state: RunState, storyId: string): RunState {
  return storyNotes(state, storyId).question === undefined
    ? state
    : withoutQuestion(state, { storyId, message: undefined });
}

/** A person lets the run continue without an answer: the next agents are told what stayed open. */
export function goneUnanswered(state: RunState, questions: readonly Question[]): RunState {
  return questions.reduce<RunState>(
    (before, { message, storyId }) => ({
      ...withNotes(before, storyId, notes => ({ ...notes, question: undefined })),
      answers: [...before.answers, { question: message, storyId }].slice(-MAX_NOTES),
    }),
    state,
  );
}

/** The story of a running iteration; `undefined` for the whole task, or if this iteration is not running. */
export function storyOf(state: RunState, iteration: number): string | undefined {
  return runningIteration(state, iteration)?.storyId;
}

/** Work that was left on another branch: of an open iteration, or for the story's next agent. */
export function withBranchLeft(
  state: RunState,
  event: Extract<RunEvent, { type: 'branch.left' }>,
): RunState {
  const { broughtBack, commits, found, iteration, reason } = event;
  const hashes = commits.map(({ hash }) => hash);
  // Otherwise the iteration stays open until its work is on the branch.
  const isOver = state.isolated || reason === 'notClaimed';
  const noted = withNotes(state, storyOf(state, iteration), notes => ({
    ...notes,
    elsewhere:
      isOver && !broughtBack && hashes.length > 0
        ? { iteration, branch: found, hashes }
        : undefined,
  }));
  if (reason === 'notClaimed') {
    return noted;
  }
  return {
    ...withIteration(noted, event, ({ leftElsewhere: before = [], ...current }) => ({
      ...current,
      leftElsewhere: broughtBack ? undefined : [...new Set([...before, ...hashes])],
    })),
    branchLeft: { iteration, found, broughtBack },
  };
}
