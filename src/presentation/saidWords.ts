/** Ends the keys of the loop's own templates in a bundle, as VS Code writes a comment behind a text. */
export const SAID = '/loop';

/** A longer text is no sentence of the loop. */
const MAX_TEXT = 10_000;
/** A sentence in a sentence in a sentence: a file with a line with what is wrong there. */
const MAX_DEPTH = 4;

interface Template {
  /** The English words around the places, in their order. */
  readonly words: readonly string[];
  /** The number of each place, in their order. */
  readonly places: readonly string[];
  readonly translated: string;
}

/**
 * Says the loop's English sentences in another language. They come as finished texts, from errors, journals and the output
 * of other processes, so each is known again by its template (see `say.ts`), and what stands in its places likewise.
 */
export class SaidWords {
  private readonly fixed = new Map<string, string>();
  private readonly templates: readonly Template[];

  /** @param bundle translations by their English texts, as in `l10n/` */
  constructor(bundle: Readonly<Record<string, string>>) {
    const templates: Template[] = [];
    for (const [key, translated] of Object.entries(bundle)) {
      if (!key.endsWith(SAID)) {
        continue;
      }
      const text = key.slice(0, -SAID.length);
      const words = text.split(/\{\d+\}/);
      if (words.length === 1) {
        this.fixed.set(text, translated);
      } else {
        const places = [...text.matchAll(/\{(\d+)\}/g)].map(([, number = '']) => number);
        templates.push({ words, places, translated });
      }
    }
    // What says most fits best: `{0}: {1}` fits nearly everything.
    this.templates = templates.sort((a, b) => lengthOf(b) - lengthOf(a));
  }

  /** @returns the text itself where it is not one of the loop's sentences */
  in(text: string): string {
    return this.translated(text, MAX_DEPTH);
  }

  private translated(text: string, depth: number): string {
    if (depth === 0 || text.length > MAX_TEXT) {
      return text;
    }
    const fixed = this.fixed.get(text);
    if (fixed !== undefined) {
      return fixed;
    }
    for (const template of this.templates) {
      const values = valuesOf(template, text);
      if (values === undefined) {
        continue;
      }
      const translated = new Map(
        [...values].map(([place, value]) => [place, this.translated(value, depth - 1)]),
      );
      // Without words of its own, `{0}: {1}` or `{0}:{1}: {2}.`, it only counts by what stands in its places.
      if (
        template.words.some(part => /\p{L}/u.test(part)) ||
        [...values].some(([place, value]) => translated.get(place) !== value)
      ) {
        return template.translated.replace(
          /\{(\d+)\}/g,
          (place, number) => translated.get(number) ?? place,
        );
      }
    }
    return text;
  }
}

/** What stands in the places of a text that was made of the template; `undefined` when it was not. */
function valuesOf(
  { places, words }: Template,
  text: string,
): ReadonlyMap<string, string> | undefined {
  const [first = ''] = words;
  const last = words.at(-1) ?? '';
  const end = text.length - last.length;
  if (!text.startsWith(first) || !text.endsWith(last)) {
    return undefined;
  }
  const values = new Map<string, string>();
  let from = first.length;
  for (const [index, place] of places.entries()) {
    const isLast = index === places.length - 1;
    const to = isLast ? end : text.indexOf(words[index + 1] ?? '', from);
    if (to < from || to > end) {
      return undefined;
    }
    const value = text.slice(from, to);
    if ((values.get(place) ?? value) !== value) {
      return undefined;
    }
    values.set(place, value);
    from = to + (words[index + 1] ?? '').length;
  }
  return values;
}

function lengthOf({ words }: Template): number {
  return words.reduce((sum, part) => sum + part.length, 0);
}
