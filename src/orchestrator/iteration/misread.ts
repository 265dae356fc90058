import { decodeText } from '../../base/decodeText.ts';
import { groupBy } from '../../base/groupBy.ts';
import { isNumberId } from '../../base/numberId.ts';
import { englishOf, sentences } from '../../base/say.ts';
import type { StoryNotes } from '../journal/storyNotes.ts';
import type { Scope } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import type { Story, StoryList, StoryProblem } from '../stories/story.ts';
import { readStoryBytes, storyFileHash } from '../stories/storyFile.ts';
import { sharedIdsIn, unreadParts } from '../stories/unreadParts.ts';

/** Where VS Code ends a line. */
const LINE_END = /\r\n|\n|\r/;

/**
 * Says what in the story file is not read as it was meant since an iteration, each kind once.
 * @param bytesBefore of the story file at its start, if they are known
 */
export async function warnOfMisread(
  scope: Scope,
  after: StoryList | undefined,
  bytesBefore: Buffer | undefined,
): Promise<void> {
  const { stories: before } = scope.before;
  if (
    before === undefined ||
    after === undefined ||
    before.hash === after.hash ||
    after.problems.length === 0
  ) {
    return;
  }
  const { storyFile } = scope.place;
  const bytesNow = storyFile === undefined ? undefined : await readStoryBytes(storyFile);
  const found = newProblems(named(before, bytesBefore), named(after, bytesNow));
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

/** A problem with what it is known by in another version of its list, the most exact name first. */
interface NamedProblem {
  readonly problem: StoryProblem;
  readonly names: readonly string[];
}

/** Problems that an earlier version of a list did not have; lines and positions may be others now. */
function newProblems(
  before: readonly NamedProblem[],
  after: readonly NamedProblem[],
): readonly StoryProblem[] {
  const old = new Set(before);
  const left = new Set(after);
  // What has the same name only in part must not take the place of what is the same.
  for (const exactness of (after[0]?.names ?? []).keys()) {
    const nameOf = ({ names }: NamedProblem) => names[exactness] ?? '';
    const groups = [...groupBy([...old], nameOf)];
    const byName = new Map(groups.map(([name, same]) => [name, [...same]]));
    for (const one of left) {
      const same = byName.get(nameOf(one))?.pop();
      if (same !== undefined) {
        old.delete(same);
        left.delete(one);
      }
    }
  }
  return [...left].map(({ problem }) => problem);
}

/** @param bytes of the story file, now or then */
function named(list: StoryList, bytes: Buffer | undefined): readonly NamedProblem[] {
  const byPosition = new Map(list.stories.map(story => [story.position, story]));
  const isOfList = bytes !== undefined && storyFileHash(bytes) === list.hash;
  const lines = isOfList ? decodeText(bytes).text.split(LINE_END) : [];
  return list.problems.map(problem => {
    const { code, file, line, message, subject } = problem;
    const { epic, id = '', status, title } = byPosition.get(subject?.position ?? -1) ?? {};
    // A number is the place of the story.
    const story = isNumberId(id) ? [title, epic] : [id];
    const name = [code, file, story, subject?.ids, code === 'unknownStatus' ? status : ''];
    const said = englishOf(message);
    // Lines of a task in a file of its own are not those of the list.
    const text = file === undefined ? lines[line - 1] : undefined;
    return {
      problem,
      names: [[...name, said, text], [...name, said], name].map(one => JSON.stringify(one)),
    };
  });
}
