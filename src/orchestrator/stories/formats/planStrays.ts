import { say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import {
  indentOf,
  isAlmostCheckbox,
  isBehindComment,
  isBoxBelow,
  isTextBelow,
  type MarkdownLine,
  secondBox,
} from './markdownBlocks.ts';
import { TICK } from './tasksWithoutBox.ts';

/** Lines that look like checkboxes and are not read: a list must not become shorter without a word. */
export function notItems(lines: readonly MarkdownLine[], hasCheckboxes: boolean): StoryProblem[] {
  const numbers = numbersWithoutBox(lines);
  return lines.flatMap((line, index): StoryProblem[] => {
    const found =
      line.kind === 'checkbox'
        ? secondOn(line)
        : (oddBox(lines, index, hasCheckboxes) ?? withoutBox(line, numbers.get(index)));
    return found === undefined ? [] : [{ code: 'notAStory', line: line.line, ...found }];
  });
}

type Found = Pick<StoryProblem, 'message' | 'column'>;

function secondOn({
  checkbox: { markOffset },
  offset,
  text,
}: Extract<MarkdownLine, { kind: 'checkbox' }>): Found | undefined {
  const start = markOffset - offset;
  const second = secondBox(text.slice(start));
  return second === -1
    ? undefined
    : {
        message: say(
          'A second checkbox is on this line, so it is not read. Write each checkbox on a line of its own.',
        ),
        column: start + second + 1,
      };
}

function oddBox(
  lines: readonly MarkdownLine[],
  index: number,
  hasCheckboxes: boolean,
): Found | undefined {
  const line = lines[index] as MarkdownLine;
  const isBelow = isTextBelow(line, lines.slice(index + 1, index + 3));
  const isApart = isBoxBelow(line, lines[index + 1]);
  const isHidden = line.kind === 'plain' && line.isHidden;
  const isItem = isHidden
    ? isBehindComment(line)
    : (isBelow || isApart || isAlmostCheckbox(line, hasCheckboxes)) && !isTableRow(lines, index);
  if (!isItem) {
    return undefined;
  }
  const text = isApart ? (lines[index + 1]?.text ?? '') : line.text;
  const start = (isHidden && line.visibleFrom) || (/^[\t ]*/.exec(line.text)?.[0].length ?? 0);
  const mark = TICK.test(text.slice(isApart ? 0 : start)) ? '- [x]' : '- [ ]';
  return {
    message: isBelow
      ? say(
          'The text of this checkbox is below it, so it is not read. Write it on this line: "{0} …".',
          mark,
        )
      : say('This looks like a checkbox, but is not read as one. Write it as "{0} …".', mark),
    column: start + 1,
  };
}

/** @param number of the line in a list with items, as it is written */
function withoutBox({ text }: MarkdownLine, number: string | undefined): Found | undefined {
  return number === undefined
    ? undefined
    : {
        message: say(
          'This line is in a numbered list of tasks, but has no checkbox, so it is not read. Write it as "{0} …".',
          `${number} ${TICK.test(text) ? '[x]' : '[ ]'}`,
        ),
        column: text.search(/\d/) + 1,
      };
}

/** A table may have rows without a bar at their start. */
function isTableRow(lines: readonly MarkdownLine[], index: number): boolean {
  const hasBar = (at: number) => lines[at]?.text.includes('|') === true;
  return hasBar(index) && (hasBar(index - 1) || hasBar(index + 1));
}

const NUMBERED = /^[\t ]*(\d{1,9})([.)])[\t ]+(?=\S)/;

/** A line of a numbered list. */
interface Numbered {
  readonly index: number;
  readonly indent: number;
  readonly number: number;
  /** With what stands behind it, such as `3.` */
  readonly written: string;
  readonly isItem: boolean;
}

/**
 * The lines without a checkbox in numbered lists that have items, and how their numbers are written. The lines of a list
 * have one indentation and consecutive numbers, or all the same; no heading and no other text stands between them.
 */
function numbersWithoutBox(lines: readonly MarkdownLine[]): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  let list: Numbered[] = [];
  const end = () => {
    for (const { index, isItem, written } of list.some(one => one.isItem) ? list : []) {
      if (!isItem) {
        found.set(index, written);
      }
    }
    list = [];
  };
  lines.forEach((line, index) => {
    const last = list.at(-1);
    const indent = indentOf(line.text);
    const isBelow = last !== undefined && indent > last.indent;
    if (line.text.trim() === '' || isBelow || (line.kind === 'plain' && line.isHidden)) {
      return;
    }
    const [start = '', digits, behind = ''] =
      line.kind === 'heading' ? [] : (NUMBERED.exec(line.text) ?? []);
    const number = Number(digits);
    const isNext = last?.indent === indent && [last.number, last.number + 1].includes(number);
    if (digits === undefined || !isNext) {
      end();
    }
    if (digits !== undefined && !line.text.startsWith('~~', start.length)) {
      const isItem = line.kind === 'checkbox' || isAlmostCheckbox(line, true);
      list.push({ index, indent, number, written: `${digits}${behind}`, isItem });
    }
  });
  end();
  return found;
}
