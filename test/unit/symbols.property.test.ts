import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { symbolsOf } from '../../src/orchestrator/context/symbols/symbolsOf.ts';

const path = fc.constantFrom(
  ...[
    'a.ts',
    'a.tsx',
    'a.js',
    'a.py',
    'a.rs',
    'a.go',
    'A.java',
    'a.cpp',
    'a.h',
    'a.php',
    'a.md',
    'a',
  ],
);
const piece = fc.constantFrom(
  ...['function f', 'class A', 'def f', 'fn f', 'func F', 'export ', 'const x = ', '=> ', '(', ')'],
  ...['{', '}', '<', '>', '[', ']', ';', ':', ',', '\n', '\n    ', '"', "'", '`', '${', '/*', '*/'],
  ...['//', '#', '<?php ', 'impl X for Y', 'namespace n', '\\', '\u0000', '\ud800', '鳥', '/', '='],
);
const source = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 400 }),
  fc.array(piece, { maxLength: 200 }).map(pieces => pieces.join('')),
);

function names(file: string, text: string): string[] {
  return symbolsOf(file, text).map(
    ({ isExported, kind, name }) => `${kind} ${name}${isExported === false ? ' (own)' : ''}`,
  );
}

describe('the symbols of a source file', () => {
  test('any bytes give symbols that are in the text', () => {
    fc.assert(
      fc.property(path, source, (file, text) => {
        const lines = text.split('\n').length;
        for (const { body, endLine, line, signature } of symbolsOf(file, text)) {
          assert.ok(line >= 1 && line <= endLine && endLine <= lines);
          assert.ok(body.from >= 0 && body.from <= body.to && body.to <= text.length);
          assert.ok(signature.length <= 160 && !signature.includes('\n'));
        }
      }),
    );
  });

  for (const repeated of [
    '(',
    '{',
    '[',
    '<a>',
    'a<',
    '`${',
    'if (x) {',
    'function f() {',
    'a => ',
    '"',
  ]) {
    test(`a file of nothing but ${repeated} ends`, () => {
      for (const file of ['a.ts', 'a.tsx', 'a.py', 'a.rs', 'a.go', 'A.java', 'a.cpp', 'a.php']) {
        symbolsOf(file, `${repeated}\n`.repeat(5_000));
      }
    });
  }

  test('a file that is nested more deeply than the stack allows has no symbols', () => {
    /** Calls with so little stack left that only what needs more than a few frames fails. */
    const withLittleStack = <T>(work: () => T): T => {
      try {
        return withLittleStack(work);
      } catch {
        return work();
      }
    };
    const text = `function f() {}\n${'{\n'.repeat(2_000)}`;
    assert.deepEqual(names('a.ts', text), ['function f (own)']);
    assert.deepEqual(
      withLittleStack(() => symbolsOf('a.ts', text)),
      [],
    );
  });

  test('TypeScript: functions, methods, classes, types and constants', () => {
    const text = [
      'export async function load<T>(',
      '  file: string,',
      '): Promise<T> {',
      '  function inner() {}',
      '  return read(file);',
      '}',
      'export const twice = (n: number): number => n * 2;',
      'const LIMIT = 10;',
      'class Box extends Base { private get(): void {} on = () => 1; }',
      'interface Shape { a: string }',
      'const tools = { add(a) { return a; } };',
      'export { LIMIT };',
    ].join('\n');
    assert.deepEqual(names('a.ts', text), [
      ...['function load', 'function twice', 'constant LIMIT', 'class Box (own)'],
      ...['method get (own)', 'method on (own)', 'type Shape (own)', 'constant tools (own)'],
    ]);
    const [load, twice] = symbolsOf('a.ts', text);
    assert.equal(load?.signature, 'export async function load<T>( file: string, ): Promise<T>');
    assert.deepEqual([load?.line, load?.endLine], [1, 6]);
    assert.ok(text.slice(load?.body.from, load?.body.to).startsWith('{\n  function inner'));
    assert.equal(twice?.signature, 'export const twice = (n: number): number');
    assert.equal(text.slice(twice?.body.from, twice?.body.to), 'n * 2');
  });

  test('Python, Rust, Go, Java, C++ and PHP', () => {
    assert.deepEqual(
      names('a.py', '@x\ndef _f(a):\n  return a\nclass A:\n  def m(self): pass\nB_C = 1\n'),
      [...['function _f (own)', 'class A', 'method m', 'constant B_C']],
    );
    assert.deepEqual(
      names('a.rs', 'pub fn f() { 1 }\nimpl A for B { fn m(&self) {} }\nmod tests { fn t() {} }'),
      ['function f', 'method m (own)'],
    );
    assert.deepEqual(
      names('a.go', 'package a\nfunc F() {}\nfunc (r *R) m() {}\ntype T struct { a int }'),
      [...['function F', 'method m (own)', 'type T']],
    );
    assert.deepEqual(
      names('A.java', 'public class A { @Override public int m() { return 1; } void p() {} }'),
      [...['class A', 'method m', 'method p (own)']],
    );
    assert.deepEqual(names('a.cpp', 'int *f(int a) { return 0; }\nvoid A::q() {}'), [
      ...['function f', 'method q'],
    ]);
    assert.deepEqual(names('a.php', '<?php\nfunction f() {}\nclass A { public function m() {} }'), [
      ...['function f', 'class A', 'method m'],
    ]);
  });

  test('other languages, large files and minified ones have none', () => {
    const text = readFileSync(import.meta.filename, 'utf8');
    assert.ok(symbolsOf('a.ts', text).length > 0);
    assert.deepEqual(symbolsOf('a.md', text), []);
    assert.deepEqual(symbolsOf('a.ts', text.repeat(100)), []);
    assert.deepEqual(symbolsOf('a.ts', `${text}${'var a=1;'.repeat(1_000)}`), []);
  });
});
