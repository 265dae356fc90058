import { say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { idInText } from './idInText.ts';
import {
  isAlmostCheckbox,
  isBehindComment,
  isTextBelow,
  type MarkdownLine,
} from './markdownBlocks.ts';
import { plainText } from './plainText.ts';

/** `T001`: nothing else is called so, while UTF-8 and SHA-256 are. */
export const NUMBERED_TASK = /^T\d+$/;

/** Lines that look like checkboxes and are not read: a list must not become shorter without a word. */
export function notItems(lines: readonly MarkdownLine[], hasCheckboxes: boolean): StoryProblem[] {
  return lines.flatMap((line, index): StoryProblem[] => {
    const isBelow = isTextBelow(line, lines.slice(index + 1, index + 3));
    const isHidden = line.kind === 'plain' && line.isHidden;
    const isItem = isHidden
      ? isBehindComment(line)
      : (isBelow || isAlmostCheckbox(line, hasCheckboxes)) && !isTableRow(lines, index);
    const { text } = line;
    const start = (isHidden && line.visibleFrom) || (/^[\t ]*/.exec(text)?.[0].length ?? 0);
    const mark = /\[\s*[xX]{1,2}\s*\\?\]|[\u2611\u2705\u2713\u2714]/.test(text.slice(start))
      ? '- [x]'
      : '- [ ]';
    return isItem
      ? [
          {
            code: 'notAStory',
            message: isBelow
              ? say(
                  'The text of this checkbox is below it, so it is not read. Write it on this line: "{0} …".',
                  mark,
                )
              : say(
                  'This looks like a checkbox, but is not read as one. Write it as "{0} …".',
                  mark,
                ),
            line: line.line,
            column: start + 1,
          },
        ]
      : [];
  });
}

/** A table may have rows without a bar at their start. */
function isTableRow(lines: readonly MarkdownLine[], index: number): boolean {
  const hasBar = (at: number) => lines[at]?.text.includes('|') === true;
  return hasBar(index) && (hasBar(index - 1) || hasBar(index + 1));
}

/** A bullet or heading, and its text. */
const LISTED = /^(?:[-*+]|\d{1,9}[.)]|#{1,6})[\t ]+(\S.*)$/s;
/** `1.2 Text` and `2. Text`, behind a bullet at the margin. */
const BULLET_WITH_NUMBER = /^[-*+][\t ]+(?:\d{1,4}(?:\.\d{1,4})+\.?|\d{1,4}\.)[\t ]+\p{L}/u;

/**
 * Lines that begin with an id like those of the items, but have no checkbox. What only speaks of an item has the id of
 * one.
 * @param ids of the items
 */
export function withoutBox(
  lines: readonly MarkdownLine[],
  ids: readonly (string | undefined)[],
): StoryProblem[] {
  const known = new Set(ids);
  // A threat T1 is no task in a list that begins with T001.
  const codes = ids.flatMap(id => (id !== undefined && NUMBERED_TASK.test(id) ? id.length : []));
  const length = codes.reduce((least, one) => Math.min(least, one), Number.POSITIVE_INFINITY);
  const hasNumbers = ids.some(id => /^\d/.test(id ?? ''));
  return lines.flatMap((line, index): StoryProblem[] => {
    const id = codes.length > 0 || hasNumbers ? idWithoutBox(line) : undefined;
    const isCode = NUMBERED_TASK.test(id ?? '');
    if (
      id === undefined ||
      known.has(id) ||
      !(isCode ? id.length >= length : hasNumbers) ||
      isOfItems(lines, index)
    ) {
      return [];
    }
    known.add(id);
    return [
      {
        code: 'notAStory',
        message: say(
          'This line begins with {0} like a task, but has no checkbox, so it is not read. Write it as "- [ ] {0} …".',
          plainText(id),
        ),
        line: line.line,
        column: (/^[\t ]*/.exec(line.text)?.[0].length ?? 0) + 1,
      },
    ];
  });
}

function idWithoutBox(line: MarkdownLine): string | undefined {
  if (line.kind === 'checkbox' || (line.kind === 'plain' && line.isHidden)) {
    return undefined;
  }
  const text = LISTED.exec(line.text.trimStart())?.[1];
  const id = text === undefined ? undefined : idInText(text);
  return id !== undefined && (NUMBERED_TASK.test(id) || BULLET_WITH_NUMBER.test(line.text))
    ? id
    : undefined;
}

/** Whether a line is the heading of items, whose group it is then. */
function isOfItems(lines: readonly MarkdownLine[], index: number): boolean {
  let below = index + 1;
  while (lines[index]?.kind === 'heading' && lines[below]?.kind === 'plain') {
    below++;
  }
  return lines[index]?.kind === 'heading' && lines[below]?.kind === 'checkbox';
}
