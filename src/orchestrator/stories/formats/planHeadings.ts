import type { MarkdownLine } from './markdownBlocks.ts';

/** Between the headings by which an epic is known if others have the same one. */
export const EPIC_PATH = ' › ';

/**
 * The heading of each line, with its parent headings if a heading is repeated in the file. The first level-1
 * heading is the title of the file and not a group, unless there are several.
 */
export function readHeadings(lines: readonly MarkdownLine[]): {
  readonly title: string;
  readonly epics: readonly (string | undefined)[];
} {
  const headings = lines.flatMap(line => (line.kind === 'heading' ? [line] : []));
  const top = headings.filter(({ level }) => level === 1);
  const isTitle = (level: number) => level === 1 && top.length === 1;
  const counts = new Map<string, number>();
  for (const { title } of headings) {
    counts.set(title, (counts.get(title) ?? 0) + 1);
  }
  let path: { level: number; title: string }[] = [];
  let epic: string | undefined;
  const epics = lines.map(line => {
    if (line.kind === 'heading') {
      path = [...path.filter(({ level }) => level < line.level), line];
      const groups = path.filter(({ level, title }) => !isTitle(level) && title !== '');
      const nearest = groups.at(-1)?.title;
      const isRepeated = nearest !== undefined && (counts.get(nearest) ?? 0) > 1;
      epic = isRepeated ? groups.map(({ title }) => title).join(EPIC_PATH) : nearest;
    }
    return epic;
  });
  return { title: top[0]?.title ?? '', epics };
}
