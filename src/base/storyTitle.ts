/**
 * The title of a story as it is shown next to its id: items of plans often begin with it, `T002 [P] Configure…`, and it
 * need not be read twice. A title that has nothing else stays.
 */
export function titleNextTo(id: string, title: string): string {
  const [, mark = '', found] = /^(\*\*|__|[`[(])?(.*)$/su.exec(title.trim()) ?? [];
  if (id === '' || found?.startsWith(id) !== true) {
    return title;
  }
  // Not “T10” for “T1”, “1.2” for “1”, or “US-3's” for “US-3”; what closes the mark belongs to the id.
  const [, closed, separator = '', rest = ''] =
    /^([.:)\]`*_]*)(?=\s|$)\s*([-\u2013\u2014:|]\s+)?(.*)$/su.exec(found.slice(id.length)) ?? [];
  const isWhole = closed !== undefined && (mark === '' || closed.includes(closing(mark)));
  return isWhole && rest !== '' && !isOfTitle(id, { closed, separator, rest }) ? rest : title;
}

/** Whether the id is a part of what the title says: “3 tries”, “A person signs in”, “T4 - T6: Set up”, “T1 and T2”. */
function isOfTitle(
  id: string,
  { closed, separator, rest }: Readonly<Record<'closed' | 'separator' | 'rest', string>>,
): boolean {
  if (closed !== '') {
    return false;
  }
  if (/^(?:\d+|\P{N}+)$/u.test(id)) {
    return separator === '';
  }
  const next = kindOf(rest.replace(/^(?:and|or|to|[&+/,\u2192]|->)\s+/i, ''));
  return next.startsWith(kindOf(id)) && !/^[\p{L}\p{N}]/u.test(next.slice(kindOf(id).length));
}

/** What a text has in common with others that have other numbers. */
function kindOf(text: string): string {
  return text.toLowerCase().replaceAll(/\d+/g, '0');
}

/** What follows the id of a story where it is named with its title: `: Title`, or nothing if the title says no more. */
export function titleAfterId(id: string, title: string): string {
  const shown = titleNextTo(id, title).trim();
  return [id, ''].includes(shown.replace(/^[*_`[(]{1,2}|[*_`\]).:]{1,3}$/g, ''))
    ? ''
    : `: ${shown}`;
}

/** The id of a story with its title behind it; the id alone if the title says nothing else. */
export function idWithTitle(id: string, title: string): string {
  const shown = titleNextTo(id, title).trim();
  return shown === '' || shown === id ? id : `${id} ${shown}`.trim();
}

function closing(mark: string): string {
  return mark === '[' ? ']' : mark === '(' ? ')' : mark;
}
