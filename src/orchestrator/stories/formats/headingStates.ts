import { idInText } from './idInText.ts';
import type { MarkdownLine } from './markdownBlocks.ts';
import type { PlanGroups } from './planGroups.ts';
import { BEGUN_MARK, BOX_SYMBOL, hasMark, OPEN_WORDS } from './stateMarks.ts';
import { isTickedText, isWordOfGone } from './tasksWithoutBox.ts';

/** An open state of what a heading says: `**Status:** [ ] Not started`, `- Status: TODO`. */
const STATE = new RegExp(
  String.raw`^(?:[-*+][\t ]+)?[*_]{0,2}(?:status|state|progress|stand|zustand|\u72B6\u614B)[*_]{0,2}[:\uFF1A][*_]{0,2}[\t ]*(?:(?:\[[ ~]?\]|${BOX_SYMBOL})(?=[\t ]|$)|${BEGUN_MARK}|[*_\x60]{0,2}(?:open|${OPEN_WORDS})[*_\x60]{0,2}(?=[\s.!]{0,9}(?:$|[(,;\u2013\u2014-])))(.*)$`,
  'isu',
);
/** A heading that names one task. */
const TASK =
  /^[^\p{L}\p{N}]*(?:(?:task|story|issue|ticket|feature|aufgabe)\s{1,4}\S{0,9}\d|\u30BF\u30B9\u30AF\s{0,4}\d)/iu;

/**
 * The lines that say that a task without a checkbox is open: below a heading that names one task or begins with an id, has
 * no items, and is not about one. A choice between several states is none.
 * @returns indexes of lines
 */
export function openStates(
  lines: readonly MarkdownLine[],
  groups: PlanGroups,
): ReadonlySet<number> {
  const found = new Set<number>();
  let heading: { readonly index: number; readonly title: string } | undefined;
  lines.forEach((line, index) => {
    if (line.kind === 'heading') {
      heading = { index, title: line.title };
    } else if (heading !== undefined && line.kind === 'plain' && !line.isHidden) {
      const rest = STATE.exec(line.text)?.[1];
      if (
        rest !== undefined &&
        !/[|/]/.test(rest) &&
        !hasMark(rest) &&
        isTask(heading.title) &&
        !groups.isAbout(heading.index)
      ) {
        found.add(index);
      }
    }
  });
  return found;
}

/** Whether a line says the state of something, and so is no item itself. */
export function isState(line: string): boolean {
  return STATE.test(line);
}

function isTask(title: string): boolean {
  const id = TASK.exec(title)?.[0] ?? idInText(title);
  const words = title
    .slice(title.indexOf(id ?? '') + (id?.length ?? 0))
    .replace(/^[\s:.*_-]{1,9}/, '');
  return id !== undefined && ![title, words].some(text => isTickedText(text) || isWordOfGone(text));
}
