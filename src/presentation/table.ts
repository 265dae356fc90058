import { widthOf } from './wrapLine.ts';

/**
 * Lays out rows as columns, two spaces apart.
 * @param left indexes of the left-aligned columns; the others are right-aligned
 * @returns lines without trailing white space
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
