import type { Edit } from 'jsonc-parser';
import { indentOf, type MarkdownLine, outermost } from '../formats/markdownBlocks.ts';
import { inertPlanLine, inertText } from './inertLine.ts';
import { type NewStory, originLines, originText } from './newStory.ts';
import type { NextItem } from './planNumber.ts';

/**
 * The edit that adds an item below another one of a plan and what belongs to it, with the same list marker and
 * indentation as the last item above that is not nested.
 *
 * @param last index of the line of a checkbox
 * @param next how it is numbered; without it, the item begins with the id of its story
 */
export function appendItem(
  text: string,
  lines: readonly MarkdownLine[],
  last: number,
  story: NewStory,
  next?: NextItem,
): Edit[] {
  const boxes = lines.flatMap((line, index) =>
    line.kind === 'checkbox' && index <= last ? [{ ...line, index }] : [],
  );
  const outer = outermost(boxes);
  const model = boxes.findLast(({ checkbox }) => checkbox.indent === outer);
  const [, space = '', marker = '-'] = /^([\t ]*)([-*+]|\d{1,9}[.)])/.exec(model?.text ?? '') ?? [];
  const number = /^(\d+)(.)$/.exec(marker);
  const mark = number === null ? marker : `${Number(number[1]) + 1}${number[2]}`;
  const eol = /\r?\n|\r/.exec(text)?.[0] ?? '\n';
  const origin = next === undefined ? [originText(story)] : originLines(story);
  const below = `${space}${' '.repeat(mark.length + 1)}${next?.isListBelow === true ? '- ' : ''}`;
  const content = [
    `${space}${mark} [ ] ${next?.label ?? `${story.id}:`} ${inertText(story.title)}`,
    ...origin.filter(line => line !== '').map(line => inertPlanLine(below, line)),
  ].join(eol);
  // What is below the parts of an item can belong to the item itself.
  const end = lines[Math.max(endOfItem(lines, last), endOfItem(lines, model?.index ?? last))];
  const offset = end === undefined ? text.length : end.offset + end.text.length;
  return [{ offset, length: 0, content: eol + content }];
}

/** Index of the last line that belongs to an item: indented below it, or hidden in a code fence. */
function endOfItem(lines: readonly MarkdownLine[], first: number): number {
  const start = lines[first];
  const indent = start === undefined ? 0 : indentOf(start.text);
  let end = first;
  for (let index = first + 1; index < lines.length; index++) {
    const line = lines[index];
    if (line === undefined || line.kind === 'heading') {
      break;
    }
    const isHidden = line.kind === 'plain' && line.isHidden;
    if (line.text.trim() === '' && !isHidden) {
      continue;
    }
    if (!isHidden && indentOf(line.text) <= indent) {
      break;
    }
    end = index;
  }
  return end;
}
