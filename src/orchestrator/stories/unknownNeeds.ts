import path from 'node:path';
import { groupBy } from '../../base/groupBy.ts';
import { onceEach } from '../../base/onceEach.ts';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { StoryParts } from './formats/storyFormat.ts';
import type { TextLines } from './formats/textLines.ts';
import { storiesToDo } from './select.ts';
import type { Story, StoryProblem } from './story.ts';

/** Of an id in a message, in UTF-16 units. */
const MAX_ID = 80;
/** Maximum number of ids in a message. */
const MAX_NAMED = 5;

/** An open story that waits for one that its list does not have, so that it can never start. */
export interface WaitsUnknown {
  readonly id: string;
  /** The id that no story has, as the file writes it. */
  readonly on: string;
  /** Further such ids. */
  readonly others?: readonly string[] | undefined;
  /** If the source is a folder: the story's own file, from there. */
  readonly file?: string | undefined;
  /** Where the file says that it waits; that of the story if this is not known. 1-based. */
  readonly line: number;
}

/**
 * Which stories that are left to do wait like this, in the order of the list. Pure.
 * @param problems of the list, for the lines
 * @param only ids of the chosen stories, as in {@link storiesToDo}
 */
export function waitsForUnknown(
  stories: readonly Story[],
  problems: readonly StoryProblem[],
  only?: ReadonlySet<string>,
): readonly WaitsUnknown[] {
  const known = new Set(stories.map(({ id }) => id));
  const placed = groupBy(
    problems.filter(({ code }) => code === 'unknownDependency'),
    ({ subject }) => subject?.position ?? -1,
  );
  const unknownIn = onceEach((ids: readonly string[]) => ids.filter(id => !known.has(id)));
  return storiesToDo(stories, only).flatMap(story => {
    const { dependsOn, file, id, position } = story;
    const unknown = unknownIn(dependsOn);
    const [on, ...others] = unknown.map(need => writtenNeed(story, need));
    const place = placed
      .get(position)
      ?.find(({ subject }) => subject?.ids.includes(unknown[0] ?? '') === true);
    const line = place?.line ?? story.line;
    return on === undefined ? [] : [{ id, on, ...(others.length > 0 && { others }), file, line }];
  });
}

/** How the file names what a story waits for and no story has. */
export function writtenNeed({ asWritten }: Pick<Story, 'asWritten'>, need: string): string {
  return asWritten?.get(need) ?? need;
}

/** What a story waits for, where that is written, and the next step. @param list path of the story file */
export function unknownWords(
  { file, id, line, on, others = [] }: WaitsUnknown,
  list: string,
): Message {
  const needs = [on, ...others];
  const named = needs.slice(0, MAX_NAMED).map(need => shorten(need, MAX_ID));
  const words = [
    shorten(id, MAX_ID),
    named.join(', '),
    `${file ?? path.basename(list)}:${line}`,
  ] as const;
  // Such a text may name several stories that are there.
  return needs.some(need => /[,;]/.test(need))
    ? say(
        '{0} waits for {1}, which is no id in the story file ({2}): write several ids as a list, or correct it.',
        ...words,
      )
    : say(
        '{0} waits for {1}, which the story file does not have ({2}): correct the id, or remove it.',
        ...words,
      );
}

/**
 * Problems of a list, each unknown dependency on the line where it is written: the readers of formats know no more than
 * where its key is.
 */
export function placedNeeds(
  problems: readonly StoryProblem[],
  parts: StoryParts | undefined,
  lines: TextLines,
): readonly StoryProblem[] {
  const placed = problems.map(problem => {
    const { code, file, subject } = problem;
    if (code !== 'unknownDependency' || file !== undefined || subject === undefined) {
      return problem;
    }
    const part = parts?.dependencies(subject.position).find(({ id }) => subject.ids.includes(id));
    const place = part && lines.at(part.span.start);
    return place === undefined || place.line === problem.line ? problem : { ...problem, ...place };
  });
  return placed.every((problem, index) => problem === problems[index])
    ? problems
    : placed.sort((a, b) => a.line - b.line || a.column - b.column);
}
