import { say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import {
  isAlmostCheckbox,
  isBehindComment,
  isBoxBelow,
  isTextBelow,
  type MarkdownLine,
} from './markdownBlocks.ts';
import { TICK } from './tasksWithoutBox.ts';

/** Lines that look like checkboxes and are not read: a list must not become shorter without a word. */
export function notItems(lines: readonly MarkdownLine[], hasCheckboxes: boolean): StoryProblem[] {
  return lines.flatMap((line, index): StoryProblem[] => {
    const isBelow = isTextBelow(line, lines.slice(index + 1, index + 3));
    const isApart = isBoxBelow(line, lines[index + 1]);
    const isHidden = line.kind === 'plain' && line.isHidden;
    const isItem = isHidden
      ? isBehindComment(line)
      : (isBelow || isApart || isAlmostCheckbox(line, hasCheckboxes)) && !isTableRow(lines, index);
    if (!isItem) {
      return [];
    }
    const text = isApart ? (lines[index + 1]?.text ?? '') : line.text;
    const start = (isHidden && line.visibleFrom) || (/^[\t ]*/.exec(line.text)?.[0].length ?? 0);
    const mark = TICK.test(text.slice(isApart ? 0 : start)) ? '- [x]' : '- [ ]';
    return [
      {
        code: 'notAStory',
        message: isBelow
          ? say(
              'The text of this checkbox is below it, so it is not read. Write it on this line: "{0} …".',
              mark,
            )
          : say('This looks like a checkbox, but is not read as one. Write it as "{0} …".', mark),
        line: line.line,
        column: start + 1,
      },
    ];
  });
}

/** A table may have rows without a bar at their start. */
function isTableRow(lines: readonly MarkdownLine[], index: number): boolean {
  const hasBar = (at: number) => lines[at]?.text.includes('|') === true;
  return hasBar(index) && (hasBar(index - 1) || hasBar(index + 1));
}
