import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { literalsIn } from '../../scripts/lib/l10nStrings.ts';

const root = path.resolve(import.meta.dirname, '../..');

/** Files whose English texts nobody reads in the window. */
const NOT_FOR_PEOPLE: Readonly<Record<string, string>> = {
  'src/views/tools/languageModelTools.ts': 'answers to a language model',
  'src/views/progress/promptXray.ts': 'headings of the prompt, to find its parts',
  'src/views/diff/reviewNote.ts': 'told to an agent',
};
/** Texts that are the same in every language, or only compared. */
const SAME_EVERYWHERE: ReadonlySet<string> = new Set([
  'Ralph',
  '[Ralph Fresh] ',
  'Claude Code',
  'Claude Agent SDK',
  'npm test',
  'Enter',
  '.headline .actions button:last-of-type',
  // What a doctor of an older version says is known by its beginning.
  'Claude Code was not found',
]);

/** Texts in code of the window that a person might see and that are not translated, each behind its line. */
function bareTexts(source: string): string[] {
  return literalsIn(source)
    .filter(({ index, text }) => {
      const before = source.slice(0, index);
      const isTranslated = /\bt\(\s*$/.test(before);
      const isLogged = /\blog\.\w+\([^;]*$/.test(before.slice(-200));
      return !isTranslated && !isLogged && !SAME_EVERYWHERE.has(text) && isVisible(text, before);
    })
    .map(({ index, text }) => `${source.slice(0, index).split('\n').length}: ${text}`);
}

/** Words, a word like a sentence's first, or anything said in a place that VS Code or a browser shows. */
function isVisible(text: string, before: string): boolean {
  const withoutTags = text.replaceAll(/<!--.*?-->|<[^<>]*>/gs, ' ').trim();
  return (
    /\p{L}{2,} \p{L}{2,}/u.test(withoutTags) ||
    /^\p{Lu}\p{Ll}+[.!?…]?$/u.test(withoutTags) ||
    /\b(?:aria-label|title|placeholder|alt)="[^"…]*\p{L}{2}/u.test(text) ||
    (/\b(?:label|title|tooltip|description|placeHolder|prompt|detail|message)(?::| =)\s*$/.test(
      before,
    ) &&
      /\p{L}{2}/u.test(withoutTags.replaceAll(/\$\([^)]*\)/g, '')))
  );
}

describe('text shown in the window', () => {
  test('is found if it is not translated, in code and in a page', () => {
    assert.deepEqual(
      bareTexts(
        [
          "item.tooltip = 'stopped';",
          "item.label = l10n.t('Stopped');",
          "const text = done ? 'All is done' : '';",
          [
            'html`<p class="a b">$',
            '{words} of all</p><i title="More">$',
            '{t("Less")}</i>`;',
          ].join(''),
          ['html`<p class="one two" id=$', '{id}>$', '{words}</p>`;'].join(''),
          "this.log.info('Looked at it');",
          "// 'a comment'",
          "import { x } from './a b.ts';",
        ].join('\n'),
      ),
      ['1: stopped', '3: All is done', '4: <p class="a b">… of all</p><i title="More">…</i>'],
    );
  });

  test('is translated', () => {
    const files = globSync('src/{views,webview}/**/*.ts', { cwd: root }).map(file =>
      file.split(path.sep).join('/'),
    );
    assert.ok(files.length > 80);
    const bare = files
      .filter(file => !(file in NOT_FOR_PEOPLE))
      .flatMap(file =>
        bareTexts(readFileSync(path.join(root, file), 'utf8')).map(text => `${file}:${text}`),
      );
    assert.deepEqual(bare, []);
  });
});
