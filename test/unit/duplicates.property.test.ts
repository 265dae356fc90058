import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { candidatesFor } from '../../src/orchestrator/context/duplicates/candidates.ts';
import {
  fingerprintOf,
  similarity,
} from '../../src/orchestrator/context/duplicates/fingerprint.ts';
import { newCodeOf } from '../../src/orchestrator/context/duplicates/newCode.ts';
import {
  areVariants,
  isDistinctive,
  isOrdinary,
} from '../../src/orchestrator/context/duplicates/ordinary.ts';
import {
  keptFunctions,
  type OldSource,
  repeatsOf,
} from '../../src/orchestrator/context/duplicates/repeats.ts';

const SHORTEN = `export function shortenTitle(title: string, most: number): string {
  const words = title.trim().split(' ').filter(word => word.length > 0);
  let shown = words.shift() ?? 'untitled';
  for (const word of words) {
    if (shown.concat(' ', word).length > most) {
      return shown.concat('…');
    }
    shown = shown.concat(' ', word);
  }
  return shown.normalize('NFC');
}
`;
/** The same with other names, in another style. */
const COPY = SHORTEN.replaceAll('shortenTitle', 'cutHeading')
  .replaceAll('title', 'text')
  .replaceAll('shown', 'result')
  .replaceAll(';\n', '; // as usual\n');
const OTHER = `export function parseRange(text: string): number[] {
  const [from, to] = text.split('-').map(Number);
  if (from === undefined || Number.isNaN(from)) {
    throw new RangeError(text);
  }
  return Array.from({ length: (to ?? from) - from + 1 }, (_, index) => from + index);
}
`;

/** What is reported of a new file next to old ones. */
function reports(
  added: Readonly<Record<string, string>>,
  old: readonly OldSource[],
): readonly string[] {
  const changes = Object.entries(added).map(([path, after]) => {
    const before = old.find(source => source.path === path)?.before;
    return { path, after, ...(before !== undefined && { before }) };
  });
  const found = repeatsOf(newCodeOf(changes), {
    functions: old.flatMap(keptFunctions),
    files: old.map(({ after, path: file }) => ({
      ...{ file, language: 'javascript' as const, print: fingerprintOf(after, 'javascript') },
    })),
  });
  return found.map(({ kind, name, other }) => `${kind} ${name} ${other.file}:${other.name}`);
}

const unchanged = (path: string, text: string): OldSource => ({ path, before: text, after: text });

describe('new code that repeats existing code', () => {
  test('a body with other names and comments is the same', () => {
    const old = [unchanged('src/text.ts', SHORTEN + OTHER)];
    assert.deepEqual(reports({ 'src/new.ts': COPY }, old), [
      'body cutHeading src/text.ts:shortenTitle',
    ]);
    assert.deepEqual(reports({ 'src/text.ts': SHORTEN + OTHER + COPY }, old), [
      'body cutHeading src/text.ts:shortenTitle',
    ]);
  });

  test('a new file that is nearly an old one is one report', () => {
    const text = SHORTEN + OTHER;
    assert.deepEqual(
      reports({ 'src/b.ts': `// A copy.\n${text}` }, [unchanged('src/a.ts', text)]),
      ['file b.ts src/a.ts:a.ts'],
    );
  });

  test('a name with the same parameters is reported once, but not if several functions have it', () => {
    const again =
      'export function shortenTitle(title: string, most: number): string { return cut(title, most); }\n';
    const one = unchanged('src/text.ts', SHORTEN);
    assert.deepEqual(reports({ 'src/new.ts': again }, [one]), [
      'name shortenTitle src/text.ts:shortenTitle',
    ]);
    assert.deepEqual(reports({ 'src/new.ts': again }, [one, unchanged('src/more.ts', again)]), []);
    const unlike = 'export function shortenTitle(event: MouseEvent) { event.preventDefault(); }\n';
    assert.deepEqual(reports({ 'src/new.ts': unlike }, [one]), []);
  });

  test('code that was moved, or now calls the new function, is not reported', () => {
    const moved = { path: 'src/text.ts', before: SHORTEN + OTHER, after: OTHER };
    assert.deepEqual(reports({ 'src/new.ts': SHORTEN }, [moved]), []);
    const wrapper = `import * as other from './new.ts';\nexport function shortenTitle(title: string, most: number): string { return other.shortenTitle(title, most); }\n`;
    const wrapped = { path: 'src/text.ts', before: SHORTEN, after: wrapper };
    assert.deepEqual(reports({ 'src/new.ts': SHORTEN }, [wrapped]), []);
  });

  test('tests, examples, variants for systems and other literals are left alone', () => {
    const old = [unchanged('src/text.ts', SHORTEN)];
    for (const path of ['test/a.ts', 'src/a.test.ts', 'examples/a.ts', 'a/fixtures/b.ts']) {
      assert.deepEqual(reports({ [path]: COPY }, old), [], path);
    }
    assert.deepEqual(
      reports({ 'src/a_windows.ts': COPY }, [unchanged('src/a_linux.ts', SHORTEN)]),
      [],
    );
    const texts = COPY.replace("'untitled'", "'none'")
      .replaceAll("'…'", "'...'")
      .replaceAll("' '", "'-'");
    assert.deepEqual(reports({ 'src/new.ts': texts }, old), []);
  });

  test('names and files that are specific enough', () => {
    const names = [
      'main',
      'render',
      'toString',
      'setUp',
      'parseArgs',
      'test_login',
      'onClick',
      'run2',
    ];
    assert.deepEqual(names.filter(isDistinctive), []);
    assert.ok(['shortenTitle', 'parse_range', '_make_timedelta'].every(isDistinctive));
    assert.ok(isOrdinary('src/latest/contest.ts') && !isOrdinary('pkg/testdata/a.go'));
    assert.ok(areVariants('a/b_linux.go', 'a/b_windows.go') && !areVariants('a/b.go', 'a/c.go'));
  });

  const code = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 300 }),
    fc
      .array(
        fc.constantFrom('"', "'", '`', '/*', '*/', '//', '#', '"""', 'a.b(', 'C', '12', '\n', '\\'),
        {
          maxLength: 120,
        },
      )
      .map(parts => parts.join('')),
  );
  const languages = fc.constantFrom('javascript', 'python', 'rust', 'go', 'java', 'cpp', 'php');

  test('any code is as similar to itself as can be, and as similar to another as that to it', () => {
    fc.assert(
      fc.property(code, code, languages, (a, b, of) => {
        const [x, y] = [fingerprintOf(a, of), fingerprintOf(b, of)];
        assert.ok(x.tokens.length < 3 || similarity(x, x) === 1);
        assert.equal(similarity(x, y), similarity(y, x));
        assert.ok(similarity(x, y) >= 0 && similarity(x, y) <= 1);
      }),
    );
  });

  test('any changes give words to search for, and only files that were found', () => {
    const path = fc.constantFrom('a.ts', 'b.py', 'c.rs', 'd.go', 'e.md');
    fc.assert(
      fc.property(fc.array(fc.record({ path, after: code })), changes => {
        const { files, words } = candidatesFor(newCodeOf(changes));
        assert.ok(words.every(word => /^\w+$/.test(word)));
        const found = new Map([['src/x.ts', new Set(words)]]);
        assert.ok(files(found).every(file => found.has(file)));
      }),
    );
  });

  test('the time for a body of opening brackets grows only with its length', () => {
    for (const part of ['/*', '"""', '`', "'", '"\\']) {
      for (const language of ['javascript', 'python', 'rust'] as const) {
        fingerprintOf(part.repeat(50_000), language);
      }
    }
  });
});
