import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import {
  LANGUAGES,
  problemsOf,
  readTexts,
  textKinds,
  translatedTexts,
} from '../../scripts/lib/l10nStrings.ts';

const root = path.resolve(import.meta.dirname, '../..');
/** Commands that a window starts, and what they share: their last words come to a person there. */
const OF_WINDOWS = [
  ...['runCommand', 'start/*', 'planCommand', 'splitCommand'],
  ...['doctorCommand', 'doctorChecks', 'doctor/*'],
  ...['draftByAgent', 'people', 'program', 'settingFlags', 'storyFiles'],
];

describe('the texts to be translated', () => {
  test('are found in code, whatever their quotes, and not in comments', () => {
    const source = [
      "l10n.t('It\\'s {0}', name);",
      't(\n  "two\\nlines",\n);',
      't(`plain`)',
      "// t('a comment')",
      "/* t('another') */ const url = 'http://x/t(y)';",
      "object.format('no text'); at('no text'); text.replace(/['`]/g, '');",
      ["const template = `it's $", '{t("inside")} and $', '{"}"} t(x)`;'].join(''),
    ].join('\n');
    assert.deepEqual(translatedTexts(source, 'x.ts'), [
      "It's {0}",
      'two\nlines',
      'plain',
      'inside',
    ]);
  });

  test('must be literals', () => {
    for (const call of [
      'l10n.t(text)',
      "t('a' + 'b')",
      ['t(`a $', '{b}`)'].join(''),
      "t(x ? 'a' : 'b')",
    ]) {
      assert.throws(() => translatedTexts(`\n${call};`, 'x.ts'), /^Error: x\.ts:2: /, call);
    }
  });

  test('what is missing, left over or differs in its places is a problem', () => {
    const kind = { english: { a: 'A {0}', b: 'B', c: '[C](command:c)' }, fileOf: () => '' };
    assert.deepEqual(problemsOf(kind, { a: 'Ä {0}', b: 'B', c: '[Z](command:c)' }), []);
    assert.equal(problemsOf(kind, { a: 'Ä', b: ' ', d: 'D' }).length, 4);
    assert.equal(problemsOf(kind, { a: 'Ä {0}', b: 'B', c: '[Z](command:d)' }).length, 1);
  });

  test('every error of the loop for a person is said by a template', () => {
    const bare = globSync(['src/orchestrator/**/*.ts', `src/cli/{${OF_WINDOWS.join()}}.ts`], {
      cwd: root,
    })
      .map(file => ({ file, source: readFileSync(path.join(root, file), 'utf8') }))
      .flatMap(({ file, source }) =>
        [
          ...source.matchAll(
            /new (?:HumanError|UsageError|InvalidArgumentError|OtherWorkError|HalfWritten)\(\s*['"`]/g,
          ),
        ].map(({ index }) => `${file}:${source.slice(0, index).split('\n').length}`),
      );
    assert.deepEqual(bare, []);
  });

  test('are many', () => {
    const [code, manifest] = textKinds(root);
    assert.ok(Object.keys(code?.english ?? {}).length > 50);
    assert.ok(Object.keys(manifest?.english ?? {}).length > 50);
  });
});

for (const language of LANGUAGES) {
  test(`every text is translated into ${language}`, () => {
    for (const kind of textKinds(root)) {
      const file = kind.fileOf(language);
      assert.deepEqual(problemsOf(kind, readTexts(root, file)), [], `${file}: see "npm run l10n"`);
    }
  });
}
