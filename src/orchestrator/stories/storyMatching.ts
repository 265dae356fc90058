import { numberId } from '../../base/numberId.ts';
import type { Story } from './story.ts';

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

/** Finds each previous story again, by its id, otherwise by its text. */
export function matchStories(before: readonly Story[], after: readonly Story[]): Matching {
  const found = new Map<Story, Story>();
  const taken = new Set<Story>();
  // A number is not an id: it belongs to whichever story is at that position now.
  const group = (story: Story) => (isNumbered(story) ? '#' : `=${story.id}`);
  const passes: readonly ((story: Story) => string)[] = [
    story => JSON.stringify([group(story), sayingOf(story)]),
    story => JSON.stringify([group(story), titleOf(story)]),
    story => story.id,
  ];
  for (const keyOf of passes) {
    const waiting = new Map<string, Story[]>();
    // In reverse, because the last item of a list is taken first.
    for (const story of after.filter(candidate => !taken.has(candidate)).reverse()) {
      addTo(waiting, keyOf(story), story);
    }
    for (const story of before) {
      const match = found.has(story) ? undefined : waiting.get(keyOf(story))?.pop();
      if (match !== undefined) {
        found.set(story, match);
        taken.add(match);
      }
    }
  }
  return {
    pairs: before.flatMap(story => {
      const match = found.get(story);
      return match === undefined ? [] : [{ before: story, after: match }];
    }),
    removed: before.filter(story => !found.has(story)),
    added: after.filter(story => !taken.has(story)),
  };
}

export function addTo<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list === undefined) {
    lists.set(key, [value]);
  } else {
    list.push(value);
  }
}

function isNumbered({ id, position }: Story): boolean {
  return id === numberId(position);
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
