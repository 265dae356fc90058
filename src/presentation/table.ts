import { widthOf } from './wrapLine.ts';

/**
 * Lays out rows as columns, two spaces apart.
 * @param left indexes of the columns that begin at their left; the others end at their right
 * @returns lines without white space at their end
 */
export function table(
  headings: readonly string[],
  rows: readonly (readonly string[])[],
  left: ReadonlySet<number>,
): string[] {
  const widths = headings.map((heading, i) =>
    Math.max(widthOf(heading), ...rows.map(row => widthOf(row[i] ?? ''))),
  );
  return [headings, ...rows].map(row =>
    widths
      .map((width, i) => {
        const cell = row[i] ?? '';
        const space = ' '.repeat(width - widthOf(cell));
        return left.has(i) ? cell + space : space + cell;
      })
      .join('  ')
      .trimEnd(),
  );
}
