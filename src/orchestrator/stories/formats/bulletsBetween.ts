import { indentOf, type MarkdownLine, outermost } from './markdownBlocks.ts';
import { isWordOfGone } from './tasksWithoutBox.ts';

const BULLET = /^[\t ]*([-*+])[\t ]+(\S.*)$/s;
/** No note, no title of what follows, and nothing in italics, which is about the item above: `_Requirements: 1.2_`. */
const WORK =
  /^(?!\W*(?:note|none|n\/a)(?!\p{L}))(?!_|\*(?!\*))(?!.*[:\uFF1A][*_]{0,3}\s*$)(?=.*\p{L})/isu;

/**
 * The bullets without a checkbox between two items, in one list with them: the same bullet and indentation, the smallest
 * of all items. Only what is indented below them stands in between. Below another item, a bullet is what it says.
 * @returns indexes of lines
 */
export function bulletsBetween(lines: readonly MarkdownLine[]): ReadonlySet<number> {
  const found = new Set<number>();
  if (!lines.some(isBullet)) {
    return found;
  }
  const margin = outermost(lines.flatMap(line => (line.kind === 'checkbox' ? [line] : [])));
  let bullet: string | undefined;
  let list: number[] = [];
  const end = () => {
    [bullet, list] = [undefined, []];
  };
  lines.forEach((line, index) => {
    if (line.kind === 'heading') {
      end();
    } else if (line.kind === 'checkbox') {
      if (line.checkbox.indent > margin) {
        // A bullet with items below it is their heading.
        list.pop();
        return;
      }
      const own = BULLET.exec(line.text)?.[1];
      for (const at of own === bullet ? list : []) {
        found.add(at);
      }
      [bullet, list] = [own, []];
    } else if (bullet !== undefined && !line.isHidden && line.text.trim() !== '') {
      const indent = indentOf(line.text);
      const [, own, text = ''] = (indent === margin && BULLET.exec(line.text)) || [];
      if (own === bullet) {
        list.push(...(WORK.test(text) && !isWordOfGone(text) ? [index] : []));
      } else if (indent <= margin) {
        end();
      }
    }
  });
  return found;
}

function isBullet(line: MarkdownLine): boolean {
  return line.kind === 'plain' && !line.isHidden && BULLET.test(line.text);
}
