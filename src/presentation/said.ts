import { textOf, type Words } from '../base/say.ts';
import { SAID, SaidWords } from './saidWords.ts';

/**
 * A function for the text of words in another language; in English where a translation is missing.
 * @param bundle translations by their English texts, as in `l10n/`
 */
export function saidIn(bundle: Readonly<Record<string, string>>): (words: Words) => string {
  let old: SaidWords | undefined;
  return words => {
    if (typeof words === 'string') {
      old ??= new SaidWords(bundle);
      return old.in(words);
    }
    return textOf(words, key => bundle[`${key}${SAID}`] ?? key);
  };
}
