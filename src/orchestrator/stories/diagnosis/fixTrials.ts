import { isDeepStrictEqual } from 'node:util';
import { applyEdits, type Edit } from 'jsonc-parser';
import type { Story, StoryList, StoryProblem } from '../story.ts';
import { parseStoryFile } from '../storyFile.ts';
import type { StoryFix } from './storyDiagnosis.ts';

/** The story file that the fixes are for. */
interface TriedFile {
  readonly list: StoryList;
  readonly text: string;
}

/** A fix that was not tried yet. */
export interface Candidate extends Pick<StoryFix, 'isClear' | 'kind' | 'values'> {
  readonly edits: readonly (Edit | undefined)[];
  /** What the story is with it; the same as before if absent. */
  readonly becomes?: (story: Story, now: Story) => Story;
  /** Ids that others may begin or stop to wait for, because they wait for what the story waits for. */
  readonly touched?: readonly string[];
}

/** A candidate with its problem. */
export interface Trial extends Candidate {
  readonly edits: readonly Edit[];
  readonly problem: StoryProblem;
}

/** How often a text is read again, at most, to find the fixes that can be applied together. */
const MAX_TRIES = 20;

/** Those trials that can be applied together: all of them, or else what can be added to those before. */
export function exactTrials(file: TriedFile, trials: readonly Trial[]): readonly Trial[] {
  let tries = MAX_TRIES;
  let exact: readonly Trial[] = [];
  const add = (some: readonly Trial[]): void => {
    tries -= 1;
    if (some.length === 0 || tries < 0) {
      return;
    }
    const more = [...exact, ...some];
    if (areExact(file, more)) {
      exact = more;
    } else if (some.length > 1) {
      const half = Math.ceil(some.length / 2);
      add(some.slice(0, half));
      add(some.slice(half));
    }
  };
  add(trials);
  return exact;
}

/** Whether all of these together do what each says, and nothing else. */
export function areExact({ list, text }: TriedFile, trials: readonly Trial[]): boolean {
  const edits = trials.flatMap(trial => trial.edits);
  const after = parseStoryFile(list.path, applyEdits(text, edits));
  if (after.kind !== 'stories' || after.stories.length !== list.stories.length) {
    return false;
  }
  const touched = new Set(trials.flatMap(trial => trial.touched ?? []));
  const own = new Map<number | undefined, Trial[]>();
  for (const trial of trials) {
    const { position } = trial.problem.subject ?? {};
    own.set(position, [...(own.get(position) ?? []), trial]);
  }
  return (
    isSolved(trials, list.problems, after.problems) &&
    list.stories.every((story, index) => {
      const now = after.stories[index] as Story;
      const fixes = own.get(story.position);
      const then = (fixes ?? []).reduce((one, { becomes }) => becomes?.(one, now) ?? one, story);
      return isSame(then, now, fixes === undefined ? touched : new Set());
    })
  );
}

/** Whether each problem is gone, and no other one has come. Behind a cycle there may be one that could not be seen. */
function isSolved(
  trials: readonly Trial[],
  before: readonly StoryProblem[],
  after: readonly StoryProblem[],
): boolean {
  const cycles = trials.filter(({ problem }) => isCycle(problem));
  const left = new Set(after.filter(isCycle).map(wordsOf));
  return (
    weightOf(after) + trials.length - cycles.length <= weightOf(before) &&
    (cycles.length > 0 || left.size <= before.filter(isCycle).length) &&
    cycles.every(({ problem }) => !left.has(wordsOf(problem)))
  );
}

function isCycle({ code }: StoryProblem): boolean {
  return code === 'circularDependency';
}

function wordsOf({ subject }: StoryProblem): string {
  return JSON.stringify(subject?.ids);
}

/** The number of problems without cycles; one that names several unknown ids is as many. */
function weightOf(problems: readonly StoryProblem[]): number {
  return problems
    .filter(problem => !isCycle(problem))
    .reduce(
      (sum, { code, subject }) =>
        sum + (code === 'unknownDependency' ? (subject?.ids.length ?? 1) : 1),
      0,
    );
}

/** Whether nothing but lines, which are counted from the start, and these ids differ. */
function isSame(a: Story, b: Story, touched: ReadonlySet<string>): boolean {
  const [one, other] = [a, b].map(story => ({
    ...{ ...story, line: 0 },
    dependsOn: story.dependsOn.filter(id => !touched.has(id)),
  }));
  return isDeepStrictEqual(one, other);
}
