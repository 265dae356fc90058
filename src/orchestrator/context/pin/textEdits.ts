/** Whole lines that are taken out of a text or put into it; by line, from 0. */
export interface LineEdits {
  readonly removed: Set<number>;
  /** Before this line. */
  readonly inserted: Map<number, readonly string[]>;
}

/** Applies edits of lines. All other bytes stay, but a last line without a line break gets one if a line follows. */
export function withEdits(
  text: string,
  lines: readonly { readonly offset: number }[],
  { inserted, removed }: LineEdits,
): string {
  const eol = lineBreakOf(text);
  let edited = '';
  const add = (raw: string) => {
    edited += edited === '' || /[\r\n]$/.test(edited) ? raw : eol + raw;
  };
  lines.forEach(({ offset }, line) => {
    for (const content of inserted.get(line) ?? []) {
      add(content + eol);
    }
    const raw = text.slice(offset, lines[line + 1]?.offset ?? text.length);
    if (!removed.has(line) && raw !== '') {
      add(raw);
    }
  });
  for (const content of inserted.get(lines.length) ?? []) {
    add(content + eol);
  }
  return edited;
}

/** Appends sections, each as its lines, with an empty line before each. */
export function withSections(text: string, sections: readonly (readonly string[])[]): string {
  const eol = lineBreakOf(text);
  let longer = text;
  for (const lines of sections) {
    if (longer !== '' && !/[\r\n]$/.test(longer)) {
      longer += eol;
    }
    const end = longer.slice(-1_000).replace(/\r\n?/g, '\n');
    const isApart = longer === '' || /(?:^|\n)[ \t]*\n$/.test(end);
    longer += (isApart ? '' : eol) + lines.map(line => line + eol).join('');
  }
  return longer;
}

/** The line break that a text uses; the first one counts. */
function lineBreakOf(text: string): string {
  return /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
}
