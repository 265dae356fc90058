import { itemsAround } from '../formats/asideItems.ts';
import { type Checkbox, indentOf, readMarkdown } from '../formats/markdownBlocks.ts';
import type { ParsedStoryFile } from '../storyFile.ts';

/**
 * The positions of items of a plan that stand indented below another one, which says whose parts they are. No target
 * keeps that: the items of a plan that is written are all at the margin. What stands below a heading is part of an item
 * above it only if the heading is indented, too.
 */
export function nestedItems({ file: { format }, text }: ParsedStoryFile): ReadonlySet<number> {
  const positions = new Set<number>();
  if (format !== 'plan' && format !== 'specsIndex') {
    return positions;
  }
  const blocks = readMarkdown(text).lines.flatMap(line =>
    line.kind === 'checkbox'
      ? { isItem: true, checkbox: line.checkbox }
      : line.kind === 'heading'
        ? { isItem: false, checkbox: asItem(line.text) }
        : [],
  );
  const around = itemsAround(blocks.map(({ checkbox }) => checkbox));
  const isPart: boolean[] = [];
  let position = 0;
  blocks.forEach(({ isItem }, index) => {
    const outer = around[index];
    // The one around comes before: it may be a heading in an item.
    isPart[index] =
      outer !== undefined && (blocks[outer]?.isItem === true || isPart[outer] === true);
    if (isItem) {
      if (isPart[index]) {
        positions.add(position);
      }
      position += 1;
    }
  });
  return positions;
}

/** A heading takes its place among the items: it ends those that are not further out. */
function asItem(heading: string): Checkbox {
  return { mark: '', markOffset: 0, text: '', indent: indentOf(heading) };
}
