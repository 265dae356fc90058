import { saidOf } from '../../base/messageOf.ts';
import { isNumberId } from '../../base/numberId.ts';
import { type Message, say, type Words } from '../../base/say.ts';
import type { GitRepository, Head } from '../git/git.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { noStoryFile, problemWords, readStoryFile } from '../stories/storyFile.ts';

/** The current state of the files, which the loop trusts more than any claim. */
export interface Snapshot {
  /** The last readable version of the story file; absent in free-form mode. */
  readonly stories?: StoryList;
  /** Ids among them that are not in the file any more although they were not done; absent if there are none. */
  readonly gone?: readonly string[];
  /** Why the story file cannot be read now, if so; `stories` is then older. */
  readonly storyFileProblem?: Message;
  /** HEAD; absent before the first commit. */
  readonly head?: string;
  /** The current branch, '' for a detached HEAD; absent if git cannot be read now. */
  readonly branch?: string;
  /** Why git cannot be read now, if so; `head` is then older. */
  readonly gitProblem?: Words;
}

/**
 * Reads the files again.
 * @param storyFile absolute path; absent in free-form mode
 * @param before the previous snapshot, used if the story file is broken or gone
 * @param head where HEAD is, if it has been asked for
 */
export async function readSnapshot(
  storyFile: string | undefined,
  git: GitRepository,
  before?: Snapshot,
  head: Promise<Head> = git.headAndBranch(),
): Promise<Snapshot> {
  const [stories, place] = await Promise.all([
    readStories(storyFile, before),
    // A repository that is temporarily unreadable has not lost its commits.
    head.catch((error: unknown) => ({ problem: saidOf(error) })),
  ]);
  return { ...placeOf(place, before), ...stories };
}

/** The part of {@link readSnapshot} without git. */
export async function readStories(
  storyFile: string | undefined,
  before?: Snapshot,
): Promise<Pick<Snapshot, 'gone' | 'stories' | 'storyFileProblem'>> {
  if (storyFile === undefined) {
    return {};
  }
  const read = await readStoryFile(storyFile);
  if (read?.kind === 'stories') {
    const gone = openStoriesGone(before?.stories, read);
    return gone.length === 0
      ? { stories: read, gone: undefined, storyFileProblem: undefined }
      : {
          // Removing a story from the file does not complete it.
          stories: { ...read, stories: [...read.stories, ...gone] },
          gone: gone.map(({ id }) => id),
          storyFileProblem: say(
            'Stories that were not done are gone from it: {0}.',
            gone.map(({ id }) => id).join(', '),
          ),
        };
  }
  return {
    stories: before?.stories,
    gone: undefined,
    storyFileProblem: read === undefined ? noStoryFile(storyFile) : problemWords(read.problems[0]),
  };
}

/**
 * Without the stories that a person has removed from the file.
 * @param then the stories that were in it @param now those that are in it
 */
export function withoutRemoved(
  snapshot: Snapshot,
  then: StoryList | undefined,
  now: StoryList | undefined,
): Snapshot {
  const { stories: list } = snapshot;
  const removed = new Set(now && openStoriesGone(then, now).map(({ id }) => id));
  return list === undefined || removed.size === 0
    ? snapshot
    : {
        ...snapshot,
        stories: { ...list, stories: list.stories.filter(({ id }) => !removed.has(id)) },
      };
}

function placeOf(
  found: Head | { readonly problem: Words },
  before: Snapshot | undefined,
): Pick<Snapshot, 'head' | 'branch' | 'gitProblem'> {
  if (!('problem' in found)) {
    return { head: found.head, branch: found.branch };
  }
  const known = before?.head;
  return { head: known, gitProblem: found.problem };
}

function openStoriesGone(before: StoryList | undefined, now: StoryList): Story[] {
  const ids = new Set(now.stories.map(({ id }) => id));
  const titles = new Set(now.stories.map(({ title }) => title));
  // One without an id of its own may only have another number now.
  return (before?.stories ?? []).filter(
    ({ done, id, title }) => !done && !ids.has(id) && !(isNumberId(id) && titles.has(title)),
  );
}

/** The number of done stories, and of all stories. */
export function storyCountOf({ stories: list }: Snapshot): { done: number; total: number } {
  const stories = list?.stories ?? [];
  return { done: stories.filter(({ done }) => done).length, total: stories.length };
}
