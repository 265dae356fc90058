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

/** The sentences of the loop and of its transcript; those of the views have doors of their own. */
const SENTENCES = new Map(
  ['src/presentation/**/*.ts', 'src/orchestrator/**/*.ts']
    .flatMap(pattern => globSync(pattern, { cwd: root }))
    .map(file => ({ file, source: readFileSync(path.join(root, file), 'utf8') }))
    .flatMap(({ file, source }) =>
      (['t', 'say'] as const)
        // The demo agent has methods of that name.
        .filter(name => name === 't' || source.includes("/say.ts';"))
        .flatMap(name => translatedTexts(source, file, name)),
    )
    .map(text => [text, text]),
);
/** A number, and several of something. */
const COUNTED =
  /\{\d\} ((?:more|other|earlier|open) )?(character|check|commit|file|iteration|line|problem|process|stor|task|turn|entr)(?:e?s|ies)\b/;
/** What is never one: by what is asked before, or since it tells a part of a whole. */
const NEVER_ONE = [
  ...['{1} of {2} stories', '{0}/{1} stories', 'has {1} stories with the id'],
  ...['used all of its {0} iterations', 'while {0} stories were at work', 'working on {0} stories'],
  ...['There are {0} stories with the id', '({3} stories)', 'must have at least {0}'],
  'from {1} to {2} lines',
];

/** The same for a text of one and for its sibling of several. */
function shapeOf(text: string): string {
  return text
    .replaceAll(/\{\d\}/g, '')
    .replaceAll(/\b(1 )?((?:more|other|earlier|open) )?(stor|entr)y\b/g, '1 $2$3')
    .replaceAll(/\bare\b/g, 'is')
    .replaceAll(/\s+/g, ' ');
}

describe('translatable texts', () => {
  test('are found in code with any quotes, but not in comments', () => {
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

  test('missing, surplus and mismatched placeholders are reported as problems', () => {
    const kind = { english: { a: 'A {0}', b: 'B', c: '[C](command:c)' }, fileOf: () => '' };
    assert.deepEqual(problemsOf(kind, { a: 'Ä {0}', b: 'B', c: '[Z](command:c)' }), []);
    assert.equal(problemsOf(kind, { a: 'Ä', b: ' ', d: 'D' }).length, 4);
    assert.equal(problemsOf(kind, { a: 'Ä {0}', b: 'B', c: '[Z](command:d)' }).length, 1);
  });

  test('every error that the loop shows to people is a template', () => {
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

  test('every text with a count has a singular form', () => {
    const texts = [...SENTENCES.values()];
    assert.ok(texts.length > 500);
    const ones = new Set(texts.map(shapeOf));
    const bare = texts.filter(
      text => COUNTED.test(text) && !ones.has(shapeOf(text.replace(COUNTED, '1 $1$2'))),
    );
    assert.deepEqual(
      bare.filter(text => !NEVER_ONE.some(never => text.includes(never))),
      [],
    );
  });

  test('are found in large numbers', () => {
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
