import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import {
  type Compaction,
  compactLog,
  oldEntriesOf,
} from '../../src/orchestrator/context/compaction.ts';
import { blocksOf, linesOf } from '../../src/orchestrator/context/progressBlocks.ts';
import { parseProgressLog } from '../../src/orchestrator/context/progressLog.ts';

const OPTIONS = {
  compactAt: 40,
  maxLines: 50,
  archive: '`.omc/archive/1/progress.txt`',
  now: new Date('2026-02-03T04:05:06Z'),
};

const line = fc.oneof(
  { weight: 6, arbitrary: fc.string({ maxLength: 30 }).map(text => `- ${text}`) },
  fc.constantFrom(
    ...['', '---', '```', '~~~', '## Codebase Patterns', '### Patterns', '**Patterns:**', '# Log'],
    ...['## 2026-01-11 - US-001', '### US-002: Store', '## Iteration 3', '## Notes', '  - nested'],
    ...['**Learnings for future iterations:**', '- **Learnings:**', '## Learnings', '#### Deep'],
    ...['## Compacted History (2026-01-01)', 'Archive: `old`', 'Entry: one', '[2026-01-12] US-004'],
    ...['Earlier: 3 entries are only in the archive.', 'plain text', '\tindented', 'Files: a, b'],
  ),
);

const log = fc
  .record({
    lines: fc.array(line, { maxLength: 200 }),
    end: fc.constantFrom('\n', '\r\n', '\r'),
    bom: fc.boolean(),
    isEnded: fc.boolean(),
  })
  .map(
    ({ bom, end, isEnded, lines }) =>
      (bom ? '\uFEFF' : '') + lines.join(end) + (isEnded ? end : ''),
  );

/** Logs as agents write them. */
const usualLog = fc
  .array(fc.integer({ min: 1, max: 12 }), { minLength: 8, maxLength: 60 })
  .map(sizes => {
    const entries = sizes.map((size, index) => {
      const day = String((index % 28) + 1).padStart(2, '0');
      const learnings = Array.from({ length: size }, (_, n) => `- ${index} learned ${n}\n`).join(
        '',
      );
      return `## 2026-01-${day} - US-${index}\n**Learnings:**\n${learnings}---\n`;
    });
    return `# Log\n\n## Codebase Patterns\n- P1\n- P2\n\n---\n\n${entries.join('\n')}`;
  });

/** The text of the blocks of a kind. */
function blocks(text: string, kind: string): string[] {
  return blocksOf(text).flatMap(block => (block.kind === kind ? [block.lines.join('')] : []));
}

function compactedOf(text: string): Compaction {
  return compactLog(text, OPTIONS) ?? { text, linesBefore: 0, linesAfter: 0, condensedEntries: 0 };
}

describe('compaction', () => {
  test('the blocks of any log are its text', () => {
    fc.assert(
      fc.property(fc.oneof(log, fc.string()), text => {
        assert.equal(
          blocksOf(text)
            .flatMap(({ lines }) => lines)
            .join(''),
          text,
        );
      }),
    );
  });

  test('patterns and the newest entry stay byte for byte; the rest is in the archive', () => {
    fc.assert(
      fc.property(fc.oneof(log, usualLog), text => {
        const made = compactLog(text, OPTIONS);
        if (made === undefined) {
          return;
        }
        assert.ok(made.linesAfter < made.linesBefore);
        assert.equal(linesOf(made.text).length, made.linesAfter);
        assert.ok(made.text.includes(`Archive: ${OPTIONS.archive}`));
        for (const patterns of blocks(text, 'patterns')) {
          assert.ok(made.text.includes(patterns), `lost: ${JSON.stringify(patterns)}`);
        }
        const { patterns } = parseProgressLog(made.text);
        for (const pattern of parseProgressLog(text).patterns) {
          assert.ok(patterns.includes(pattern), `not read any more: ${pattern}`);
        }
        // The archive is the text before, so every line is in it; each kept line is one of them, in its order.
        const before = linesOf(text);
        const section = made.text.indexOf('## Compacted History (2026-02-03)');
        assert.ok(section >= 0);
        let at = 0;
        for (const kept of linesOf(made.text.slice(0, section))) {
          at = before.indexOf(kept, at) + 1;
          assert.ok(at > 0 || kept.startsWith('\uFEFF'), `new line: ${kept}`);
        }
      }),
      { numRuns: 500 },
    );
  });

  test('the recent entries of a usual log stay, and it gets short enough', () => {
    fc.assert(
      fc.property(usualLog, text => {
        const made = compactedOf(text);
        const all = blocks(text, 'entry');
        const kept = blocks(made.text, 'entry');
        assert.ok(kept.length > 0);
        assert.deepEqual(kept, all.slice(all.length - kept.length));
        if (made.linesBefore > 0) {
          assert.ok(made.linesAfter <= OPTIONS.compactAt, `${made.linesAfter}`);
          assert.equal(made.condensedEntries, all.length - kept.length);
        }
      }),
    );
  });

  test('a compacted log is compacted again, with the pointers to all archives', () => {
    fc.assert(
      fc.property(usualLog, usualLog, (first, second) => {
        const once = compactedOf(first);
        fc.pre(once.linesBefore > 0);
        const more = second.slice(second.indexOf('## 2026'));
        const archive = '`.omc/archive/2/progress.txt`';
        const twice = compactLog(`${once.text}\n${more}`, { ...OPTIONS, archive });
        assert.ok(twice !== undefined);
        assert.ok(twice.text.includes(`Archive: ${OPTIONS.archive}\nArchive: ${archive}\n`));
        assert.equal(twice.text.match(/## Compacted History/g)?.length, 1);
        assert.ok(twice.linesAfter <= OPTIONS.compactAt);
      }),
    );
  });

  test('whatever an agent says, patterns and the newest entries stay, and it adds no structure of its own', () => {
    const words = fc.array(fc.oneof(line, fc.string({ maxLength: 400 })), {
      maxLength: 9,
    });
    fc.assert(
      fc.property(usualLog, fc.array(words, { maxLength: 70 }), (text, said) => {
        const old = oldEntriesOf(text, OPTIONS);
        const summaries = new Map(old.map((entry, i) => [entry.text, said[i] ?? []]));
        const made = compactLog(text, { ...OPTIONS, summaries });
        const plain = compactLog(text, OPTIONS);
        if (made === undefined || plain === undefined) {
          return;
        }
        assert.deepEqual(blocks(made.text, 'patterns'), blocks(text, 'patterns'));
        assert.deepEqual(blocks(made.text, 'entry'), blocks(plain.text, 'entry'));
        assert.equal(made.text.match(/^Archive: /gm)?.length, 1);
        assert.equal(made.text.match(/^#/gm)?.length, plain.text.match(/^#/gm)?.length);
        assert.deepEqual(parseProgressLog(made.text).patterns, parseProgressLog(text).patterns);
        assert.ok(made.linesAfter <= OPTIONS.compactAt, `${made.linesAfter}`);
        assert.equal(made.condensedEntries, old.length);
      }),
      { numRuns: 200 },
    );
  });
});
