import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { parseProgressLog, readProgressLog } from '../../src/orchestrator/context/progressLog.ts';
import type { ProgressLog } from '../../src/orchestrator/context/progressReader.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { endsSoon } from '../support/endsSoon.ts';
import { sameValue } from '../support/sameValue.ts';

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

/** Without the entries, which have their own tests. */
function said(text: string): Omit<ProgressLog, 'entries'> {
  const { entries: _entries, ...rest } = parseProgressLog(text);
  return rest;
}

describe('parseProgressLog', () => {
  test('patterns and the learnings of each entry are read in the usual style', () => {
    sameValue(said(USUAL), {
      patterns: ['Use `pnpm typecheck` before committing', 'Components go in src/ui/'],
      learnings: [
        'The flat config needs ESLint 9',
        'Tests need `--run`',
        'Sort in the store, not in the view',
      ],
    });
  });

  test('Windows line breaks are accepted', () => {
    sameValue(parseProgressLog(USUAL.replaceAll('\n', '\r\n')), parseProgressLog(USUAL));
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
      sameValue(said(text), {
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
    '### Learnings for future iterations:',
    '**Notes for Next Developer:**',
    '**Next developer notes**:',
    '### 💡 Key learnings (US-001)',
    'Gotchas:',
    '- **Lessons learned**',
  ];
  for (const heading of learnings) {
    test(`learnings under ${heading}`, () => {
      const text = `## 2026-01-11 - US-001\n- Changed a file\n${heading}\n    - Learned\n`;
      sameValue(parseProgressLog(text).learnings, ['Learned']);
    });
  }

  test('learnings in the same line as their heading are read', () => {
    const text = '## 2026-01-11\n- Changed a file\n- **Learnings:** Port 0 in tests\n';
    sameValue(parseProgressLog(text).learnings, ['Port 0 in tests']);
  });

  test('text after nested learnings is not included', () => {
    const text = '## 2026-01-11\n- **Learnings:**\n  - Learned\n- Files changed: a.ts\n  - b.ts\n';
    sameValue(parseProgressLog(text).learnings, ['Learned']);
  });

  test('an entry without learnings contributes its bullets, even if other entries have learnings', () => {
    const text = '## Iteration 1\n- Did a\n## Iteration 2\n- Did b\n### Learnings\n- Learned b\n';
    sameValue(parseProgressLog(text).learnings, ['Did a', 'Learned b']);
  });

  for (const heading of [
    '# Codebase Patterns',
    '## Patterns',
    '### codebase patterns (read first)',
    '**Codebase Patterns**',
    '**Patterns:**',
    'Patterns:',
    '## Codebase Patterns (Study These First)',
    '## Discovered Patterns',
  ]) {
    test(`patterns under ${heading} are read, even at the end`, () => {
      const text = `## 2026-01-11\n- Did a\n\n${heading}\n- P1\n  - P2\n`;
      sameValue(said(text), { patterns: ['P1', 'P2'], learnings: ['Did a'] });
    });
  }

  test('empty checkboxes are skipped, ticked work is kept', () => {
    const text = '## 2026-01-11\n- [ ]\n- [x] Did a\n';
    sameValue(parseProgressLog(text).learnings, ['[x] Did a']);
  });

  test('an empty log has no learnings', () => {
    for (const text of ['', '\n\n', '# Ralph Progress Log\nStarted: today\n---\n', 'words\n']) {
      sameValue(said(text), { patterns: [], learnings: [] });
    }
  });

  test('bullets without any heading are read', () => {
    sameValue(parseProgressLog('- Port 0 in tests\n- Use pnpm\n').learnings, [
      'Port 0 in tests',
      'Use pnpm',
    ]);
  });

  test('patterns under their own headings are read', () => {
    const text =
      '## Codebase Patterns\n\n### Types\n- P1\n\n### Patterns of dates\n- P2\n\n---\n## Notes\n- N\n';
    sameValue(said(text), { patterns: ['P1', 'P2'], learnings: ['N'] });
  });

  test('patterns of the first level end at the first entry', () => {
    const text = '# Codebase Patterns\n## Store\n- P1\n## 2026-01-11 - US-001\n- Did a\n';
    sameValue(said(text), { patterns: ['P1'], learnings: ['Did a'] });
  });

  test('numbered lists are read', () => {
    const text =
      '## Patterns\n1. P1\n2) P2\n## 2026-01-11\n**Notes for Next Developer:**\n1. First\n10. Tenth\n';
    sameValue(said(text), { patterns: ['P1', 'P2'], learnings: ['First', 'Tenth'] });
  });

  test('a learning label per bullet is removed, and other labels are kept', () => {
    const text =
      '## 2026-01-11\n- Did a\n- **Learning:** one\n- Learned: two\n' +
      '## 2026-01-12\n### Learnings\n- **Learning:** three\n- Gotcha: four\n- five\n';
    sameValue(parseProgressLog(text).learnings, ['one', 'two', 'three', 'Gotcha: four', 'five']);
  });

  test('learnings begun by a bold label end at the next one', () => {
    const text =
      '### Feature\n**Learnings:**\n- L\n\n**Files Changed:**\n- a.ts\n## Two\n### Learnings\n**API:**\n- M\n';
    sameValue(parseProgressLog(text).learnings, ['L', 'M']);
  });

  test('headings within an entry do not end it', () => {
    const text =
      '## 2026-01-11 - US-001\n### Done\n- Did a\n### Learnings\n- L\n### Files\n- a.ts\n';
    sameValue(parseProgressLog(text).learnings, ['L']);
  });

  test('a bullet over several lines is read as one', () => {
    const text =
      '## Patterns\n- Routes live\n  in src/app.ts\n\n  not this\n## 2026-01-11\n- a\n  b\nc\n';
    sameValue(said(text), { patterns: ['Routes live in src/app.ts'], learnings: ['a b'] });
  });

  test('placeholders are skipped', () => {
    const empty = [
      '(none yet)',
      'None',
      '…',
      '...',
      '—',
      '_None so far._',
      '(No patterns discovered yet)',
      'No new learnings',
      'n/a',
      'TBD',
      '[pattern 1]',
      '<your learning>',
      '{{learning}}',
      'YYYY-MM-DD HH:MM UTC - What changed; key files',
      '[ ]',
      '[x]',
    ];
    const bullets = empty.map(text => `- ${text}\n`).join('');
    sameValue(said(`## Codebase Patterns\n${bullets}\n## 2026-01-11\n### Learnings\n${bullets}`), {
      patterns: [],
      learnings: [],
    });
    const real = ['None of the tests needs a port', 'TODO files live in docs', 'Nothing is cached'];
    sameValue(parseProgressLog(real.map(text => `- ${text}\n`).join('')).learnings, real);
  });

  test('a code block ends only at its own mark, and inline code does not start one', () => {
    const log = parseProgressLog(
      '## 2026-01-11\n```npm test``` passes.\n- a\n````\n```\n- none\n````\n- b\n',
    );
    sameValue(log.learnings, ['a', 'b']);
  });

  test('code blocks are skipped, even an unclosed one', () => {
    const text =
      '## 2026-01-11\n- a\n```yaml\n## no heading\n- none\n```\n- b\n## Iteration 2\n- c\n```\n- cut\n## Iteration 3\n- d\n';
    sameValue(parseProgressLog(text).learnings, ['a', 'b', 'c', 'd']);
    assert.equal(parseProgressLog(text).entries.length, 3);
  });

  describe('the newest entry at the top', () => {
    const entry = (heading: string, learning: string) => `${heading}\n- ${learning}\n\n`;

    test('by date', () => {
      const text =
        entry('## Key files', 'K') +
        entry('## 2026-01-13 - US-3', 'c') +
        entry('## 2026-01-12 09:30 - US-2', 'b2') +
        entry('## 2026-01-12 09:00 - US-2', 'b1') +
        entry('## 2026-01-11 - US-1', 'a');
      sameValue(parseProgressLog(text).learnings, ['K', 'a', 'b1', 'b2', 'c']);
    });

    test('by iteration number', () => {
      const text = entry('## Iteration 10 - c', 'c') + entry('## Iteration 9 - b', 'b');
      sameValue(parseProgressLog(text).learnings, ['b', 'c']);
    });

    test('a single wrong date changes nothing', () => {
      const text =
        entry('## 2026-01-31 - US-1', 'a') +
        entry('## 2025-02-01 - US-2', 'b') +
        entry('## 2026-02-01 - US-3', 'c');
      sameValue(parseProgressLog(text).learnings, ['a', 'b', 'c']);
    });
  });

  describe('entries', () => {
    for (const [heading, entry] of [
      ['## [2026-01-02 10:00] - US-003', { date: '2026-01-02 10:00', storyId: 'US-003' }],
      ['## 2026-01-02 - US-003', { date: '2026-01-02', storyId: 'US-003' }],
      ['## 2026-01-02 – US-003', { date: '2026-01-02', storyId: 'US-003' }],
      ['## 2026-01-02 — US-003: Title', { date: '2026-01-02', storyId: 'US-003' }],
      ['## 2026/01/02 - US-003', { date: '2026-01-02', storyId: 'US-003' }],
      ['## 2026-01-02T10:00:00Z - US-W3-01-A', { date: '2026-01-02 10:00' }],
      [
        '## 2026-01-11 11:20 - ralph-tui-45r.1',
        { date: '2026-01-11 11:20', storyId: 'ralph-tui-45r.1' },
      ],
      ['## 2026-01-26 - US-001 - Add a list', { date: '2026-01-26', storyId: 'US-001' }],
      ['## 2026-01-26 - #12 Add a list', { date: '2026-01-26', storyId: '#12' }],
      ['## 2026-01-14: Added README.md', { date: '2026-01-14' }],
      ['## 2026-03-21 - setup: Prepare', { date: '2026-03-21', storyId: 'setup' }],
      ['## Iteration 3 - US-001', { iteration: 3, storyId: 'US-001' }],
      ['## Iteration 3 (Round 1) — [docs] Accuracy', { iteration: 3, storyId: 'docs' }],
      ['## ✓ Iteration 1 - US-004: Arrays', { iteration: 1, storyId: 'US-004' }],
      ['### Iteration 12 — done', { iteration: 12 }],
      ['## US-001: Store ✅', { storyId: 'US-001' }],
      ['## Story US-001 done', { storyId: 'US-001' }],
      ['## Session: 2026-01-20', { date: '2026-01-20' }],
      ['# 2026-01-11', { date: '2026-01-11' }],
      ['## Files Changed', {}],
      ['## UTF-8 in names', {}],
      ['## Architect Review: APPROVED', {}],
    ] as const) {
      test(heading, () => {
        const [entry0, ...others] = parseProgressLog(`${heading}\n- a\n`).entries;
        const { heading: title, ...facts } = entry0 ?? { heading: '' };
        assert.equal(title, heading.replace(/^#+ /, ''));
        if (heading.includes('T10:00:00Z')) {
          assert.equal(facts.date, entry.date);
        } else {
          sameValue(facts, entry);
        }
        sameValue(others, []);
      });
    }

    test('are found in file order at the second and third level, without the title', () => {
      const text = '# Log of 3 things\n## B\n### 2026-01-11\n#### deep\n## A\n';
      sameValue(
        parseProgressLog(text).entries.map(({ heading }) => heading),
        ['B', '2026-01-11', 'A'],
      );
    });
  });

  test('are parsed without an error, whatever the text contains', () => {
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

  test('are parsed quickly with a long line of spaces', async () => {
    await endsSoon(
      'src/orchestrator/context/progressLog.ts',
      "module.parseProgressLog('## 2026-01-11\\n' + ' '.repeat(1_000_000) + 'x');",
    );
  });

  test('are parsed quickly with other long lines', async () => {
    await endsSoon(
      'src/orchestrator/context/progressLog.ts',
      `for (const part of ['- ', '*', '# ', '**Learnings', '-\\n', ':**', '\\t- ', '[ ]', '## (\\n', '1. (no ', '#- [\\n', '('.repeat(1999) + '\\n', '## ' + '-'.repeat(1990) + '\\n', '- ' + '**a'.repeat(600) + '\\n']) {
        module.parseProgressLog('## 2026-01-11\\n' + part.repeat(Math.ceil(600_000 / part.length)) + 'x');
      }`,
    );
  });
});

describe('readProgressLog', () => {
  test('a missing file is an empty log, a folder is an error', async () => {
    await using temp = await tempDir('progress-');
    const empty = { patterns: [], learnings: [], entries: [] };
    sameValue(await readProgressLog(path.join(temp.path, 'none.txt')), empty);
    await mkdir(path.join(temp.path, 'folder'));
    await assert.rejects(readProgressLog(path.join(temp.path, 'folder')));
  });

  test('a small file is read completely', async () => {
    await using temp = await tempDir('progress-');
    const file = path.join(temp.path, 'progress.txt');
    await writeFile(file, `\uFEFF${USUAL}`);
    sameValue(await readProgressLog(file), parseProgressLog(USUAL));
  });

  test('of a huge file, the patterns at the top and the latest learnings are read', async () => {
    await using temp = await tempDir('progress-');
    const file = path.join(temp.path, 'progress.txt');
    const entries = Array.from(
      { length: 5_000 },
      (_, i) => `## Iteration ${i} - US-${i}\n- **Learnings:**\n  - Gelernt über ${i} 😀\n---\n`,
    );
    await writeFile(file, `## Codebase Patterns\n- P\n---\n${entries.join('')}`);
    const log = await readProgressLog(file, 2_001);
    sameValue(log.patterns, ['P']);
    assert.ok(log.learnings.length < 100, `${log.learnings.length}`);
    sameValue(log.learnings.slice(-2), ['Gelernt über 4998 😀', 'Gelernt über 4999 😀']);
    assert.equal(log.learnings[0], 'Gelernt über 0 😀');
    assert.equal(log.entries.at(-1)?.iteration, 4_999);
    for (const learning of log.learnings) {
      assert.match(learning, /^Gelernt über \d+ 😀$/);
    }
  });

  test('a huge file without a line break gives nothing', async () => {
    await using temp = await tempDir('progress-');
    const file = path.join(temp.path, 'progress.txt');
    await writeFile(file, `- ${'x'.repeat(10_000)}`);
    const { patterns, learnings } = await readProgressLog(file, 1_000);
    sameValue(patterns, []);
    assert.ok(learnings.length <= 1);
  });
});
