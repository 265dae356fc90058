// Compares the translations with the texts of the extension, and prints missing and unused ones.
import path from 'node:path';
import { LANGUAGES, problemsOf, readTexts, textKinds } from './lib/l10nStrings.ts';

const root = path.resolve(import.meta.dirname, '..');
let count = 0;
for (const kind of textKinds(root)) {
  console.log(`${Object.keys(kind.english).length} texts`);
  for (const language of LANGUAGES) {
    const file = kind.fileOf(language);
    const problems = problemsOf(kind, readTexts(root, file));
    count += problems.length;
    console.log([`${file}: ${problems.length} to fix`, ...problems].join('\n  '));
  }
}
process.exitCode = count === 0 ? 0 : 1;
