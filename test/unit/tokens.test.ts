import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  estimateTokens,
  MAX_UNITS_PER_TOKEN,
  shortenBlockToTokens,
  shortenToTokens,
  tailToTokens,
} from '../../src/orchestrator/iteration/prompt/tokens.ts';

describe('token estimates', () => {
  test('letters count by how many tokens they use', () => {
    assert.equal(estimateTokens(''), 0);
    assert.equal(estimateTokens('x'), 1);
    assert.equal(estimateTokens('word '.repeat(70)), 100);
    assert.equal(estimateTokens('слово'), 5);
    assert.equal(estimateTokens('漢字'.repeat(50)), 150);
    assert.equal(estimateTokens('😀'.repeat(50)), 100);
  });

  test('a longer text never counts less, and the text never has more units than estimated', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), fc.string({ unit: 'binary' }), (a, b) => {
        assert.ok(estimateTokens(a + b) >= estimateTokens(a));
        assert.ok(estimateTokens(a + b) <= estimateTokens(a) + estimateTokens(b));
        assert.ok(a.length <= estimateTokens(a) * MAX_UNITS_PER_TOKEN);
      }),
    );
  });
});

describe('cutting to a token budget', () => {
  const text = 'one two three four five six seven eight nine ten';

  test('cuts at a word and adds a mark', () => {
    assert.equal(shortenToTokens(text, 8), 'one two three four…');
    assert.equal(shortenToTokens(text, 100), text);
    assert.equal(shortenBlockToTokens('one two\nthree four five six', 6), 'one two\nthree…');
  });

  test('keeps the end of a text from the start of a line or word', () => {
    assert.equal(tailToTokens('first line\nsecond line\nthird', 9), '…second line\nthird');
    assert.equal(tailToTokens(text, 8), '…seven eight nine ten');
    assert.equal(tailToTokens('short', 8), 'short');
    assert.match(tailToTokens('x'.repeat(1_000), 8), /^…x{10,28}$/);
  });

  test('the result fits for any text', () => {
    const any = fc
      .tuple(fc.string({ unit: 'binary', maxLength: 30 }), fc.integer({ min: 1, max: 500 }))
      .map(([part, times]) => part.repeat(times));
    fc.assert(
      fc.property(any, fc.integer({ min: 8, max: 300 }), (long, tokens) => {
        for (const cut of [shortenToTokens, shortenBlockToTokens, tailToTokens]) {
          const kept = cut(long, tokens);
          assert.ok(estimateTokens(kept) <= tokens, `${cut.name}: ${estimateTokens(kept)}`);
        }
      }),
      { numRuns: 500 },
    );
  });
});
