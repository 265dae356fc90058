import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { widthOf, wrapLine } from '../../src/presentation/wrapLine.ts';

describe('wrapLine', () => {
  test('breaks at words and aligns continuation lines with the text', () => {
    assert.deepEqual(wrapLine('● one two three four five six seven', 22), [
      '● one two three four',
      '  five six seven',
    ]);
    assert.deepEqual(wrapLine('  └  alpha beta gamma delta epsilon', 25), [
      '  └  alpha beta gamma',
      '     delta epsilon',
    ]);
  });

  test('aligns output of the loop with its name', () => {
    assert.deepEqual(wrapLine('[Ralph Fresh] one two three four five six seven', 38), [
      '[Ralph Fresh] one two three four five',
      '              six seven',
    ]);
  });

  test('leaves lines that fit, and every line if the width is unknown', () => {
    assert.deepEqual(wrapLine('x'.repeat(30), 30), ['x'.repeat(30)]);
    assert.deepEqual(wrapLine('a b '.repeat(100), undefined), ['a b '.repeat(100)]);
    assert.deepEqual(wrapLine('a b '.repeat(100), 5), ['a b '.repeat(100)]);
  });

  test('keeps a word longer than the line whole, on its own line', () => {
    const path = `src/${'very/'.repeat(20)}long.ts`;
    assert.deepEqual(wrapLine(`● look at ${path} now`, 40), ['● look at', `  ${path}`, '  now']);
  });

  test('repeats story and subagent on each row, even where a word is broken', () => {
    const path = `src/${'very/'.repeat(20)}long.ts`;
    for (const whose of ['US-003 │ ', 'US-003 │   Look at a › ', `${'x'.repeat(24)} │ `]) {
      for (const columns of [30, 40, 80]) {
        const rows = wrapLine(`${whose}● look at ${path} and at what else there is now`, columns);
        assert.ok(rows.length > 1);
        for (const row of rows) {
          assert.ok(row.startsWith(whose), row);
          assert.ok(widthOf(row) <= Math.max(columns, widthOf(whose) + 8), `${columns}: ${row}`);
        }
        const words = rows.map(row => row.slice(whose.length).trim()).join('');
        assert.equal(words.replaceAll(' ', ''), `●lookat${path}andatwhatelsethereisnow`);
      }
    }
  });

  test('keeps spaces within a line', () => {
    assert.deepEqual(wrapLine('     a    b    c    d    e    f    g', 30), [
      '     a    b    c    d    e',
      '     f    g',
    ]);
  });

  test('loses no word at any width', () => {
    const text = '  - Lorem ipsum dolor sit amet, 日本語のテキスト consectetur 🙂 adipiscing elit';
    for (let columns = 20; columns < 90; columns += 1) {
      const lines = wrapLine(text, columns);
      assert.equal(lines.map(line => line.trim()).join(' '), text.trim());
      assert.ok(
        lines.every(line => widthOf(line) <= columns),
        `${columns}`,
      );
    }
  });

  test('counts wide letters twice and combining marks not at all', () => {
    assert.equal(widthOf('日本'), 4);
    assert.equal(widthOf('🙂'), 2);
    assert.equal(widthOf('e\u0301'), 1);
    assert.equal(widthOf('●└é'), 3);
  });
});
