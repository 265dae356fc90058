import type { Criterion } from '../story.ts';

const ITEM = /^[\t ]*(?:[-*+\u2022]|\d{1,9}[.)])[\t ]+(?:\[([ xX])\][\t ]+)?(\S.*)$/s;

/**
 * The criteria of a text that is nothing but a list, such as "1. It opens\n2. It closes"; `undefined` if it is another
 * text. What is indented below an item belongs to it.
 */
export function criteriaInText(text: string): readonly Criterion[] | undefined {
  const lines = text.split(/\r\n|\r|\n/).filter(line => line.trim() !== '');
  const margin = indentOf(lines[0] ?? '');
  const found: { text: string; done?: boolean }[] = [];
  for (const line of lines) {
    const isInside = indentOf(line) > margin;
    const last = found.at(-1);
    const [, mark, words] = isInside ? [] : (ITEM.exec(line) ?? []);
    if (words !== undefined) {
      found.push({ text: words.trim(), ...(mark !== undefined && { done: mark !== ' ' }) });
    } else if (isInside && last !== undefined) {
      last.text += `\n${line.trim()}`;
    } else {
      return undefined;
    }
  }
  return found.length === 0 ? undefined : found;
}

function indentOf(line: string): number {
  return line.length - line.trimStart().length;
}
