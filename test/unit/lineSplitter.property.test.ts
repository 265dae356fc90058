import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { LineSplitter, type SplitLine } from '../../src/base/lineSplitter.ts';

/** All lines of a stream that comes in these chunks. */
function split(chunks: readonly Uint8Array[], max = 1_000): SplitLine[] {
  const splitter = new LineSplitter(max);
  const lines = chunks.flatMap(chunk => splitter.push(chunk));
  const last = splitter.end();
  assert.equal(splitter.end(), undefined, 'empty afterwards');
  return last === undefined ? lines : [...lines, last];
}

/** Cuts a stream at any bytes, also within a letter. */
function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [...places.map(place => place % (bytes.length + 1)), bytes.length].sort(
    (a, b) => a - b,
  );
  return cuts.map((cut, i) => bytes.subarray(i === 0 ? 0 : cuts[i - 1], cut));
}

const texts = fc
  .array(
    fc.constantFrom(
      '\n',
      '\r\n',
      '\r',
      'a',
      'é',
      '漢',
      '😀',
      '{"type":"x"}',
      ' ',
      '\u2028',
      '\u0000',
    ),
    { maxLength: 60 },
  )
  .map(parts => parts.join(''));
const places = fc.array(fc.nat(), { maxLength: 12 });

/** What it must do, told the slow way. */
function model(text: string, max: number): SplitLine[] {
  const lines = text.split('\n');
  const last = lines.pop() ?? '';
  return [...lines, ...(last === '' ? [] : [last])].map(line => ({
    text: line.length > max ? line.slice(0, max) : line.replace(/\r$/, ''),
    dropped: Math.max(0, line.length - max),
  }));
}

describe('LineSplitter', () => {
  test('returns the same lines wherever the chunks are split', () => {
    fc.assert(
      fc.property(texts, places, (text, cuts) => {
        assert.deepEqual(split(cutAt(Buffer.from(text), cuts)), model(text, 1_000));
      }),
      { numRuns: 1_000 },
    );
  });

  test('cuts lines at a limit and counts the dropped bytes', () => {
    fc.assert(
      fc.property(texts, places, fc.integer({ min: 1, max: 12 }), (text, cuts, max) => {
        assert.deepEqual(split(cutAt(Buffer.from(text), cuts), max), model(text, max));
      }),
      { numRuns: 1_000 },
    );
  });

  test('returns one line per line break for any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 300 }), places, (bytes, cuts) => {
        const lines = split(cutAt(bytes, cuts));
        const breaks = bytes.filter(byte => byte === 0x0a).length;
        assert.equal(lines.length, breaks + (bytes.length > 0 && bytes.at(-1) !== 0x0a ? 1 : 0));
      }),
    );
  });

  test('accepts a chunk that is part of a reused buffer', () => {
    const buffer = Buffer.from('xxone\ntwoxx');
    const splitter = new LineSplitter(100);
    const lines = splitter.push(buffer.subarray(2, 9));
    buffer.fill(0x21);
    assert.deepEqual(lines, [{ text: 'one', dropped: 0 }]);
    assert.deepEqual(splitter.end(), { text: 'two', dropped: 0 });
  });

  test('keeps only the head of a line far beyond the limit', () => {
    const splitter = new LineSplitter(10);
    const chunk = Buffer.alloc(1 << 16, 'x');
    for (let i = 0; i < 100; i++) {
      assert.deepEqual(splitter.push(chunk), []);
    }
    const [line] = splitter.push(Buffer.from('\n'));
    assert.deepEqual(line, { text: 'x'.repeat(10), dropped: 100 * (1 << 16) - 10 });
  });
});
