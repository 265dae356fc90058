/** Suffix of the loop's own templates in a bundle, in the form VS Code uses for a comment on a text. */
export const SAID = '/loop';

/** A longer text cannot be a sentence of the loop. */
const MAX_TEXT = 10_000;
/** Sentences can be nested: a file with a line, and what is wrong in it. */
const MAX_DEPTH = 4;
/** Maximum number of sentences, or lines, of one text that are matched individually. */
const MAX_SENTENCES = 12;

interface Template {
  /** The English words between the placeholders, in order. */
  readonly words: readonly string[];
  /** The number of each placeholder, in order. */
  readonly places: readonly string[];
  readonly translated: string;
}

interface Translation {
  readonly text: string;
  /** Number of UTF-16 units of the English text that were not recognized and stay untranslated. */
  readonly unknown: number;
}

/**
 * Translates English sentences of the loop that are finished texts, as journals before 0.2 have them: each is matched
 * against its template, and so are the values of its placeholders. Only for a plain string of a journal. What is said
 * since then is a message with a key (see `say.ts`), which never comes here.
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
    // The most specific template is the best match: `{0}: {1}` matches nearly everything.
    this.templates = templates.sort((a, b) => lengthOf(b) - lengthOf(a));
  }

  /** @returns the text itself if neither it nor any of its sentences comes from the loop */
  in(text: string): string {
    return this.translated(text, MAX_DEPTH, new Map()).text;
  }

  /** The reading of the text with the largest recognized part. */
  private translated(text: string, depth: number, known: Map<string, Translation>): Translation {
    const asItIs = { text, unknown: text.length };
    if (depth === 0 || text.length > MAX_TEXT) {
      return asItIs;
    }
    const fixed = this.fixed.get(text);
    if (fixed !== undefined) {
      return { text: fixed, unknown: 0 };
    }
    const key = `${depth}${text}`;
    let best = known.get(key);
    if (best === undefined) {
      best = asItIs;
      for (const found of this.readings(text, depth, known)) {
        best = found.unknown < best.unknown ? found : best;
      }
      known.set(key, best);
    }
    return best;
  }

  /** As one sentence, and as several: a list of problems can be the value of one placeholder. */
  private *readings(
    text: string,
    depth: number,
    known: Map<string, Translation>,
  ): Generator<Translation> {
    for (const template of this.templates) {
      const values = valuesOf(template, text);
      if (values === undefined) {
        continue;
      }
      let unknown = 0;
      let isKnown = template.words.some(part => /\p{L}/u.test(part));
      const translated = new Map<string, string>();
      for (const [place, value] of values) {
        const found = this.translated(value, depth - 1, known);
        translated.set(place, found.text);
        unknown += found.unknown;
        isKnown ||= found.text !== value;
      }
      // A template without words, `{0}: {1}` or `{0}:{1}: {2}.`, only counts by the values of its placeholders.
      if (isKnown) {
        const inPlaces = template.translated.replace(
          /\{(\d+)\}/g,
          (place, number) => translated.get(number) ?? place,
        );
        yield { text: inPlaces, unknown };
      }
    }
    const ends = [...text.matchAll(/(?<=[.!?])[ \n]+(?=.)|\n+(?=.)/g)];
    for (const { 0: space, index } of ends.length < MAX_SENTENCES ? ends : []) {
      const first = this.translated(text.slice(0, index), depth, known);
      const others = this.translated(text.slice(index + space.length), depth, known);
      yield {
        text: first.text + space + others.text,
        unknown: first.unknown + others.unknown + space.length,
      };
    }
  }
}

/** The placeholder values of a text that was made from the template; `undefined` if it was not. */
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
