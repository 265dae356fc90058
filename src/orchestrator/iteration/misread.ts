import { englishOf, sentences } from '../../base/say.ts';
import type { StoryNotes } from '../journal/storyNotes.ts';
import type { Scope } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import type { Story, StoryList, StoryProblem } from '../stories/story.ts';
import { sharedIdsIn, unreadParts } from '../stories/unreadParts.ts';

/** Says what in the story file is not read as it was meant since an iteration, each kind once. */
export function warnOfMisread(scope: Scope, after: StoryList | undefined): void {
  const { stories: before } = scope.before;
  if (before === undefined || after === undefined || before.hash === after.hash) {
    return;
  }
  const found = newProblems(before, after);
  // Of what a lane writes into the file, only the mark of its own story is taken over.
  const problems = scope.lane === undefined ? found : stateProblems(found, after, scope.story?.id);
  for (const { message, next } of unreadParts({ ...after, problems })) {
    warn(scope, 'storiesMisread', sentences([message, next]));
  }
}

/**
 * What the agent of a story has to know about it.
 * @param notes of the story, if the file is not the one that its last agent left
 */
export function misreadOf(
  list: StoryList | undefined,
  story: Story | undefined,
  notes?: StoryNotes,
): { readonly misread?: readonly string[]; readonly sharedIds?: readonly string[] } {
  const own = list === undefined ? [] : stateProblems(list.problems, list, story?.id);
  const written = notes?.misread;
  const told = written?.iteration === notes?.lastIteration?.number ? written?.details : undefined;
  const misread = [...own.map(({ message }) => message), ...(told ?? [])].map(englishOf);
  const sharedIds = list === undefined ? [] : sharedIdsIn(list);
  return {
    ...(misread.length > 0 && { misread }),
    ...(sharedIds.length > 0 && { sharedIds }),
  };
}

/** That it is not known whether a story is done. */
function stateProblems(
  problems: readonly StoryProblem[],
  { stories }: StoryList,
  storyId: string | undefined,
): readonly StoryProblem[] {
  const own = new Set(stories.flatMap(({ id, position }) => (id === storyId ? position : [])));
  return problems.filter(
    ({ code, subject }) =>
      (code === 'unknownStatus' || code === 'misspelledStatus') && own.has(subject?.position ?? -1),
  );
}

/** Problems that an earlier version of a list did not have; lines and positions may be others now. */
function newProblems(before: StoryList, after: StoryList): readonly StoryProblem[] {
  const left = new Map<string, number>();
  const names = namesIn(before);
  for (const problem of before.problems) {
    const name = names(problem);
    left.set(name, (left.get(name) ?? 0) + 1);
  }
  const namesNow = namesIn(after);
  return after.problems.filter(problem => {
    const name = namesNow(problem);
    const count = left.get(name) ?? 0;
    left.set(name, count - 1);
    return count <= 0;
  });
}

/** What a problem is known by in another version of its list. */
function namesIn({ stories }: StoryList): (problem: StoryProblem) => string {
  const byPosition = new Map(stories.map(story => [story.position, story]));
  return ({ code, file, subject }) => {
    const { id, status } = byPosition.get(subject?.position ?? -1) ?? {};
    return JSON.stringify([code, file, id, subject?.ids, code === 'unknownStatus' ? status : '']);
  };
}
