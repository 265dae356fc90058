import { indentOf, isAlmostCheckbox, type MarkdownLine, outermost } from './markdownBlocks.ts';
import { isAboutTask, isTickedText, isWordOfGone, isWrapped } from './tasksWithoutBox.ts';

const BULLET = /^[\t ]*([-*+])[\t ]+(\S.*)$/s;
/** A text that begins with a word, has no label in front, which notes have (`Files: a.ts`), and tells of no other item. */
const WORK =
  /^(?![^\p{L}]*(?:none|n\/a|see|siehe|etc|cf|depends|blocked|blocks|requires|requirements?|covers|estimated?|optional|acceptance|total)(?!\p{L}))(?:\*\*|`)?[\p{L}\p{N}](?!.{0,40}?[:\uFF1A])/iu;
/** Nothing but a path or code. */
const PATH = /^(?:`[^`]*`|\S{0,200}[./]\S{0,200})$/;
/** The title of what follows: all in bold, or a part of the plan with its number. */
const TITLE =
  /^\*\*[^*]{1,200}\*\*$|^(?:\*\*)?(?:phase|milestone|sprint|epic|part|section|week|day|teil|woche|tag)\s\S{0,9}\d/iu;

/**
 * The bullets without a checkbox between two items, in one list with them: the same bullet and indentation, the smallest
 * of all items, and no empty line. If one of them is no work, such as a note, none is.
 * @returns indexes of lines
 */
export function bulletsBetween(lines: readonly MarkdownLine[]): ReadonlySet<number> {
  const found = new Set<number>();
  const margin = outermost(lines.flatMap(line => (line.kind === 'checkbox' ? [line] : [])));
  if (!lines.some(line => isBullet(line, margin))) {
    return found;
  }
  /** Of the list; `undefined` outside of one. */
  let bullet: string | undefined;
  let between: number[] = [];
  let last: number | undefined;
  lines.forEach((line, index) => {
    const indent = line.kind === 'checkbox' ? line.checkbox.indent : indentOf(line.text);
    const [, own, text = ''] = (indent === margin && BULLET.exec(line.text)) || [];
    if (
      line.kind === 'checkbox'
        ? indent === margin
        : own !== undefined && isAlmostCheckbox(line, true)
    ) {
      for (const at of own === bullet ? between : []) {
        found.add(at);
      }
      [bullet, between, last] = [own, [], undefined];
    } else if (line.kind === 'checkbox') {
      // A bullet with items below it is their title.
      if (last !== undefined && between.at(-1) === last) {
        between.pop();
      }
      last = undefined;
    } else if (bullet === undefined || (line.kind === 'plain' && line.isHidden)) {
      return;
    } else if (own === bullet) {
      last = index;
      const isOver = isTickedText(text) || isWordOfGone(text);
      if (
        !isOver &&
        WORK.test(text) &&
        ![PATH, TITLE].some(one => one.test(text)) &&
        !isAboutTask(text)
      ) {
        between.push(index);
      } else if (!isOver) {
        bullet = undefined;
      }
    } else if (line.text.trim() === '' || (indent <= margin && !isWrapped(line.text))) {
      bullet = undefined;
    }
  });
  return found;
}

function isBullet(line: MarkdownLine, margin: number): boolean {
  return (
    line.kind === 'plain' &&
    !line.isHidden &&
    indentOf(line.text) === margin &&
    BULLET.test(line.text)
  );
}
