import { type MarkdownLine, outermost } from '../formats/markdownBlocks.ts';

/** The next item of a plan whose items are numbered. */
export interface NextItem {
  readonly id: string;
  /** What its text begins with. */
  readonly label: string;
  /** Index of the line of the last checkbox in its section: of the last one that has an open item. */
  readonly last: number;
  /** What is below an item is a list. */
  readonly isListBelow: boolean;
}

/** A checkbox of a plan. */
export interface NumberedItem {
  readonly line: Extract<MarkdownLine, { kind: 'checkbox' }>;
  /** Index of its line. */
  readonly index: number;
  /** At the start of its text. */
  readonly id: string | undefined;
  /** Its story is not called by its place in the file. */
  readonly isNamed: boolean;
  readonly isDone: boolean;
}

/**
 * How the next item is numbered: `T013` (Spec Kit), `2.4` in section 2 (OpenSpec), `9.` (Kiro).
 * @returns `undefined` if the items are not numbered in such a way
 */
export function nextItem(
  lines: readonly MarkdownLine[],
  items: readonly NumberedItem[],
): NextItem | undefined {
  const section = sectionOf(lines, items);
  const isStruck = ({ line }: NumberedItem) => line.checkbox.text.startsWith('~~');
  const outer = outermost(items.map(({ line }) => line));
  const model = section.findLast(
    item => item.line.checkbox.indent === outer && item.id !== undefined && !isStruck(item),
  );
  const last = section.at(-1);
  const text = model?.line.checkbox.text ?? '';
  if (model?.id === undefined || last === undefined || !text.startsWith(model.id)) {
    return undefined;
  }
  const [, head, number = ''] = /^(T|\d{1,9}\.|)(\d{1,9})$/.exec(model.id) ?? [];
  if (head === undefined) {
    return undefined;
  }
  const named = head === 'T' ? mentionedCodes(lines, number.length) : numbersWithoutBox(lines);
  const numbers = [...items.flatMap(({ id }) => id ?? []), ...named].flatMap(id => {
    const rest = id.startsWith(head) ? id.slice(head.length) : '';
    return /^\d{1,9}$/.test(rest) ? [Number(rest)] : [];
  });
  const next = numbers.reduce((most, one) => Math.max(most, one), 0) + 1;
  const digits = head === 'T' ? number.length : 1;
  const id = head + String(next).padStart(digits, '0');
  const [mark = ''] = /^[.:)]?/.exec(text.slice(model.id.length)) ?? [];
  return { id, label: id + mark, last: last.index, isListBelow: head === '' };
}

/** Codes such as `T012` anywhere in the text: others may wait for what is no longer an item. */
function mentionedCodes(lines: readonly MarkdownLine[], digits: number): readonly string[] {
  return lines
    .flatMap(({ text }) => text.match(/(?<![\w-])T\d{1,9}(?!\w)/g) ?? [])
    .filter(code => code.length > digits);
}

/** Numbers of tasks that were put away by taking their box, or by striking them through: `- ~~2.4 Cart~~`. */
function numbersWithoutBox(lines: readonly MarkdownLine[]): readonly string[] {
  return lines.flatMap(line => {
    // An item that is struck through in part has no id, and its old number must not be used again.
    const text =
      line.kind === 'checkbox' ? `- ${/^~~.*/s.exec(line.checkbox.text)?.[0] ?? ''}` : line.text;
    const [, number] =
      /^[-*+][\t ]+(?:~~)?(\d{1,9}(?:\.\d{1,9})+|\d{1,9}(?=\.))\.?[\t ~]/.exec(text) ?? [];
    return number ?? [];
  });
}

/**
 * The items below the last heading that has an open one, or below the last. Items behind them that are called by
 * their place in the file would get other names: then it is the last section.
 */
function sectionOf(
  lines: readonly MarkdownLine[],
  items: readonly NumberedItem[],
): readonly NumberedItem[] {
  const headings = lines.flatMap(({ kind }, index) => (kind === 'heading' ? [index] : []));
  const headingOf = ({ index }: NumberedItem) =>
    headings.findLast(heading => heading < index) ?? -1;
  const open = items.findLast(({ isDone }) => !isDone) ?? items.at(-1);
  const own = open === undefined ? [] : items.filter(item => headingOf(item) === headingOf(open));
  const end = own.at(-1)?.index ?? 0;
  const last = items.at(-1);
  return last === undefined || items.every(({ index, isNamed }) => index <= end || isNamed)
    ? own
    : items.filter(item => headingOf(item) === headingOf(last));
}
