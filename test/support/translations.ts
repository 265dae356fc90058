import { readFileSync } from 'node:fs';
import path from 'node:path';
import { saidIn } from '../../src/presentation/said.ts';
import { english, type Translate } from '../../src/presentation/translate.ts';

/** The texts of a window in one of the supported languages. */
export function translationInto(language: 'de' | 'ja'): Translate {
  const texts = bundleOf(language);
  return Object.assign(
    (message: string, ...args: (string | number | boolean)[]) => {
      const text = texts[message];
      if (text === undefined) {
        throw new Error(`No ${language} text for: ${message}`);
      }
      return english(text, ...args);
    },
    { language, said: saidIn(texts) },
  );
}

/** English texts and their translations, as VS Code reads them. */
export function bundleOf(language: 'de' | 'ja'): Readonly<Record<string, string>> {
  const file = path.resolve(import.meta.dirname, `../../l10n/bundle.l10n.${language}.json`);
  return JSON.parse(readFileSync(file, 'utf8')) as Record<string, string>;
}
