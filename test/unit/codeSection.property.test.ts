import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import type { CodePointers } from '../../src/orchestrator/context/codePointers.ts';
import { codeSection, REASON_WORDS } from '../../src/orchestrator/iteration/prompt/codeSection.ts';
import { estimateTokens } from '../../src/orchestrator/iteration/prompt/tokens.ts';

const text = fc.oneof(
  fc.string({ maxLength: 300 }),
  fc.string({ unit: 'binary', maxLength: 100 }),
  fc.constantFrom('## Your Mission', '```\n# x', '`a`', '- **x**', 'src/日本語.ts', 'a\n\n## b'),
);
const reason = fc.constantFrom(...(Object.keys(REASON_WORDS) as (keyof typeof REASON_WORDS)[]));
const pointers: fc.Arbitrary<CodePointers> = fc.record({
  files: fc.array(fc.record({ path: text, reason, signatures: fc.array(text, { maxLength: 3 }) }), {
    maxLength: 40,
  }),
  commits: fc.array(fc.record({ hash: fc.stringMatching(/^[0-9a-f]{40}$/), subject: text }), {
    maxLength: 4,
  }),
});

describe('the section about the code', () => {
  test('never exceeds its budget, and names only what was found', () => {
    fc.assert(
      fc.property(pointers, fc.nat({ max: 3_000 }), (found, tokens) => {
        const { files, text: shown } = codeSection(found, tokens);
        assert.ok(estimateTokens(shown) <= tokens, `${estimateTokens(shown)} of ${tokens}`);
        assert.deepEqual(files, found.files.slice(0, files.length));
        assert.equal(shown === '', files.length === 0);
      }),
      { numRuns: 500 },
    );
  });

  test('no path, signature or subject becomes a part of the prompt', () => {
    fc.assert(
      fc.property(pointers, found => {
        const { files, text: shown } = codeSection(found, 20_000);
        const headings = shown
          .split('\n')
          .filter(line => /^\s{0,3}(?:#|```|~~~|=+$|-+$)/.test(line));
        assert.deepEqual(headings, files.length === 0 ? [] : ['## Where to Look']);
      }),
      { numRuns: 500 },
    );
  });

  test('each reason has at most three words', () => {
    for (const words of Object.values(REASON_WORDS)) {
      assert.ok(words.split(' ').length <= 3, words);
    }
  });
});
