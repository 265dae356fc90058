import type { Edit } from 'jsonc-parser';
import { indentOf, type MarkdownLine } from '../formats/markdownBlocks.ts';
import { type NewStory, originText } from './newStory.ts';

/**
 * The edit that adds an item below the last one of a plan and what belongs to it, with the same list marker and
 * indentation as the last item that is not nested.
 *
 * @param last index of the line of the last checkbox
 */
export function appendItem(
  text: string,
  lines: readonly MarkdownLine[],
  last: number,
  story: NewStory,
): Edit[] {
  const boxes = lines.flatMap(line => (line.kind === 'checkbox' ? [line] : []));
  const outer = Math.min(...boxes.map(({ checkbox }) => checkbox.indent));
  const model = boxes.findLast(({ checkbox }) => checkbox.indent === outer);
  const [, space = '', marker = '-'] = /^([\t ]*)([-*+]|\d{1,9}[.)])/.exec(model?.text ?? '') ?? [];
  const number = /^(\d+)(.)$/.exec(marker);
  const next = number === null ? marker : `${Number(number[1]) + 1}${number[2]}`;
  const eol = /\r?\n|\r/.exec(text)?.[0] ?? '\n';
  const origin = originText(story);
  const content = [
    `${space}${next} [ ] ${story.id}: ${inert(story.title)}`,
    ...(origin === '' ? [] : [`${space}${' '.repeat(next.length + 1)}${inert(origin)}`]),
  ].join(eol);
  const end = lines[endOfItem(lines, last)];
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

/** Nothing in the text may begin a comment that hides what follows. */
function inert(text: string): string {
  return text.replaceAll('<!--', '&lt;!--');
}
