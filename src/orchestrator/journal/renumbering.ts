import { isNumberId } from '../../base/numberId.ts';
import type { CurrentIteration } from './currentIteration.ts';
import type { RunEvent } from './events.ts';
import type { RunState } from './runState.ts';

/** The numbers by which a state knows stories without ids of their own. Pure. */
export function numbersIn(state: RunState): ReadonlySet<string> {
  const {
    commits,
    cutOff,
    discoveries = [],
    hints,
    onlyStories = [],
    running,
    storyNotes,
    storyRecords,
  } = state;
  const known = [
    ...storyRecords.keys(),
    ...storyNotes.keys(),
    ...onlyStories,
    ...[...commits, ...hints, ...running, ...cutOff].flatMap(({ storyId }) => storyId ?? []),
    ...discoveries.flatMap(({ from }) => from ?? []),
  ];
  return new Set(known.filter(isNumberId));
}

type Renumbered = Extract<RunEvent, { type: 'stories.renumbered' }>;

/** Gives the id that a story has after such an event; `undefined` if it is gone. Pure. */
function idsAfter({ gone, moves }: Renumbered): (id: string) => string | undefined {
  // An id of its own never changes, whatever a journal says.
  const isGone = new Set(gone?.filter(isNumberId));
  const to = new Map(
    moves.flatMap(move =>
      [move.from, move.to].every(isNumberId) ? [[move.from, move.to] as const] : [],
    ),
  );
  return id => to.get(id) ?? (isGone.has(id) ? undefined : id);
}

/** The id that a story has after these events; `undefined` if it is gone. Pure. */
export function idAfter(id: string, events: Iterable<RunEvent>): string | undefined {
  let now: string | undefined = id;
  for (const event of events) {
    if (event.type === 'stories.renumbered' && now !== undefined) {
      now = idsAfter(event)(now);
    }
  }
  return now;
}

/**
 * What is known of a story by its number moves to the number that it has now; what is known of one that is gone is
 * forgotten. Pure.
 */
export function renumbered(state: RunState, event: Renumbered): RunState {
  const idNow = idsAfter(event);
  const ofStory = <T extends { readonly storyId?: string | undefined }>(item: T): T =>
    item.storyId === undefined ? item : { ...item, storyId: idNow(item.storyId) };
  const keyed = <T>(map: ReadonlyMap<string, T>, change: (value: T) => T = value => value) =>
    new Map(
      [...map].flatMap(([id, value]) => {
        const now = idNow(id);
        return now === undefined ? [] : [[now, change(value)] as const];
      }),
    );
  const iterations = (list: readonly CurrentIteration[]) =>
    list.map(current => ({
      ...current,
      // It still works on that story, even if that is gone.
      storyId:
        current.storyId === undefined ? undefined : (idNow(current.storyId) ?? current.storyId),
      handled: keyed(current.handled),
    }));
  const { discoveries, lastCompletedStory, lastIteration, lostCommits, onlyStories, pause } = state;
  return {
    ...state,
    renumberings: (state.renumberings ?? 0) + 1,
    storyRecords: keyed(state.storyRecords),
    storyNotes: keyed(state.storyNotes, notes => ({
      ...notes,
      question: notes.question && ofStory(notes.question),
    })),
    laneStories: new Map(
      [...state.laneStories].flatMap(([lane, id]) => {
        const now = idNow(id);
        return now === undefined ? [] : [[lane, now] as const];
      }),
    ),
    running: iterations(state.running),
    cutOff: iterations(state.cutOff),
    commits: state.commits.map(ofStory),
    lostCommits: lostCommits?.map(ofStory),
    // A hint for a story that is gone is not for all others.
    hints: state.hints.filter(({ storyId: id }) => id === undefined || idNow(id)).map(ofStory),
    answers: state.answers.map(ofStory),
    discoveries: discoveries?.map(({ from, ...found }) => {
      const now = from && idNow(from);
      return now === undefined ? found : { ...found, from: now };
    }),
    onlyStories: onlyStories?.flatMap(id => idNow(id) ?? []),
    lastIteration: lastIteration && ofStory(lastIteration),
    lastCompletedStory: lastCompletedStory && idNow(lastCompletedStory),
    pause: pause && {
      ...ofStory(pause),
      stories: pause.stories?.flatMap(id => idNow(id) ?? []),
      settling: pause.settling?.flatMap(id => idNow(id) ?? []),
    },
  };
}
