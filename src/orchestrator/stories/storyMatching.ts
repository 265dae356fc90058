import { numberId } from '../../base/numberId.ts';
import type { Story } from './story.ts';
import { storyNow } from './storyNow.ts';

/** From this similarity of two titles on, one can be the other one reworded. */
const SIMILAR = 0.3;
/** Titles are compared with each other only in gaps of at most this many pairs. */
const MAX_COMPARED = 10_000;

/** A story before and after. */
export interface Pair {
  readonly before: Story;
  readonly after: Story;
}

export interface Matching {
  /** In their previous order. */
  readonly pairs: readonly Pair[];
  readonly removed: readonly Story[];
  readonly added: readonly Story[];
}

/**
 * Finds each story of a list again in another version of it. Those with an id of their own are known by it; others by
 * their heading and title, then by their text, and last by the stories around them. One that may be either of two is
 * removed, and both are added: nothing is guessed. Pure.
 * @param options.mayReplace the version before may also have lost one story and got another one in its place, so that
 * one with a different title is not the same only because nothing else is there
 */
export function matchStories(
  before: readonly Story[],
  after: readonly Story[],
  { mayReplace = false } = {},
): Matching {
  const found = new Map<Story, Story>();
  const taken = new Set<Story>();
  const pair = (story: Story, match: Story) => {
    found.set(story, match);
    taken.add(match);
  };
  // A number is not an id: it belongs to whichever story is at that position now.
  const group = (story: Story) => (isNumbered(story) ? '#' : `=${story.id}`);
  const byName = (story: Story) =>
    isNumbered(story) ? JSON.stringify(['#', story.epic, titleOf(story)]) : group(story);
  const passes: readonly ((story: Story) => string)[] = [
    story => JSON.stringify([group(story), story.epic, sayingOf(story)]),
    story => JSON.stringify([group(story), story.epic, titleOf(story)]),
    story => JSON.stringify([group(story), sayingOf(story)]),
    story => JSON.stringify([group(story), titleOf(story)]),
  ];
  pairUnique({ before, after }, byName, pair);
  for (const keyOf of passes) {
    pairInOrder(open(), keyOf, pair);
  }
  pairInOrder(openOf(isNamed), group, pair);
  pairInGaps(before, openOf(isNumbered), found, { mayReplace, pair });
  return {
    pairs: before.flatMap(story => {
      const match = found.get(story);
      return match === undefined ? [] : [{ before: story, after: match }];
    }),
    removed: before.filter(story => !found.has(story)),
    added: after.filter(story => !taken.has(story)),
  };

  function open(): Versions {
    return openOf(() => true);
  }

  function openOf(isMeant: (story: Story) => boolean): Versions {
    return {
      before: before.filter(story => !found.has(story) && isMeant(story)),
      after: after.filter(story => !taken.has(story) && isMeant(story)),
    };
  }
}

/** Two versions of a list, or parts of them. */
interface Versions {
  readonly before: readonly Story[];
  readonly after: readonly Story[];
}

/** Pairs what has a key that nothing else in either version has; of most lists, this is all. */
function pairUnique(
  { before, after }: Versions,
  keyOf: (story: Story) => string,
  pair: (story: Story, match: Story) => void,
): void {
  const unique = (stories: readonly Story[]) => {
    const known = new Map<string, Story | undefined>();
    for (const story of stories) {
      const key = keyOf(story);
      known.set(key, known.has(key) ? undefined : story);
    }
    return known;
  };
  const matches = unique(after);
  for (const [key, story] of unique(before)) {
    const match = matches.get(key);
    if (story !== undefined && match !== undefined) {
      pair(story, match);
    }
  }
}

/**
 * Pairs the n-th story with a key with the n-th one that has it in the other version. If one version has more of them,
 * those that have not changed are the same.
 */
function pairInOrder(
  { before, after }: Versions,
  keyOf: (story: Story) => string,
  pair: (story: Story, match: Story) => void,
): void {
  const [groups, matches] = [before, after].map(stories => {
    const lists = new Map<string, Story[]>();
    for (const story of stories) {
      addTo(lists, keyOf(story), story);
    }
    return lists;
  });
  for (const [key, stories] of groups ?? []) {
    const waiting = matches?.get(key) ?? [];
    const left =
      stories.length === waiting.length ? stories : pairUnchanged(stories, waiting, pair);
    for (const story of left) {
      const match = waiting.shift();
      if (match !== undefined) {
        pair(story, match);
      }
    }
  }
}

/** @returns the stories that have changed; what is paired is taken out of `waiting` */
function pairUnchanged(
  stories: readonly Story[],
  waiting: Story[],
  pair: (story: Story, match: Story) => void,
): readonly Story[] {
  return stories.filter(story => {
    const index = waiting.findIndex(({ done }) => done === story.done);
    const [match] = index === -1 ? [] : waiting.splice(index, 1);
    if (match !== undefined) {
      pair(story, match);
    }
    return match === undefined;
  });
}

/** Pairs reworded stories without ids: what is between the same neighbors is the same, if it is similar or alone. */
function pairInGaps(
  all: readonly Story[],
  { before, after }: Versions,
  found: ReadonlyMap<Story, Story>,
  {
    mayReplace,
    pair,
  }: {
    readonly mayReplace: boolean;
    readonly pair: (story: Story, match: Story) => void;
  },
): void {
  for (const { from, stories, to } of gapsOf(all, new Set(before), found)) {
    const here = after.filter(({ position }) => position > from && position < to);
    const isPaired = new Set<Story>();
    const both = (story: Story, match: Story) => {
      pair(story, match);
      isPaired.add(story).add(match);
    };
    for (const { match, story } of similarPairs(stories, here)) {
      if (!isPaired.has(story) && !isPaired.has(match)) {
        both(story, match);
      }
    }
    const [left, right] = [stories, here].map(side => side.filter(one => !isPaired.has(one)));
    if (!mayReplace && left?.length === right?.length) {
      left?.forEach((story, index) => {
        const match = right?.[index];
        if (match !== undefined) {
          both(story, match);
        }
      });
    }
  }
}

interface Gap {
  readonly stories: readonly Story[];
  /** Positions of the neighbors in the other version, which are not in the gap. */
  readonly from: number;
  readonly to: number;
}

function gapsOf(
  all: readonly Story[],
  open: ReadonlySet<Story>,
  found: ReadonlyMap<Story, Story>,
): Gap[] {
  const gaps: Gap[] = [];
  let stories: Story[] = [];
  let from = -1;
  const close = (to: number) => {
    if (stories.length > 0) {
      gaps.push({ stories, from, to });
    }
    stories = [];
  };
  for (const story of all) {
    const position = found.get(story)?.position;
    if (open.has(story)) {
      stories.push(story);
    } else if (position !== undefined && position > from) {
      close(position);
      from = position;
    }
  }
  close(Number.POSITIVE_INFINITY);
  return gaps;
}

/** The most similar ones first. */
function similarPairs(
  stories: readonly Story[],
  matches: readonly Story[],
): { readonly story: Story; readonly match: Story }[] {
  if (stories.length * matches.length > MAX_COMPARED) {
    return [];
  }
  const words = new Map([...stories, ...matches].map(story => [story, wordsOf(story.title)]));
  return stories
    .flatMap(story =>
      matches.map(match => ({
        story,
        match,
        likeness: likeness(words.get(story) ?? new Set(), words.get(match) ?? new Set()),
      })),
    )
    .filter(({ likeness: value }) => value >= SIMILAR)
    .sort((a, b) => b.likeness - a.likeness);
}

function wordsOf(text: string): ReadonlySet<string> {
  return new Set(text.toLowerCase().match(/[\p{L}\p{N}]+/gu));
}

/** The Jaccard index of two sets: 1 if they are the same, 0 if they have nothing in common. */
function likeness(one: ReadonlySet<string>, other: ReadonlySet<string>): number {
  const common = [...one].filter(word => other.has(word)).length;
  const all = one.size + other.size - common;
  return all === 0 ? 0 : common / all;
}

/** The ids that stories have in a later version of their list, by those that they had; without those that are gone. Pure. */
export function idsNow(
  before: readonly Story[],
  after: readonly Story[],
): ReadonlyMap<string, string> {
  return new Map(matchStories(before, after).pairs.map(pair => [pair.before.id, pair.after.id]));
}

/** A version of a list whose stories without ids have the numbers and places that they have in another one. Pure. */
export function renumberedAs(stories: readonly Story[], other: readonly Story[]): readonly Story[] {
  if (!stories.some(isNumbered)) {
    return stories;
  }
  const now = new Map(matchStories(stories, other).pairs.map(pair => [pair.before, pair.after]));
  return stories.map(story => {
    const { id, position } = now.get(story) ?? story;
    return isNumbered(story) ? { ...story, id, position } : story;
  });
}

/**
 * The same story in another version of its list. Pure.
 * @param before the version that it is from
 * @returns `undefined` if it is gone, or it is not certain which one it is
 */
export function sameStory(
  before: readonly Story[],
  story: Pick<Story, 'epic' | 'id' | 'position' | 'title'>,
  after: readonly Story[],
): Story | undefined {
  const own =
    before.find(({ id, position }) => id === story.id && position === story.position) ??
    before.find(({ id }) => id === story.id);
  return own === undefined
    ? storyNow(after, story)
    : matchStories(before, after).pairs.find(pair => pair.before === own)?.after;
}

export function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) {
    lists.set(key, [value]);
  } else {
    list.push(value);
  }
}

/** Whether a story has no id of its own. */
export function isNumbered({ id, position }: Pick<Story, 'id' | 'position'>): boolean {
  return id === numberId(position);
}

function isNamed(story: Story): boolean {
  return !isNumbered(story);
}

/** The title; empty if it is only the id. */
export function titleOf({ id, title }: Story): string {
  return title === id ? '' : plain(title);
}

/** Cached, because the texts from before an iteration are compared again after it. */
const sayings = new WeakMap<Story, string>();

/** The whole text of a story, to recognize it. */
export function sayingOf(story: Story): string {
  let saying = sayings.get(story);
  if (saying === undefined) {
    saying = JSON.stringify([
      titleOf(story),
      plainLines(story.description),
      story.criteria.map(({ text }) => plain(text)),
    ]);
    sayings.set(story, saying);
  }
  return saying;
}

/** A text with normalized white space. */
export function plain(text: string): string {
  return text.replace(/\s+/g, ' ').trim();
}

export function plainLines(text: string): string {
  return text
    .split(/\r\n|\n|\r/)
    .map(plain)
    .join('\n')
    .trim();
}
