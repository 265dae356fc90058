import type { Span } from './jsonOutline.ts';

/**
 * Moves one of the blocks of a text to another position among them. The text between the blocks (commas, line
 * breaks, blank lines) is unchanged. Pure.
 * @param blocks in the order of the text, without overlaps
 * @param from index of the block
 * @param to its new index
 */
export function moveBlock(text: string, blocks: readonly Span[], from: number, to: number): string {
  const order = blocks.map((_, index) => index);
  order.splice(to, 0, ...order.splice(from, 1));
  let moved = '';
  let end = 0;
  blocks.forEach((slot, index) => {
    const block = blocks[order[index] ?? index] ?? slot;
    moved += text.slice(end, slot.start) + text.slice(block.start, block.end);
    end = slot.end;
  });
  return moved + text.slice(end);
}

/** The new index of a block that is moved next to another one. */
export function indexBeside(from: number, target: number, side: 'before' | 'after'): number {
  const at = side === 'before' ? target : target + 1;
  return from < at ? at - 1 : at;
}
