import type { Criterion } from '../story.ts';
import { readMarkdown } from './markdownBlocks.ts';
import { sectionOf } from './markdownSection.ts';

/** At the margin; what is indented belongs to the item above. */
const ITEM = /^ ?(?:[-*+]|\d{1,9}[.)])[\t ]+(?:\[([ xX])\][\t ]+)?(\S.*)$/s;

/**
 * The acceptance criteria in the file of a BMAD story. Templates and people write each as a heading with lines below
 * it, as an item of a list, or as a paragraph: the first of these that the section has.
 */
export function readBmadCriteria(text: string): Criterion[] {
  const section = sectionOf(text.replaceAll('\r\n', '\n'), 'Acceptance Criteria') ?? '';
  const lines = readMarkdown(section).lines.filter(line => line.kind !== 'plain' || !line.isHidden);
  const hasHeadings = lines.some(({ kind }) => kind === 'heading');
  const hasItems = !hasHeadings && lines.some(line => ITEM.test(line.text));
  const parts: { words: string[]; done?: boolean }[] = [];
  let isOpen = false;
  for (const line of lines) {
    const [, tick, item] = (hasItems && ITEM.exec(line.text)) || [];
    const begin = line.kind === 'heading' ? line.title : item;
    const words = line.text.trim();
    if (begin !== undefined || (!isOpen && !hasHeadings && !hasItems && words !== '')) {
      parts.push({
        words: [begin ?? words],
        done: tick === undefined ? undefined : tick !== ' ',
      });
      isOpen = true;
    } else if (words === '') {
      isOpen = isOpen && (hasHeadings || hasItems);
    } else if (isOpen) {
      parts.at(-1)?.words.push(words);
    }
  }
  return parts.map(({ words, ...rest }) => ({ text: plain(words.join(' ')), ...rest }));
}

/** Without the marks of bold text, which lines of the view do not render. */
function plain(text: string): string {
  return text.replaceAll(/\*\*(.+?)\*\*/g, '$1').trim();
}
