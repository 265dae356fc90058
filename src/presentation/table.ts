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
    Math.max(heading.length, ...rows.map(row => row[i]?.length ?? 0)),
  );
  return [headings, ...rows].map(row =>
    widths
      .map((width, i) =>
        left.has(i) ? (row[i] ?? '').padEnd(width) : (row[i] ?? '').padStart(width),
      )
      .join('  ')
      .trimEnd(),
  );
}
