import { applyEdits } from 'jsonc-parser';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import type { Span } from '../formats/jsonOutline.ts';
import { indentOf, type MarkdownLine } from '../formats/markdownBlocks.ts';
import { indexBeside, moveBlock } from '../formats/textBlocks.ts';
import type { Side } from './workOrder.ts';

/** An item of a list with its text and the items below it. */
interface Item extends Span {
  readonly indent: number;
}

/**
 * Moves an item of a Markdown list, with everything indented below it, next to another one, even under another
 * heading. Pure; returns the new text.
 * @param checkboxes indexes of the lines with the items
 * @throws HumanError if one of the two is nested in another item, and the other one is not
 */
export function moveItem(
  text: string,
  lines: readonly MarkdownLine[],
  checkboxes: readonly number[],
  [from, target, side]: readonly [from: number, target: number, side: Side],
): string {
  const items = checkboxes.map(index => itemAt(lines, index));
  const item = items[from];
  const other = items[target];
  if (item === undefined || other === undefined) {
    return text;
  }
  if (item.indent !== other.indent) {
    throw new HumanError(
      say(
        'One of these items is part of the other one, so they cannot be ordered: move the text in the file.',
      ),
    );
  }
  const siblings = items
    .slice(Math.min(from, target), Math.max(from, target) + 1)
    .filter(({ indent }) => indent <= item.indent);
  const isOneList = siblings.every(
    (sibling, i) => text.slice(siblings[i - 1]?.end ?? sibling.start, sibling.start).trim() === '',
  );
  if (isOneList && siblings.every(({ indent }) => indent === item.indent)) {
    const index = siblings.indexOf(item);
    return moveBlock(text, siblings, index, indexBeside(index, siblings.indexOf(other), side));
  }
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const block = text.slice(item.start, item.end);
  return applyEdits(text, [
    removal(text, item),
    side === 'before'
      ? { offset: other.start, length: 0, content: block + eol }
      : { offset: other.end, length: 0, content: eol + block },
  ]);
}

/** Removes whole lines, with the line break after them, or the one before at the end of the text. */
function removal(text: string, { start, end }: Span) {
  const after = /^(?:\r\n|\n|\r)/.exec(text.slice(end, end + 2))?.[0].length ?? 0;
  const before = /(?:\r\n|\n|\r)$/.exec(text.slice(Math.max(0, start - 2), start))?.[0].length ?? 0;
  return after > 0
    ? { offset: start, length: end - start + after, content: '' }
    : { offset: start - before, length: end - start + before, content: '' };
}

function itemAt(lines: readonly MarkdownLine[], index: number): Item {
  const first = lines[index];
  const indent = indentOf(first?.text ?? '');
  let last = first;
  for (let i = index + 1; i < lines.length; i++) {
    const line = lines[i] as MarkdownLine;
    const isHidden = line.kind === 'plain' && line.isHidden;
    if (
      line.kind === 'heading' ||
      (!isHidden && line.text.trim() !== '' && indentOf(line.text) <= indent)
    ) {
      break;
    }
    last = line.text.trim() === '' ? last : line;
  }
  return {
    indent,
    start: first?.offset ?? 0,
    end: (last?.offset ?? 0) + (last?.text.length ?? 0),
  };
}
