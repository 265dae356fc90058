import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Compaction, compactLog } from '../../src/orchestrator/context/compaction.ts';
import { parseProgressLog } from '../../src/orchestrator/context/progressLog.ts';

const OPTIONS = {
  compactAt: 80,
  maxLines: 100,
  archive: '`.omc/archive/1/progress.txt`',
  now: new Date('2026-02-03T04:05:06Z'),
};
const HEAD = '# Log\n\n## Codebase Patterns\n- P1\n\n---\n\n';

/** An entry with 6 lines. */
function entry(day: number): string {
  const date = `2026-01-${String(day).padStart(2, '0')}`;
  return `## ${date} - US-${day}\n- Did ${day}\n- **Learnings:**\n  - Learned ${day}\n  - Always the same\n---\n`;
}

const DAYS = Array.from({ length: 16 }, (_, index) => index + 1);

function compact(text: string): Compaction {
  const made = compactLog(text, OPTIONS);
  assert.ok(made !== undefined, 'nothing was compacted');
  return made;
}

describe('compactLog', () => {
  test('a usual log', () => {
    const made = compact(HEAD + DAYS.map(entry).join(''));
    const learned = [11, 12, 13, 14, 15, 16].map(day => entry(day)).join('');
    assert.ok(made.text.startsWith(`${HEAD}## Compacted History (2026-02-03)\n\nArchive: `));
    assert.ok(made.text.endsWith(`\n---\n${learned}`));
    assert.match(made.text, /^Entry: 2026-01-10 - US-10\n- Learned 10\n- Always the same\n\n---$/m);
    assert.equal(made.condensedEntries, 10);
    assert.ok(made.linesAfter <= 60);
  });

  test('prompts contain the same patterns, and the learnings oldest first', () => {
    const { text } = compact(HEAD + DAYS.map(entry).join(''));
    const { learnings, patterns } = parseProgressLog(text);
    assert.deepEqual(patterns, ['P1']);
    assert.deepEqual(learnings.slice(-2), ['Learned 16', 'Always the same']);
    assert.ok(!learnings.some(text => /Archive|Entry|Earlier/.test(text)));
    assert.ok(learnings.indexOf('Learned 10') < learnings.indexOf('Learned 11'));
  });

  test('the newest entries may be at the top', () => {
    const { text } = compact(HEAD + DAYS.toReversed().map(entry).join(''));
    assert.ok(text.startsWith(HEAD + [16, 15, 14, 13, 12, 11].map(day => entry(day)).join('')));
    const { learnings } = parseProgressLog(text);
    assert.deepEqual(learnings.slice(-2), ['Learned 16', 'Always the same']);
    assert.ok(learnings.indexOf('Learned 10') < learnings.indexOf('Learned 11'));
  });

  test('what does not fit is left to the archive, the oldest first', () => {
    const many = Array.from({ length: 28 }, (_, index) => entry(index + 1)).join('');
    const { text } = compact(HEAD + many);
    assert.match(text, /^Earlier: \d+ entries are only in the archive\.$/m);
    assert.match(text, /^- Learned 22$/m);
    assert.doesNotMatch(text, /Learned 1$/m);
  });

  test('Windows line breaks and a byte order mark stay', () => {
    const { text } = compact(`\uFEFF${HEAD}${DAYS.map(entry).join('')}`.replaceAll('\n', '\r\n'));
    assert.ok(text.startsWith('\uFEFF# Log\r\n'));
    assert.doesNotMatch(text, /(?<!\r)\n/);
  });

  test('a log without any heading', () => {
    const lines = Array.from({ length: 100 }, (_, index) => `- note ${index}\n`);
    const { text, linesAfter } = compact(lines.join(''));
    assert.ok(text.endsWith(lines.slice(-40).join('')));
    assert.match(text, /^Entry: notes without a heading\n(?:- note \d+\n)+- note 59\n\n---$/m);
    assert.ok(linesAfter <= 60);
  });

  test('a heading in a code block does not begin an entry', () => {
    const code = `## 2026-01-20 - US-20\n\`\`\`\n## not a heading\n${'code\n'.repeat(30)}\`\`\`\n`;
    const { text } = compact(HEAD + DAYS.map(entry).join('') + code);
    assert.ok(text.endsWith(`---\n${code}`));
  });

  test('there is nothing to do for a short log, an empty one, and one long entry', () => {
    const long = `## 2026-01-20 - US-20\n${'- much\n'.repeat(300)}`;
    for (const text of ['', HEAD, HEAD + entry(1), long, HEAD + long]) {
      assert.equal(compactLog(text, OPTIONS), undefined);
    }
  });

  test('a log that was just compacted is not compacted again', () => {
    const { text } = compact(HEAD + DAYS.map(entry).join(''));
    assert.equal(compactLog(text, OPTIONS), undefined);
  });
});
