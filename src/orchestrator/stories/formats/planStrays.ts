import { once } from '../../../base/once.ts';
import { say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { bulletsBetween } from './bulletsBetween.ts';
import { openStates } from './headingStates.ts';
import {
  isAlmostCheckbox,
  isBehindComment,
  isBoxBelow,
  isTextBelow,
  type MarkdownLine,
  startOf,
} from './markdownBlocks.ts';
import { type NumberedLine, numberedLines } from './numberedLines.ts';
import { PlanGroups } from './planGroups.ts';
import { isBegun, markWithWords } from './stateMarks.ts';
import { htmlItem, strayBox } from './strayBox.ts';
import { TICK } from './tasksWithoutBox.ts';
import { isTicked } from './tickMark.ts';

/** Lines that look like checkboxes and are not read: a list must not become shorter without a word. */
export function notItems(lines: readonly MarkdownLine[], hasCheckboxes: boolean): StoryProblem[] {
  const numbers = numberedLines(lines);
  const groups = new PlanGroups(lines);
  const between = once(() => bulletsBetween(lines));
  const states = once(() => openStates(lines, groups));
  return lines.flatMap((line, index): StoryProblem[] => {
    const found =
      line.kind === 'checkbox'
        ? secondOn(line)
        : (oddBox(lines, index, groups, hasCheckboxes) ??
          laterBox(lines, index, groups) ??
          openMark(lines, index, groups) ??
          (states().has(index) ? stateWithoutBox() : undefined) ??
          numberedWithoutBox(line, numbers.get(index)) ??
          (between().has(index) ? bulletWithoutBox(line) : undefined));
    return found === undefined ? [] : [{ code: 'notAStory', line: line.line, ...found }];
  });
}

type CheckboxLine = Extract<MarkdownLine, { kind: 'checkbox' }>;
type Found = Pick<StoryProblem, 'message' | 'column'>;

function secondOn({ checkbox, offset, text }: CheckboxLine): Found | undefined {
  const end = text.indexOf(']', checkbox.markOffset - offset) + 1;
  const at = strayBox(text, { end, isDone: isTicked(checkbox.mark) });
  return at === -1
    ? undefined
    : {
        message: say(
          'A second checkbox is on this line, so it is not read. Write each checkbox on a line of its own.',
        ),
        column: at + 1,
      };
}

function oddBox(
  lines: readonly MarkdownLine[],
  index: number,
  groups: PlanGroups,
  hasCheckboxes: boolean,
): Found | undefined {
  const line = lines[index] as MarkdownLine;
  const isBelow = isTextBelow(line, lines.slice(index + 1, index + 3));
  const isApart = isBoxBelow(line, lines[index + 1]);
  const isHidden = line.kind === 'plain' && line.isHidden;
  const isItem = isHidden
    ? isBehindComment(line)
    : (isBelow || isApart || isAlmost(lines, index, hasCheckboxes)) &&
      !isTableRow(lines, index) &&
      !isOfLegend(lines, index) &&
      !isName(line, index, groups);
  if (!isItem) {
    return undefined;
  }
  const text = isApart ? (lines[index + 1]?.text ?? '') : line.text;
  const start = (isHidden && line.visibleFrom) || startOf(line.text);
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

function isAlmost(lines: readonly MarkdownLine[], index: number, hasCheckboxes: boolean): boolean {
  const line = lines[index] as MarkdownLine;
  return (
    (isAlmostCheckbox(line, hasCheckboxes) && !isQuotedResult(lines, index)) ||
    htmlItem(line.text) !== -1 ||
    isOneOfBare(lines, index)
  );
}

/** Whether a line that is almost an item is the title of items: a heading, or with a label or in HTML. */
function isName(line: MarkdownLine, index: number, groups: PlanGroups): boolean {
  return line.kind === 'heading'
    ? groups.isHeading(index)
    : /^[\p{L}<\u25A0-\u27BF\u2B1C]|^[-*+][\t ]+[\u25A0-\u27BF\u2B1C]/u.test(line.text) &&
        groups.isTitle(index);
}

/** Whether a line without a bullet in a quotation is one of several results: others have other marks. */
function isQuotedResult(lines: readonly MarkdownLine[], index: number): boolean {
  const resultAt = (at: number) => /^[\t ]*>[\t >]*\[(.)\]/.exec(lines[at]?.text ?? '')?.[1];
  return (
    resultAt(index) !== undefined &&
    [index - 1, index + 1].some(at => (resultAt(at) ?? ' ') !== ' ')
  );
}

const INDENTED = /^[\t ]+\[[ xX]\]\*?[\t ]+\p{L}/u;

/** Whether a line is one of several boxes without bullets that stand indented: one alone may be a text that is wrapped. */
function isOneOfBare(lines: readonly MarkdownLine[], index: number): boolean {
  const isBare = (at: number) => {
    const line = lines[at];
    return line?.kind === 'plain' && !line.isHidden && INDENTED.test(line.text);
  };
  const isOpen = /^[\t ]+\[ /.test(lines[index]?.text ?? '');
  return isOpen && isBare(index) && (isBare(index - 1) || isBare(index + 1));
}

function laterBox(
  lines: readonly MarkdownLine[],
  index: number,
  groups: PlanGroups,
): Found | undefined {
  const line = lines[index];
  const isHidden = line === undefined || (line.kind === 'plain' && line.isHidden);
  const at = isHidden ? -1 : strayBox(line.text);
  const isOther = () =>
    isTableRow(lines, index) ||
    isOfLegend(lines, index) ||
    (line?.kind === 'heading' ? groups.isHeading(index) : groups.isTitle(index, at));
  return at === -1 || isOther()
    ? undefined
    : {
        message: say(
          'This checkbox is not at the start of its line, so it is not read. Write it on a line of its own: "{0} …".',
          '- [ ]',
        ),
        column: at + 1,
      };
}

/** A mark of work that has begun, in a list with marks of open or done work: a list that has `⬜ text` may have it, too. */
function openMark(
  lines: readonly MarkdownLine[],
  index: number,
  groups: PlanGroups,
): Found | undefined {
  const line = lines[index];
  const isOpen = line?.kind === 'plain' && !line.isHidden && isBegun(line.text);
  return isOpen &&
    isInListOfMarks(lines, index) &&
    !isTableRow(lines, index) &&
    !isOfLegend(lines, index) &&
    !groups.isTitle(index)
    ? {
        message: say(
          'This looks like a checkbox, but is not read as one. Write it as "{0} …".',
          '- [ ]',
        ),
        column: 1,
      }
    : undefined;
}

const OPEN_OR_DONE = /[\u2610\u2611\u2705\u2713\u2714]/;

/** How far away a mark of open or done work may be. */
const NEAR = 20;

function isInListOfMarks(lines: readonly MarkdownLine[], index: number): boolean {
  return [-1, 1].some(step => {
    for (let at = index + step; Math.abs(at - index) <= NEAR; at += step) {
      const mark = markWithWords(lines[at]?.text ?? '')?.mark;
      if (mark === undefined || OPEN_OR_DONE.test(mark)) {
        return mark !== undefined;
      }
    }
    return false;
  });
}

function stateWithoutBox(): Found {
  return {
    message: say(
      'The task of this state has no checkbox, so it is not read. Write it as "{0} …", in the place of its heading.',
      '- [ ]',
    ),
    column: 1,
  };
}

function bulletWithoutBox({ text }: MarkdownLine): Found {
  return {
    message: say(
      'This line stands between items, but has no checkbox, so it is not read. Write it as "{0} …", or indent it if it belongs to the item above.',
      `${text.trimStart().charAt(0)} [ ]`,
    ),
    column: startOf(text) + 1,
  };
}

function numberedWithoutBox({ text }: MarkdownLine, found?: NumberedLine): Found | undefined {
  return (
    found && {
      message: say(
        'This line is in a numbered list of tasks, but has no checkbox, so it is not read. Write it as "{0} …".',
        found.item,
      ),
      column: text.search(/\d/) + 1,
    }
  );
}

/**
 * Whether a line is one of several that explain what marks mean: each has its own mark and a few words. Where all marks are
 * those of work that is open, has begun or is done, at least half of the words must be such words.
 */
function isOfLegend(lines: readonly MarkdownLine[], index: number): boolean {
  const seen = new Set<string>();
  let states = 0;
  for (const step of [-1, 1]) {
    for (let at = step < 0 ? index : index + 1; ; at += step) {
      const found = markWithWords(lines[at]?.text ?? '');
      if (found === undefined) {
        break;
      }
      if (seen.has(found.mark)) {
        return false;
      }
      seen.add(found.mark);
      states += found.isState ? 1 : 0;
    }
  }
  return (
    seen.size > 2 && (states * 2 >= seen.size || [...seen].some(mark => !WORK_MARK.test(mark)))
  );
}

const WORK_MARK = /[\u231B\u23F3\u2610\u2611\u2705\u2713\u2714\u{1F504}\u{1F6A7}]/u;

/** A table may have rows without a bar at their start. */
function isTableRow(lines: readonly MarkdownLine[], index: number): boolean {
  const hasBar = (at: number) => lines[at]?.text.includes('|') === true;
  return hasBar(index) && (hasBar(index - 1) || hasBar(index + 1));
}
