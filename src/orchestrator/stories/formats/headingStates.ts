import { idInText } from './idInText.ts';
import { BOX_SYMBOL, type MarkdownLine } from './markdownBlocks.ts';
import { TICK } from './tasksWithoutBox.ts';

/** The state of what a heading says: `**Status:** [ ] Not started`. */
const STATE = new RegExp(
  String.raw`^(?:[-*+][\t ]+)?[*_]{0,2}(?:status|state|progress|done|completed?|erledigt|\u72B6\u614B)[*_]{0,2}[:\uFF1A][*_]{0,2}[\t ]*(?:(?<open>\[ ?\]|${BOX_SYMBOL})(?=[\t ]|$)|\[~\]|${TICK.source})`,
  'iu',
);
/** A heading that names one task. */
const TASK = /^\W*(?:task|story|step|issue|ticket|feature|aufgabe)\s{1,4}\S{0,9}\d/i;

/**
 * The lines that say that a task without a checkbox is open: the first state below a heading without items, if that names
 * one task or begins with an id, or if several headings of its level have one.
 * @param empty the headings without items, by index
 * @returns indexes of lines
 */
export function openStates(
  lines: readonly MarkdownLine[],
  empty: ReadonlySet<number>,
): ReadonlySet<number> {
  const found: { readonly index: number; readonly level: number; readonly isTask: boolean }[] = [];
  const counts = new Map<number, number>();
  const open = new Set<number>();
  let heading: Extract<MarkdownLine, { kind: 'heading' }> | undefined;
  lines.forEach((line, index) => {
    if (line.kind === 'heading') {
      heading = empty.has(index) ? line : undefined;
      return;
    }
    const isText = heading !== undefined && line.kind === 'plain' && !line.isHidden;
    const state = isText ? STATE.exec(line.text) : null;
    if (heading === undefined || state === null) {
      return;
    }
    const { level, title } = heading;
    found.push({ index, level, isTask: TASK.test(title) || idInText(title) !== undefined });
    counts.set(level, (counts.get(level) ?? 0) + 1);
    if (state.groups?.['open'] !== undefined) {
      open.add(index);
    }
    heading = undefined;
  });
  return new Set(
    found.flatMap(({ index, isTask, level }) =>
      open.has(index) && (isTask || (counts.get(level) ?? 0) > 1) ? [index] : [],
    ),
  );
}
