import type { CurrentIteration } from './currentIteration.ts';
import type { RunState } from './runState.ts';

/** `T` with lists of pairs for its maps. */
type WithLists<T> = {
  readonly [K in keyof T]: T[K] extends ReadonlyMap<infer Key, infer Value>
    ? readonly (readonly [Key, Value])[]
    : T[K];
};

type StoredIteration = WithLists<CurrentIteration>;

/** The JSON form of a run's state: maps are lists of pairs. */
export interface StoredRunState extends WithLists<Omit<RunState, 'running' | 'cutOff'>> {
  readonly running: readonly StoredIteration[];
  readonly cutOff: readonly StoredIteration[];
}

export function toStored(state: RunState): StoredRunState {
  const iteration = (of: CurrentIteration) => ({ ...of, handled: [...of.handled] });
  return {
    ...state,
    running: state.running.map(iteration),
    cutOff: state.cutOff.map(iteration),
    limits: [...state.limits],
    laneStories: [...state.laneStories],
    storyNotes: [...state.storyNotes],
    storyRecords: [...state.storyRecords],
  };
}

export function fromStored(stored: StoredRunState): RunState {
  const iteration = ({ handled, ...of }: StoredIteration) => ({ ...of, handled: new Map(handled) });
  return {
    ...stored,
    running: stored.running.map(iteration),
    cutOff: stored.cutOff.map(iteration),
    limits: new Map(stored.limits),
    laneStories: new Map(stored.laneStories),
    storyNotes: new Map(stored.storyNotes),
    storyRecords: new Map(stored.storyRecords),
  };
}
