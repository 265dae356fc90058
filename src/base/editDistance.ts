/** The number of UTF-16 units that must be added, removed or replaced (Levenshtein distance). */
export function editDistance(a: string, b: string): number {
  let row = Array.from({ length: b.length + 1 }, (_, index) => index);
  for (let i = 1; i <= a.length; i += 1) {
    const next = [i];
    for (let j = 1; j <= b.length; j += 1) {
      const same = a[i - 1] === b[j - 1] ? 0 : 1;
      next.push(Math.min((row[j] ?? 0) + 1, (next[j - 1] ?? 0) + 1, (row[j - 1] ?? 0) + same));
    }
    row = next;
  }
  return row[b.length] ?? 0;
}

/** Words of their own, one letter from names that are looked for. */
const WORDS: ReadonlySet<string> = new Set(['parsed', 'parsing', 'required', 'stage']);
/** In letters: shorter names are too much alike. */
const SHORTEST_TYPO = 5;

/** Whether a name is another one with one typing error, such as `pases`, or without its plural. */
export function isAlmost(name: string, known: string): boolean {
  if (name === `${known}s` || known === `${name}s`) {
    return true;
  }
  return (
    Math.min(name.length, known.length) >= SHORTEST_TYPO &&
    name[0] === known[0] &&
    !WORDS.has(name) &&
    Math.abs(name.length - known.length) <= 1 &&
    (editDistance(name, known) === 1 || isSwapped(name, known))
  );
}

/** Whether two neighboring letters have changed places, as in `stauts`. */
function isSwapped(name: string, known: string): boolean {
  const at = [...known].findIndex((letter, index) => letter !== name[index]);
  const swapped = `${known.slice(0, at)}${known[at + 1] ?? ''}${known[at] ?? ''}${known.slice(at + 2)}`;
  return at !== -1 && name === swapped;
}
