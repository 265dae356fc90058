import { assertNever } from '../../../base/assertNever.ts';
import { isNumberId } from '../../../base/numberId.ts';
import { onceEach } from '../../../base/onceEach.ts';
import { englishOf, type Words } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';
import { isAside } from '../../stories/asideReason.ts';
import type { Criterion, Story, StoryFile, StoryList } from '../../stories/story.ts';
import { problemWords } from '../../stories/storyFile.ts';
import {
  addTo,
  matchStories,
  type Pair,
  plain,
  plainLines,
  sayingOf,
  titleOf,
} from '../../stories/storyMatching.ts';

/** A difference between a story file before and after an iteration. Data only; for the journal. */
export type GuardChange =
  | { readonly kind: 'storyRemoved' | 'storyAdded'; readonly storyId: string }
  | {
      readonly kind: 'titleChanged' | 'descriptionChanged';
      readonly storyId: string;
      readonly before: string;
      readonly after: string;
    }
  | {
      readonly kind: 'criterionRemoved' | 'criterionAdded';
      readonly storyId: string;
      readonly text: string;
    }
  | {
      readonly kind: 'criterionReworded';
      readonly storyId: string;
      readonly before: string;
      readonly after: string;
    }
  | { readonly kind: 'tickedOther' | 'untickedOther'; readonly storyId: string }
  /** Includes dependencies and whether it is deferred: everything that determines its turn. */
  | { readonly kind: 'orderOrPriority'; readonly storyId: string }
  /** Set aside by a status (deferred, cancelled, …), so that it would never be done. */
  | { readonly kind: 'parked'; readonly storyId: string }
  | { readonly kind: 'fileBroken'; readonly problem: Words }
  | { readonly kind: 'fileGone' }
  /** The story file has been replaced by something that is not a normal file; `target` is a link's target. */
  | {
      readonly kind: 'fileReplaced';
      readonly by: 'link' | 'folder' | 'file' | 'pipe' | 'other';
      readonly target?: string;
    };

/** Ids of the stories that a person ticked or unticked during the iteration; a map also has the new value. */
export type HandledStories = ReadonlySet<string> | ReadonlyMap<string, boolean>;

/** An agent's task, and what others did meanwhile. */
export interface Duty {
  /** The story that was assigned to the agent; if absent, every tick is forbidden. */
  readonly storyId?: string;
  readonly handled: HandledStories;
}

/**
 * Compares a story file with its version before an iteration. Stories are matched by id, and by their text if ids
 * are missing or repeated. White space is ignored. Pure.
 *
 * @param input.after absent if the file is gone
 */
export function findGuardChanges(
  input: { readonly before: StoryList; readonly after: StoryFile | undefined } & Duty,
): readonly GuardChange[] {
  const { before, after } = input;
  if (after === undefined) {
    return [{ kind: 'fileGone' }];
  }
  if (after.kind === 'invalid') {
    return [{ kind: 'fileBroken', problem: problemWords(after.problems[0]) }];
  }
  const { pairs, removed, added } = matchStories(before.stories, after.stories);
  const moved = movedStories(pairs);
  const sorted = onceEach((ids: readonly string[]) => JSON.stringify(ids.toSorted()));
  return [
    ...removed.map(({ id }): GuardChange => ({ kind: 'storyRemoved', storyId: id })),
    ...pairs.flatMap(pair => [
      ...textChanges(pair),
      ...tickChanges(pair, input),
      // Tasks of a later tag wait for their turn, which comes later if the agent adds work to an earlier one.
      ...(isAside(pair.after) && !isAside(pair.before)
        ? [{ kind: 'parked', storyId: pair.before.id } as const]
        : []),
      ...(moved.has(pair.before) || isRescheduled(pair, sorted)
        ? [{ kind: 'orderOrPriority', storyId: pair.before.id } as const]
        : []),
    ]),
    ...added.map(({ id }): GuardChange => ({ kind: 'storyAdded', storyId: id })),
    ...doubleTicks(before.stories, added, input),
  ];
}

/**
 * Whether an agent must not make this change. It may split work (add stories and criteria), append lines to a
 * description, fill in missing texts, and plan; it must not reduce the work or mark others' work as done.
 */
export function isForbidden(change: GuardChange): boolean {
  switch (change.kind) {
    case 'storyAdded':
    case 'criterionAdded':
    case 'orderOrPriority':
      return false;
    case 'titleChanged':
      return plain(change.before) !== '';
    case 'descriptionChanged': {
      const before = plainLines(change.before);
      return before !== '' && !plainLines(change.after).startsWith(`${before}\n`);
    }
    case 'storyRemoved':
    case 'criterionRemoved':
    case 'criterionReworded':
    case 'tickedOther':
    case 'untickedOther':
    case 'parked':
    case 'fileBroken':
    case 'fileGone':
    case 'fileReplaced':
      return true;
    default:
      return assertNever(change);
  }
}

/** One English sentence, for a prompt. Texts of stories are shortened, without control characters. */
export function describeGuardChange(change: GuardChange): string {
  const story = 'storyId' in change ? `story ${shorten(change.storyId, 60)}` : '';
  const quoted = (text: string) => `“${shorten(text, 200)}”`;
  switch (change.kind) {
    case 'storyRemoved':
      return `The ${story} was removed.`;
    case 'storyAdded':
      return `The ${story} was added.`;
    case 'titleChanged':
      return `The title of ${story} was changed from ${quoted(change.before)} to ${quoted(change.after)}.`;
    case 'descriptionChanged':
      return `The description of ${story} was changed from ${quoted(change.before)} to ${quoted(change.after)}.`;
    case 'criterionRemoved':
      return `An acceptance criterion of ${story} was removed: ${quoted(change.text)}.`;
    case 'criterionAdded':
      return `An acceptance criterion was added to ${story}: ${quoted(change.text)}.`;
    case 'criterionReworded':
      return `An acceptance criterion of ${story} was changed from ${quoted(change.before)} to ${quoted(change.after)}.`;
    case 'tickedOther':
      return `The ${story} was marked as done by an agent that was not working on it.`;
    case 'untickedOther':
      return `The ${story} was marked as not done by an agent that was not working on it.`;
    case 'parked':
      return `The ${story} was put aside, though it is not done.`;
    case 'orderOrPriority':
      return `The place of ${story} in the order of work was changed.`;
    case 'fileBroken':
      return `The story file could not be read any more. ${shorten(englishOf(change.problem), 300)}`;
    case 'fileGone':
      return 'The story file was removed.';
    case 'fileReplaced':
      return `A ${change.by === 'other' ? 'thing that is no file' : change.by} was put in place of the story file${change.target === undefined ? '' : `, which led to ${quoted(change.target)}`}.`;
    default:
      return assertNever(change);
  }
}

/** How the texts of a story changed. */
export function textChanges({ before, after }: Pair): GuardChange[] {
  if (sayingOf(before) === sayingOf(after)) {
    return [];
  }
  const storyId = before.id;
  const changes: GuardChange[] = [];
  if (titleOf(before) !== titleOf(after)) {
    changes.push({
      kind: 'titleChanged',
      storyId,
      before: titleOf(before) === '' ? '' : before.title,
      after: after.title,
    });
  }
  if (plainLines(before.description) !== plainLines(after.description)) {
    changes.push({
      kind: 'descriptionChanged',
      storyId,
      before: before.description,
      after: after.description,
    });
  }
  return [...changes, ...criterionChanges(storyId, before.criteria, after.criteria)];
}

/** How the criteria of a story changed; their order is ignored. */
export function criterionChanges(
  storyId: string,
  before: readonly Criterion[],
  after: readonly Criterion[],
): GuardChange[] {
  const added = new Map(after.map(({ text }, index) => [index, text]));
  const missing = new Map<number, string>();
  const places = new Map<string, number[]>();
  for (const [index, { text }] of [...after.entries()].reverse()) {
    addTo(places, plain(text), index);
  }
  for (const [index, { text }] of before.entries()) {
    const place = places.get(plain(text))?.pop();
    if (place === undefined) {
      missing.set(index, text);
    } else {
      added.delete(place);
    }
  }
  const changes: GuardChange[] = [];
  const reword = (index: number, text: string, place: number | undefined) => {
    const now = place === undefined ? undefined : added.get(place);
    if (place !== undefined && now !== undefined) {
      added.delete(place);
      missing.delete(index);
      changes.push({ kind: 'criterionReworded', storyId, before: text, after: now });
    }
  };
  // Another text at the same position, counted from the start or the end, is the same criterion reworded. So is any
  // other unmatched one, because it might be a weaker form.
  for (const [index, text] of missing) {
    const candidates = [index, index - before.length + after.length];
    reword(
      index,
      text,
      candidates.find(at => added.has(at)),
    );
  }
  for (const [index, text] of missing) {
    reword(index, text, added.keys().next().value);
  }
  for (const text of missing.values()) {
    changes.push({ kind: 'criterionRemoved', storyId, text });
  }
  for (const text of added.values()) {
    changes.push({ kind: 'criterionAdded', storyId, text });
  }
  return changes;
}

/** A tick that neither the agent nor a person was entitled to set. */
export function tickChanges({ before, after }: Pair, duty: Duty): GuardChange[] {
  return before.done === after.done || mayTick(before.id, duty)
    ? []
    : [{ kind: after.done ? 'tickedOther' : 'untickedOther', storyId: before.id }];
}

/** Whether the agent or a person was entitled to tick this story. */
export function mayTick(id: string, { storyId, handled }: Duty): boolean {
  return id === storyId || handled.has(id);
}

/**
 * A new story that is done and has the id of an existing open one: a lookup by id would confuse the two. A number is no
 * id: it is whose turn it is in the list now.
 */
export function doubleTicks(
  before: readonly Story[],
  added: readonly Story[],
  duty: Duty,
): readonly GuardChange[] {
  const done = new Map<string, boolean>();
  for (const story of before) {
    done.set(story.id, story.done || done.get(story.id) === true);
  }
  return added
    .filter(
      story =>
        story.done &&
        !isNumberId(story.id) &&
        done.get(story.id) === false &&
        !mayTick(story.id, duty),
    )
    .map(({ id }) => ({ kind: 'tickedOther', storyId: id }));
}

function isRescheduled(
  { before, after }: Pair,
  sorted: (ids: readonly string[]) => string,
): boolean {
  return (
    before.priority !== after.priority ||
    (before.done === after.done && isAside(before) !== isAside(after)) ||
    sorted(before.dependsOn) !== sorted(after.dependsOn)
  );
}

/** The smallest set of stories that must have been moved: all except a longest sequence in the same order. */
function movedStories(pairs: readonly Pair[]): ReadonlySet<Story> {
  // ends[n]: the pair that ends the sequence of length n + 1 with the smallest position.
  const ends: number[] = [];
  const previous: (number | undefined)[] = [];
  const placeOf = (index: number | undefined) =>
    index === undefined ? -1 : (pairs[index]?.after.position ?? -1);
  for (const [index, { after }] of pairs.entries()) {
    let low = 0;
    let high = ends.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (placeOf(ends[middle]) < after.position) {
        low = middle + 1;
      } else {
        high = middle;
      }
    }
    previous[index] = ends[low - 1];
    ends[low] = index;
  }
  const moved = new Set(pairs.map(({ before }) => before));
  for (let at = ends.at(-1); at !== undefined; at = previous[at]) {
    const kept = pairs[at];
    if (kept !== undefined) {
      moved.delete(kept.before);
    }
  }
  return moved;
}
