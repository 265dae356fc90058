import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { CodeIndex } from '../../src/orchestrator/context/codeIndex.ts';
import { codeWords, kindWords, storyWords } from '../../src/orchestrator/context/codeWords.ts';
import { scored } from '../../src/orchestrator/context/evaluation/evaluate.ts';
import { fileWordsOf } from '../../src/orchestrator/context/fileWords.ts';
import { rankedFiles, reasonOf } from '../../src/orchestrator/context/ranking.ts';
import { signalsOf } from '../../src/orchestrator/context/signals.ts';
import { best } from '../../src/orchestrator/context/values.ts';
import { Vocabulary } from '../../src/orchestrator/context/vocabulary.ts';
import { WordIndex } from '../../src/orchestrator/context/wordIndex.ts';

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 200 }),
  fc.stringMatching(/^(?:[a-z]{2,6}[ \n_(]){0,30}$/),
);
const file = fc.record({ path: fc.stringMatching(/^[a-z]{1,3}(?:\/[a-z_.]{1,8}){0,3}$/), text });
const files = fc.uniqueArray(file, { selector: ({ path }) => path, maxLength: 12 });
const commit = fc.record({
  hash: fc.constant('0'.repeat(40)),
  subject: text,
  body: text,
  files: fc.array(fc.stringMatching(/^[a-z]{1,3}$/), { maxLength: 5 }),
  size: fc.nat({ max: 80 }),
});

describe('the index of the code', () => {
  test('any files, commits and stories give an order without repetition, the same every time', () => {
    fc.assert(
      fc.property(
        files,
        fc.array(commit, { maxLength: 8 }),
        text,
        fc.nat(15),
        (all, past, story, limit) => {
          const index = CodeIndex.of(all, past);
          const found = rankedFiles(index, story, limit);
          const paths = found.map(({ path }) => path);
          assert.ok(paths.length <= limit);
          assert.equal(new Set(paths).size, paths.length);
          assert.ok(paths.every(path => all.some(known => known.path === path)));
          assert.ok(found.every(({ score }) => Number.isFinite(score)));
          assert.deepEqual(rankedFiles(CodeIndex.of(all, past), story, limit), found);
        },
      ),
    );
  });

  test('every signal of every file is a number from 0', () => {
    fc.assert(
      fc.property(files, fc.array(commit, { maxLength: 8 }), text, (all, past, story) => {
        for (const [name, values] of signalsOf(CodeIndex.of(all, past), story).values) {
          for (const value of values) {
            assert.ok(Number.isFinite(value) && value >= 0, `${name}: ${value}`);
          }
        }
      }),
    );
  });

  test('an index made from an earlier one says the same as a new one, whatever files came, went or moved', () => {
    // Few paths and texts, so that files change, come back, and have the content of another.
    const some = ['a.ts', 'b.ts', 'a/a.ts', 'a/b_test.ts', 'b/a.ts', 'b/b.ts'];
    const change = fc.tuple(
      fc.constantFrom(...some),
      fc.option(fc.constantFrom('', 'one two', 'two three', 'def one\ntwo two'), {
        nil: undefined,
      }),
    );
    // More than an index takes over.
    const many = Array.from(
      { length: 60 },
      (_, i) => [`many/part${i}.ts`, `one part${i}`] as const,
    );
    const gone = many.map(([path]) => [path, undefined] as const);
    const step = fc.oneof(
      { weight: 6, arbitrary: fc.array(change, { minLength: 1, maxLength: 4 }) },
      { weight: 1, arbitrary: fc.constantFrom(many, gone) },
    );
    const commits = ['one', 'a two', 'fix: three'].map((subject, i) => ({
      ...{ hash: `${i}`.repeat(40), subject, body: '' },
      ...{ files: some.slice(i, 2 * i + 1), size: i + 1 },
    }));
    fc.assert(
      fc.property(fc.array(step, { maxLength: 12 }), fc.nat(3), (steps, past) => {
        const vocabulary = new Vocabulary();
        const words = new Map<string, ReturnType<typeof fileWordsOf>>();
        const texts = new Map<string, string>();
        let index: CodeIndex | undefined;
        for (const own of steps) {
          for (const [path, now] of own) {
            if (now === undefined) {
              texts.delete(path);
            } else {
              texts.set(path, now);
              words.set(now, words.get(now) ?? fileWordsOf(now, vocabulary));
            }
          }
          const all = Array.from(texts, ([path, text]) => ({ path, text })).sort((a, b) =>
            a.path < b.path ? -1 : 1,
          );
          const history = commits.slice(past);
          const found = all.flatMap(({ path, text }) => {
            const known = words.get(text);
            return known === undefined ? [] : [{ path, words: known }];
          });
          index = new CodeIndex(found, history, vocabulary, index);
          const anew = CodeIndex.of(all, history);
          for (const story of ['one', 'fix: three in a_test', 'two part7 of many']) {
            assert.deepEqual(signalsOf(index, story), signalsOf(anew, story));
            assert.deepEqual(rankedFiles(index, story, 20), rankedFiles(anew, story, 20));
          }
        }
      }),
      { numRuns: 40 },
    );
  });

  test('a vocabulary has the numbers of exactly the words of every text', () => {
    const code = fc.stringMatching(/^[[\]_a-cA-Cx19é\n (]{0,60}$/);
    fc.assert(
      fc.property(fc.array(fc.oneof(text, code), { maxLength: 8 }), texts => {
        const vocabulary = new Vocabulary();
        const found = [...texts, ...texts].map(own => vocabulary.numbersOf(own));
        const { words } = vocabulary;
        assert.deepEqual(
          found.map(numbers => numbers.map(number => words[number])),
          [...texts, ...texts].map(codeWords),
        );
      }),
    );
  });

  test('it remembers the words of more names than a large repository has', () => {
    const vocabulary = new Vocabulary();
    const names = Array.from({ length: 140_000 }, (_, i) => `x${i}`);
    const found = [...names, ...names.slice(0, 100)].flatMap(name => vocabulary.numbersOf(name));
    assert.equal(vocabulary.size, names.length);
    assert.deepEqual(found.slice(0, 100), found.slice(-100));
  });

  test('a file that little speaks for is not said to be named, or to define what it does not', () => {
    const change = (subject: string, ...paths: string[]) => ({
      ...{ hash: '0'.repeat(40), subject, body: '' },
      ...{ files: paths, size: paths.length },
    });
    const index = CodeIndex.of(
      [
        { path: 'start.js', text: 'console.log(1)\n' },
        { path: 'src/login.js', text: 'export function openSession(user) {}' },
        { path: 'src/token.js', text: 'export function signinToken() {}' },
        { path: 'src/page.js', text: 'signin' },
      ],
      [
        change('signin token', 'src/token.js', 'src/page.js'),
        change('fix: signin page', 'src/login.js'),
        change('begin', 'start.js'),
      ],
    );
    const story = 'signin fails with a token';
    const { files: numbers, values } = signalsOf(index, story);
    const found = rankedFiles(index, story, 9);
    assert.equal(found.length, 4);
    for (const { path, reason } of found) {
      const at = numbers.findIndex(number => index.paths[number] === path);
      const speaks = ([signal, own]: readonly [string, Float64Array]) =>
        reasonOf(signal) === reason && (own[at] ?? 0) > 0;
      assert.ok([...values].some(speaks), `${path}: ${reason}`);
    }
  });

  test('the best are those that a complete sort puts first', () => {
    const scores = fc.array(fc.nat({ max: 6 }), { maxLength: 40 });
    fc.assert(
      fc.property(scores, fc.integer({ min: 1, max: 12 }), fc.boolean(), (all, count, withZero) => {
        const sorted = Array.from(all.keys())
          .filter(document => withZero || (all[document] ?? 0) > 0)
          .sort((a, b) => (all[b] ?? 0) - (all[a] ?? 0) || a - b);
        assert.deepEqual(best(Float64Array.from(all), count, withZero), sorted.slice(0, count));
      }),
    );
  });

  test('a name counts as a whole and by its parts, without endings', () => {
    assert.deepEqual(codeWords('parseUrls HTTPServer MAX_SIZE'), [
      'parseurl',
      'pars',
      'url',
      'httpserv',
      'http',
      'serv',
      'max_siz',
      'max',
      'size',
    ]);
    assert.deepEqual([...storyWords('fix: the parsing of the parsed')], ['pars']);
  });

  test('a conventional subject has a type and a scope', () => {
    assert.deepEqual(kindWords('fix(auth)!: Log in 1.2.3 (#12)'), [
      'type:fix',
      'scope:auth',
      'first:fix',
      'first:fix auth',
      'version',
      'number',
    ]);
    assert.deepEqual(kindWords('日本語'), []);
  });

  test('a rare word counts more than a common one, and a short text more than a long one', () => {
    const words = (text: string) => new Map(text.split(' ').map(word => [word, 1] as const));
    const index = WordIndex.of([words('a b'), words('a c'), words('a b d e f g')]);
    assert.ok(index.rarity('c') > index.rarity('b') && index.rarity('b') > index.rarity('a'));
    const [short = 0, none, long = 0] = index.scores(['b']);
    assert.ok(short > long && long > 0);
    assert.equal(none, 0);
  });

  test('an engine is scored by the ranks of the changed files in its results', () => {
    const found = Array.from({ length: 20 }, (_, i) => `f${i}`);
    assert.deepEqual(scored(found, new Set(['f1', 'f12', 'other', 'f3'])), {
      hit10: 1,
      recall10: 0.5,
      recall20: 0.75,
      mrr: 0.5,
    });
    assert.deepEqual(scored([], new Set(['a'])), { hit10: 0, recall10: 0, recall20: 0, mrr: 0 });
  });
});
