import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import type { GitRepository } from '../git/git.ts';
import type { Story, StoryFile, StoryList } from '../stories/story.ts';
import { readStoryFileNow } from '../stories/storyFile.ts';

/** The files as they are now; what the loop believes in place of anybody's claim. */
export interface Snapshot {
  /** The last readable state of the story file; absent in free-form mode. */
  readonly stories?: StoryList;
  /** Why the story file cannot be read now, when it cannot; `stories` is then older. */
  readonly storyFileProblem?: string;
  /** HEAD; absent before the first commit. */
  readonly head?: string;
  /** Why git cannot be read now, when it cannot; `head` is then older. */
  readonly gitProblem?: string;
}

/**
 * Reads the files anew.
 * @param storyFile absolute path; absent in free-form mode
 * @param before the snapshot to fall back on when the story file is broken or gone
 */
export async function readSnapshot(
  storyFile: string | undefined,
  git: GitRepository,
  before?: Snapshot,
): Promise<Snapshot> {
  const read = storyFile === undefined ? undefined : readStories(storyFile);
  // A repository that cannot be read for a moment has not lost its commits.
  const head = await git.head().catch((error: unknown) => ({ problem: messageOf(error) }));
  const at = headOf(head, before);
  if (read === undefined) {
    return at;
  }
  if (typeof read !== 'string' && read.kind === 'stories') {
    const gone = openStoriesGone(before?.stories, read);
    return gone.length === 0
      ? { ...at, stories: read }
      : {
          ...at,
          // Taking a story out of the file is not doing it.
          stories: { ...read, stories: [...read.stories, ...gone] },
          storyFileProblem: say(
            'Stories that were not done are gone from it: {0}.',
            gone.map(({ id }) => id).join(', '),
          ),
        };
  }
  return {
    ...at,
    ...(before?.stories && { stories: before.stories }),
    storyFileProblem: typeof read === 'string' ? read : problemText(read.problems[0]),
  };
}

function headOf(
  head: string | { readonly problem: string } | undefined,
  before: Snapshot | undefined,
): Pick<Snapshot, 'head' | 'gitProblem'> {
  const known = typeof head === 'object' ? before?.head : head;
  return {
    ...(known === undefined ? {} : { head: known }),
    ...(typeof head === 'object' ? { gitProblem: head.problem } : {}),
  };
}

function openStoriesGone(before: StoryList | undefined, now: StoryList): Story[] {
  const ids = new Set(now.stories.map(({ id }) => id));
  return (before?.stories ?? []).filter(({ id, done }) => !done && !ids.has(id));
}

function problemText({ message, line }: { message: string; line: number }): string {
  return say('Line {0}: {1}', line, message);
}

/** How many of its stories are done. */
export function storyCountOf({ stories: list }: Snapshot): { done: number; total: number } {
  const stories = list?.stories ?? [];
  return { done: stories.filter(({ done }) => done).length, total: stories.length };
}

/** @returns why, as text, when there is no such file */
function readStories(file: string): StoryFile | string {
  try {
    return readStoryFileNow(file);
  } catch (error) {
    if (error instanceof HumanError) {
      return error.message;
    }
    throw error;
  }
}
