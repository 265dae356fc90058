import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseProgressLog } from '../../src/orchestrator/context/progressLog.ts';
import { endsSoon } from '../support/endsSoon.ts';

/** A log in the style that most agents write: patterns, a rule, dated entries with nested learnings. */
const USUAL = `# Ralph Progress Log
Started: Sun 11 Jan 10:55:32 GMT 2026
---

## Codebase Patterns
- Use \`pnpm typecheck\` before committing
- Components go in **src/ui/**

---

## 2026-01-11 11:20 - US-001
- What was implemented:
  - The project
- Files changed: package.json
- **Learnings for future iterations:**
  - The flat config needs ESLint 9
  - Tests need \`--run\`
---

## [2026-01-12] — US-002
- Added the list
- **Learnings for future iterations:**
  - Sort in the store, not in the view
---
`;

describe('parseProgressLog', () => {
  test('the usual style: patterns, and the learnings of each entry', () => {
    assert.deepEqual(parseProgressLog(USUAL), {
      patterns: ['Use `pnpm typecheck` before committing', 'Components go in src/ui/'],
      learnings: [
        'The flat config needs ESLint 9',
        'Tests need `--run`',
        'Sort in the store, not in the view',
      ],
    });
  });

  test('Windows line breaks', () => {
    assert.deepEqual(parseProgressLog(USUAL.replaceAll('\n', '\r\n')), parseProgressLog(USUAL));
  });

  const headings = [
    '## 2026-01-11 - US-001',
    '## 2026-01-11 11:20 - US-001',
    '## [2026-01-11] - US-001',
    '## [2026-01-11 11:20] — US-001: Title',
    '## 2026-01-11 — US-001',
    '## Iteration 3 - US-001',
    '## Iteration 3 — done',
    '### US-001: Store ✅',
    '# 2026-01-11',
    '[2026-01-11] US-001',
    '---',
  ];
  for (const heading of headings) {
    test(`an entry under ${heading}`, () => {
      const text = `## Codebase Patterns\n- P\n\n${heading}\n- first\n* second\n+ third\n`;
      assert.deepEqual(parseProgressLog(text), {
        patterns: ['P'],
        learnings: ['first', 'second', 'third'],
      });
    });
  }

  const learnings = [
    '**Learnings for future iterations:**',
    '- **Learnings for future iterations:**',
    '  * Learnings:',
    '### Learnings',
    '## Learnings',
    'Learnings:',
    'Lessons learned:',
    '**Notes for next iteration:**',
    '- Notes for future iterations',
  ];
  for (const heading of learnings) {
    test(`learnings under ${heading}`, () => {
      const text = `## 2026-01-11 - US-001\n- Changed a file\n${heading}\n    - Learned\n`;
      assert.deepEqual(parseProgressLog(text).learnings, ['Learned']);
    });
  }

  test('learnings in the line of their heading', () => {
    const text = '## 2026-01-11\n- Changed a file\n- **Learnings:** Port 0 in tests\n';
    assert.deepEqual(parseProgressLog(text).learnings, ['Port 0 in tests']);
  });

  test('what comes after nested learnings is none', () => {
    const text = '## 2026-01-11\n- **Learnings:**\n  - Learned\n- Files changed: a.ts\n  - b.ts\n';
    assert.deepEqual(parseProgressLog(text).learnings, ['Learned']);
  });

  test('an entry without learnings gives its bullets, beside others that have some', () => {
    const text = '## Iteration 1\n- Did a\n## Iteration 2\n- Did b\n### Learnings\n- Learned b\n';
    assert.deepEqual(parseProgressLog(text).learnings, ['Did a', 'Learned b']);
  });

  for (const heading of [
    '# Codebase Patterns',
    '## Patterns',
    '### codebase patterns (read first)',
  ]) {
    test(`patterns under ${heading}, also when they come last`, () => {
      const text = `## 2026-01-11\n- Did a\n\n${heading}\n- P1\n  - P2\n`;
      assert.deepEqual(parseProgressLog(text), { patterns: ['P1', 'P2'], learnings: ['Did a'] });
    });
  }

  test('empty check boxes say nothing, ticked work does', () => {
    const text = '## 2026-01-11\n- [ ]\n- [x] Did a\n';
    assert.deepEqual(parseProgressLog(text).learnings, ['[x] Did a']);
  });

  test('nothing in it', () => {
    for (const text of ['', '\n\n', '# Ralph Progress Log\nStarted: today\n---\n', 'words\n']) {
      assert.deepEqual(parseProgressLog(text), { patterns: [], learnings: [] });
    }
  });

  test('bullets without any heading are not lost', () => {
    assert.deepEqual(parseProgressLog('- Port 0 in tests\n- Use pnpm\n').learnings, [
      'Port 0 in tests',
      'Use pnpm',
    ]);
  });

  test('never throws, whatever is in it', () => {
    const line = fc.oneof(
      fc.constantFrom(...headings, ...learnings, '## Codebase Patterns', '- x', '  - y', '', '```'),
      fc.string({ unit: 'binary' }),
    );
    fc.assert(
      fc.property(fc.array(line), lines => {
        const text = lines.join('\n');
        const log = parseProgressLog(text);
        for (const found of [...log.patterns, ...log.learnings]) {
          assert.doesNotMatch(found, /\n|^\s|\s$/);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('a long line of blanks does not take minutes', async () => {
    await endsSoon(
      'src/orchestrator/context/progressLog.ts',
      "module.parseProgressLog('## 2026-01-11\\n' + ' '.repeat(1_000_000) + 'x');",
    );
  });

  test('long lines of other kinds neither', async () => {
    await endsSoon(
      'src/orchestrator/context/progressLog.ts',
      `for (const part of ['- ', '*', '# ', '**Learnings', '-\\n', ':**', '\\t- ', '[ ]']) {
        module.parseProgressLog('## 2026-01-11\\n' + part.repeat(300_000) + 'x');
      }`,
    );
  });
});
