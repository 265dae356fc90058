import { groupBy } from '../../../base/groupBy.ts';
import { numberId } from '../../../base/numberId.ts';
import { once } from '../../../base/once.ts';
import { type Message, say } from '../../../base/say.ts';
import { appendItem } from '../edit/planAddition.ts';
import { moveItem } from '../edit/planMove.ts';
import { nextItem } from '../edit/planNumber.ts';
import type { Story, StoryProblem } from '../story.ts';
import { duplicateIds, findStoryProblems } from '../storyProblems.ts';
import { asideWords, itemsAround, struckText } from './asideItems.ts';
import { allHidden, unclosedProblem } from './hiddenItems.ts';
import { idInText } from './idInText.ts';
import { indentOf, type MarkdownLine, readMarkdown } from './markdownBlocks.ts';
import { plainText } from './plainText.ts';
import { readHeadings } from './planHeadings.ts';
import { notItems } from './planStrays.ts';
import { type StoryFormat, type StoryText, uniqueIds } from './storyFormat.ts';
import { NUMBERED_TASK, withoutBox } from './tasksWithoutBox.ts';
import type { TextLines } from './textLines.ts';
import { isTicked } from './tickMark.ts';

/** A Markdown file whose checkboxes are the stories. */
export const plan: StoryFormat = {
  name: 'plan',
  read: (text, lines) => read(text, lines, idInText, say('Write each story as "- [ ] …".')),
};

/** A `tasks.md`: what is added gets the next number. */
export const tasksPlan = numbered(say('Write each story as "- [ ] …".'));

/** The tasks of Spec Kit. */
export const specKitPlan = numbered(
  say('Let Spec Kit write its tasks (/speckit.tasks), or add one in its form: "- [ ] T001 …".'),
);

/** The tasks of OpenSpec. */
export const openSpecPlan = numbered(
  say('Let OpenSpec write the tasks of this change, or add one in its form: "- [ ] 1.1 …".'),
);

/** The tasks of Kiro: a task with parts is done after its parts, also if it stands above them. */
export const kiroPlan = numbered(
  say('Let Kiro write the tasks of this specification, or add one in its form: "- [ ] 1. …".'),
  { partsFirst: true },
);

function numbered(fix: Message, how: { readonly partsFirst?: boolean } = {}): StoryFormat {
  return {
    name: 'plan',
    read: (text, lines) => read(text, lines, idInText, fix, { ...how, isNumbered: true }),
  };
}

/** An index of specifications: each checkbox is a specification to write or to implement. */
export const specsIndex: StoryFormat = {
  name: 'specsIndex',
  read: (text, lines) =>
    read(
      text,
      lines,
      line => specificationName(line) ?? idInText(line),
      say('Write each specification that is to be worked on as "- [ ] `specs/name.md` …".'),
    ),
};

type CheckboxLine = Extract<MarkdownLine, { kind: 'checkbox' }>;

/** Marks with a common meaning; any other one means "not done", and is reported. `-` is Kiro's for work in progress. */
const MARK_STATUS: ReadonlyMap<string, string> = new Map([
  ['~', 'in_progress'],
  ['/', 'in_progress'],
  ['-', 'in_progress'],
  ['!', 'blocked'],
]);

function read(
  text: string,
  lines: TextLines,
  idOf: (text: string) => string | undefined,
  fix: Message,
  {
    isNumbered = false,
    partsFirst = false,
  }: { readonly isNumbered?: boolean; readonly partsFirst?: boolean } = {},
): StoryText | StoryProblem {
  const markdown = readMarkdown(text);
  const found = markdown.lines.flatMap((line, index) =>
    line.kind === 'checkbox' ? [{ line, index }] : [],
  );
  const hidden = markdown.unclosed && unclosedProblem(markdown.unclosed, lines);
  if (found.length === 0) {
    const message = say(
      'The file has no checkbox with a text outside code fences and comments. {0}',
      fix,
    );
    const [almost] = notItems(markdown.lines, false);
    return (
      hidden ??
      (almost && { ...almost, code: 'noStories', isPlaced: true }) ??
      allHidden(markdown.hiding, lines, fix) ?? {
        code: 'noStories',
        message,
        line: 1,
        column: 1,
      }
    );
  }
  const struck = found.map(({ line }) => struckText(line.checkbox.text));
  const written = found.map(({ line }, position) => idOf(struck[position] ?? line.checkbox.text));
  const ids = idsOf(
    written,
    struck.map(text => text !== undefined),
  );
  const items = found.map(({ line }) => line);
  const aside = asideWords(items.map(({ checkbox }) => checkbox));
  const parts = partsFirst ? partsOf(items, ids, aside) : [];
  const headings = readHeadings(markdown.lines);
  const stories = found.map(({ line, index }, position) =>
    readItem(line, markdown.lines.slice(index + 1, found[position + 1]?.index), {
      id: ids[position],
      epic: headings.epics[index],
      position,
      parts: parts[position] ?? [],
      aside: aside[position],
    }),
  );
  const placeOf = ({ line }: Story) => ({ line, column: 1 });
  const codes = stories.flatMap((story, position) => {
    const id = written[position] ?? '';
    const isCode = NUMBERED_TASK.test(id) && idInText(story.title) === id;
    return isCode && ids[position] === undefined && struck[position] === undefined
      ? { ...story, id }
      : [];
  });
  const strays = notItems(markdown.lines, true);
  const told = new Set(strays.map(({ line }) => line));
  const problems = findStoryProblems(stories, placeOf, [
    // None of these stories is called by its id. Numbers may begin anew below each heading, and P1 is often a priority.
    ...duplicateIds(
      groupBy(codes, ({ id }) => id),
      placeOf,
    ),
    ...strays,
    ...withoutBox(markdown.lines, written).filter(({ line }) => !told.has(line)),
    ...found.flatMap(({ line }, position) => unknownMark(line, position, lines)),
  ]);
  const next = once(() =>
    nextItem(
      markdown.lines,
      found.map(({ index, line }, position) => ({
        ...{ index, line, id: written[position], isNamed: ids[position] !== undefined },
        isDone: isTicked(line.checkbox.mark),
      })),
    ),
  );
  return {
    heading: { project: headings.title, branchName: '', description: '' },
    stories,
    problems: hidden === undefined ? problems : [...problems, hidden],
    edits: ({ position }, done) => {
      const checkbox = found[position]?.line.checkbox;
      return checkbox === undefined
        ? []
        : [
            {
              offset: checkbox.markOffset,
              length: checkbox.mark.length,
              content: done ? tickMark(found.map(({ line }) => line)) : ' ',
            },
          ];
    },
    nextId: () => (isNumbered ? next()?.id : undefined),
    add: story => {
      const numbered = isNumbered ? next() : undefined;
      const last = numbered?.last ?? found.at(-1)?.index ?? 0;
      return appendItem(text, markdown.lines, last, story, numbered);
    },
    parts: {
      field: (position, key) => {
        const checkbox = found[position]?.line.checkbox;
        const { mark = '', markOffset = 0 } = key === undefined ? (checkbox ?? {}) : {};
        const span = { start: markOffset - 1, end: markOffset + mark.length + 1 };
        const write = (content: string) => ({
          offset: span.start,
          length: mark.length + 2,
          content,
        });
        return mark === '' ? undefined : { span, whole: span, write };
      },
      // Those of Kiro follow from the indentation.
      dependencies: () => [],
      openWord: '[ ]',
    },
    spanOf: position => {
      const line = found[position]?.line;
      const start = line === undefined ? 0 : lines.offsetOf({ line: line.line, column: 1 });
      return { start, end: start + (line?.text.length ?? 0) };
    },
    move: (story, target, side) =>
      moveItem(
        text,
        markdown.lines,
        found.map(({ index }) => index),
        [story.position, target.position, side],
      ),
  };
}

/** The id of each item, if no other has it. An old item that is struck through leaves its id to the one in its place. */
function idsOf(
  written: readonly (string | undefined)[],
  isStruck: readonly boolean[],
): readonly (string | undefined)[] {
  const all = uniqueIds(written);
  const live = uniqueIds(written.map((id, position) => (isStruck[position] ? undefined : id)));
  return written.map((_, position) => (isStruck[position] ? all : live)[position]);
}

function unknownMark(
  { checkbox: { mark, markOffset } }: CheckboxLine,
  position: number,
  lines: TextLines,
): StoryProblem[] {
  return mark.trim() === '' || isTicked(mark) || MARK_STATUS.has(mark)
    ? []
    : [
        {
          code: 'unknownStatus',
          message: say(
            'The mark "{0}" is not known here, so the item counts as not done. Write "[x]" if it is done, and "[ ]" if it is not.',
            plainText(mark),
          ),
          ...lines.at(markOffset),
          subject: { position, ids: [] },
        },
      ];
}

function readItem(
  line: CheckboxLine,
  below: readonly MarkdownLine[],
  facts: {
    readonly id: string | undefined;
    readonly epic: string | undefined;
    readonly position: number;
    readonly parts: readonly string[];
    readonly aside: string | undefined;
  },
): Story {
  const { mark, indent } = line.checkbox;
  const text = struckText(line.checkbox.text) ?? line.checkbox.text;
  const done = isTicked(mark);
  const body = bodyOf(below, indent);
  return {
    id: facts.id ?? numberId(facts.position),
    title: text,
    description: body === '' ? '' : `${text}\n${body}`,
    criteria: [],
    done,
    status: done ? undefined : (facts.aside ?? MARK_STATUS.get(mark)),
    parked: (!done && facts.aside !== undefined) || undefined,
    dependsOn: facts.parts,
    epic: facts.epic,
    position: facts.position,
    line: line.line,
  };
}

/** The ids of the checkboxes directly below each one, without those that are optional or put aside. */
function partsOf(
  lines: readonly CheckboxLine[],
  ids: readonly (string | undefined)[],
  aside: readonly (string | undefined)[],
): readonly (readonly string[])[] {
  const parts: string[][] = lines.map(() => []);
  const around = itemsAround(lines.map(({ checkbox }) => checkbox));
  lines.forEach(({ text }, position) => {
    if (!isOptionalItem(text) && aside[position] === undefined) {
      parts[around[position] ?? -1]?.push(ids[position] ?? numberId(position));
    }
  });
  return parts;
}

/** Whether the line of an item has Kiro's mark of a task that need not be done. */
export function isOptionalItem(line: string): boolean {
  return /^[^\]]*\[[^\]]+\]\*/u.test(line);
}

/** The mark that the file uses for ticks. */
function tickMark(lines: readonly CheckboxLine[]): string {
  const marks = lines.map(({ checkbox }) => checkbox.mark);
  return marks.includes('X') && !marks.includes('x') ? 'X' : 'x';
}

/**
 * The text below an item's line that belongs to it: everything indented deeper, up to a heading or the next
 * checkbox.
 */
function bodyOf(below: readonly MarkdownLine[], indent: number): string {
  const body: string[] = [];
  for (const line of below) {
    const ends = line.kind === 'plain' && line.isHidden ? false : indentOf(line.text) <= indent;
    if (line.kind !== 'plain' || (line.text.trim() !== '' && ends)) {
      break;
    }
    body.push(line.text.trimEnd());
  }
  const margin = body.reduce(
    (least, line) => (line === '' ? least : Math.min(least, leadingSpace(line))),
    Number.POSITIVE_INFINITY,
  );
  return body
    .map(line => line.slice(Math.min(margin, leadingSpace(line))))
    .join('\n')
    .replace(/^\n+/, '')
    .trimEnd();
}

function leadingSpace(line: string): number {
  return line.length - line.trimStart().length;
}

/** The name of the specification file at the start of a text, without folder and extension. */
function specificationName(text: string): string | undefined {
  const [, code, link] = /^(?:\*\*|__)?(?:`([^`]+)`|\[[^\]]*\]\(([^)\s]+)[^)]*\))/.exec(text) ?? [];
  return /([^\\/]+)\.md$/i.exec(code ?? link ?? '')?.[1];
}
