import { onceEach } from '../../base/onceEach.ts';
import type { Story, StoryFile } from './story.ts';

/** The next story to run, or why there is none. */
export type NextStory =
  | { readonly story: Story; readonly reason?: undefined }
  | {
      readonly story?: undefined;
      /**
       * `empty`: the list has no story; `allDone`: every story is done or deferred; `waiting`: the rest waits for
       * dependencies, or none of the selected ones exists; `skipped`: stories are ready, but the caller skips all
       * of them.
       */
      readonly reason: 'empty' | 'allDone' | 'waiting' | 'skipped';
    };

export interface NextStoryOptions {
  /** Keys (`storyKeys`) or ids to skip; an id applies to every story that has it. */
  readonly skip?: ReadonlySet<string>;
  /** Ids of stories that come after all others, lowest number first. */
  readonly last?: ReadonlyMap<string, number>;
  /** Ids of the only stories to consider; others are only used as dependencies. */
  readonly only?: ReadonlySet<string>;
}

/**
 * Selects the next story: not done, not deferred, every dependency done, lowest priority first, ties in file order;
 * those in `last` come after the others. Pure. A dependency is done if every story with its id is; an id that is
 * not in the file is never done.
 */
export function nextStory(stories: readonly Story[], options: NextStoryOptions = {}): NextStory {
  if (stories.length === 0) {
    return { reason: 'empty' };
  }
  const { last, only } = options;
  const chosen = only === undefined ? stories : stories.filter(({ id }) => only.has(id));
  if (chosen.length === 0) {
    return { reason: 'waiting' };
  }
  const open = storiesToDo(stories, only);
  if (open.length === 0) {
    return { reason: 'allDone' };
  }
  const ready = readyAmong(open, stories);
  if (ready.length === 0) {
    return { reason: 'waiting' };
  }
  const skip = options.skip;
  const keys = skip === undefined || skip.size === 0 ? undefined : storyKeys(stories);
  let best: Story | undefined;
  for (const story of ready) {
    const skipped = skip?.has(story.id) === true || skip?.has(keys?.get(story) ?? '') === true;
    if (!skipped && (best === undefined || isBefore(story, best, last))) {
      best = story;
    }
  }
  return best === undefined ? { reason: 'skipped' } : { story: best };
}

/**
 * The open stories whose turn has come, in the order of the file, also those that wait for others.
 * @param only ids of the chosen ones: only these, and their turn need not have come
 */
export function storiesToDo(
  stories: readonly Story[],
  only?: ReadonlySet<string>,
): readonly Story[] {
  return stories.filter(
    story =>
      only?.has(story.id) !== false && !story.done && !isPassedOver(story, only !== undefined),
  );
}

/**
 * Whether no agent works on an open story because of its file.
 * @param isChosen whether a person has chosen it, so that its turn need not have come
 */
export function isPassedOver(
  { afterTag, parked }: Pick<Story, 'afterTag' | 'parked'>,
  isChosen: boolean,
): boolean {
  return parked === true && !(isChosen && afterTag !== undefined);
}

/**
 * The stories that can be worked on at the same time now: open, not deferred, with no open dependency. None of them
 * waits for another one of them, also not by a chain. Pure.
 */
export function readyStories(stories: readonly Story[]): readonly Story[] {
  return readyAmong(
    stories.filter(({ done, parked }) => !done && parked !== true),
    stories,
  );
}

/** Whether a file has stories that are left to do; one that cannot be read may have them. */
export function hasOpenStories(file: StoryFile): boolean {
  return (
    file.kind === 'invalid' || file.stories.some(({ done, parked }) => !done && parked !== true)
  );
}

function readyAmong(open: readonly Story[], stories: readonly Story[]): readonly Story[] {
  const done = doneIds(stories);
  const areDone = onceEach((ids: readonly string[]) => ids.every(id => done.has(id)));
  return open.filter(({ dependsOn }) => areDone(dependsOn));
}

/**
 * The dependencies that block a story: ids that are not done, or not in the file. In the story's order.
 * @param done from {@link doneIds} of its file
 */
export function openDependencies(story: Story, done: ReadonlySet<string>): string[] {
  return story.dependsOn.filter(id => !done.has(id));
}

/** A unique name for each story: its id, or `id (#n)` by position if the file repeats an id. */
export function storyKeys(stories: readonly Story[]): ReadonlyMap<Story, string> {
  const counts = new Map<string, number>();
  for (const { id } of stories) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return new Map(
    stories.map(story => [
      story,
      counts.get(story.id) === 1 ? story.id : `${story.id} (#${story.position + 1})`,
    ]),
  );
}

/** The ids whose stories are all done. */
export function doneIds(stories: readonly Story[]): ReadonlySet<string> {
  const done = new Set(stories.map(story => story.id));
  for (const story of stories) {
    if (!story.done) {
      done.delete(story.id);
    }
  }
  return done;
}

function isBefore(story: Story, other: Story, last: NextStoryOptions['last']): boolean {
  const [turn, otherTurn] = [story, other].map(
    ({ id }) => last?.get(id) ?? Number.NEGATIVE_INFINITY,
  );
  return turn === otherTurn ? rank(story) < rank(other) : Number(turn) < Number(otherTurn);
}

function rank(story: Story): number {
  return story.priority ?? Number.POSITIVE_INFINITY;
}
