import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import type { GitRepository } from '../git/git.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { noStoryFile, readStoryFile } from '../stories/storyFile.ts';

/** The files as they are now; what the loop believes in place of anybody's claim. */
export interface Snapshot {
  /** The last readable state of the story file; absent in free-form mode. */
  readonly stories?: StoryList;
  /** Why the story file cannot be read now, when it cannot; `stories` is then older. */
  readonly storyFileProblem?: string;
  /** HEAD; absent before the first commit. */
  readonly head?: string;
  /** That HEAD is on, '' when it is on none; absent when git cannot be read now. */
  readonly branch?: string;
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
  const [stories, place] = await Promise.all([
    readStories(storyFile, before),
    // A repository that cannot be read for a moment has not lost its commits.
    git.headAndBranch().catch((error: unknown) => ({ problem: messageOf(error) })),
  ]);
  return { ...placeOf(place, before), ...stories };
}

/** The part of {@link readSnapshot} that is not git's. */
export async function readStories(
  storyFile: string | undefined,
  before?: Snapshot,
): Promise<Pick<Snapshot, 'stories' | 'storyFileProblem'>> {
  if (storyFile === undefined) {
    return {};
  }
  const read = await readStoryFile(storyFile);
  if (read?.kind === 'stories') {
    const gone = openStoriesGone(before?.stories, read);
    return gone.length === 0
      ? { stories: read }
      : {
          // Taking a story out of the file is not doing it.
          stories: { ...read, stories: [...read.stories, ...gone] },
          storyFileProblem: say(
            'Stories that were not done are gone from it: {0}.',
            gone.map(({ id }) => id).join(', '),
          ),
        };
  }
  return {
    ...(before?.stories && { stories: before.stories }),
    storyFileProblem: read === undefined ? noStoryFile(storyFile) : problemText(read.problems[0]),
  };
}

function placeOf(
  found: Pick<Snapshot, 'head' | 'branch'> | { readonly problem: string },
  before: Snapshot | undefined,
): Pick<Snapshot, 'head' | 'branch' | 'gitProblem'> {
  if (!('problem' in found)) {
    return found;
  }
  const known = before?.head;
  return { ...(known === undefined ? {} : { head: known }), gitProblem: found.problem };
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
