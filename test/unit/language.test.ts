import assert from 'node:assert/strict';
import { globSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { runEventSchema } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { receiptOf } from '../../src/orchestrator/journal/receipt.ts';
import { receiptText } from '../../src/presentation/receiptTable.ts';
import { Transcript } from '../../src/presentation/transcript.ts';
import { progressSnapshot } from '../../src/views/progress/snapshot.ts';
import { statusWords } from '../../src/views/statusBar/statusWords.ts';
import { everyEvent, WARNING_CODES } from '../support/everyEvent.ts';
import { journalOf } from '../support/runEvents.ts';
import { translationInto } from '../support/translations.ts';

const root = path.resolve(import.meta.dirname, '../..');
// Made by hand: no runs bring every event and every code of it, and what agents say in real ones is in no language.
const events = journalOf(everyEvent('7'.repeat(40)));
const NOW = Date.parse('2026-03-01T12:30:00.000Z');

/** Words that a Japanese sentence has in Latin letters, too: names, and what is typed. */
const NAMES = new Set(
  'Ralph Fresh Claude Code Agent SDK API PRD JSON Git SIGINT Ctrl Bash Read Edit claude sdk git verify ralphFresh maxIterations budgetUsd iterationBudgetUsd omc prd json progress txt errors log show bisect merge autostash ff only no overwrite ignore switch branch rescued rm cached'.split(
    ' ',
  ),
);

/** Of icons, commands and states; no text is one word in small letters alone. */
const CODE = /^[a-z]+(?:[A-Z][a-z]+)*(?:~spin)?$/;

/** What is Latin in a Japanese text and no name: most likely English. */
function latinIn(texts: readonly string[]): string[] {
  return texts
    .filter(text => !CODE.test(text))
    .flatMap(text =>
      // A command is the same in every language.
      (text.replaceAll(/ralph-fresh [a-z]+/g, '').match(/[A-Za-z]{3,}/g) ?? [])
        .filter(word => !NAMES.has(word))
        .map(word => `${word}: ${text}`),
    );
}

/** Every text in what a page is given. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') {
    return [value];
  }
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(textsOf) : [];
}

describe('every possible event of a run', () => {
  test('occurs in the test run', () => {
    const types = runEventSchema().options.map(option => option.shape.type.value);
    assert.deepEqual(
      [...types].filter(type => !events.some(event => event.type === type)),
      [],
    );
    const codes = globSync('src/orchestrator/**/*.ts', { cwd: root }).flatMap(file =>
      [
        ...readFileSync(path.join(root, file), 'utf8').matchAll(
          /(?:\bwarn\((?:\s*[\w.]+,)?|onWarning\(|type: 'warning',\s*code:)\s*'(\w+)'/g,
        ),
      ].map(([, code = '']) => code),
    );
    assert.ok(codes.length > 15);
    assert.deepEqual(
      codes.filter(code => !WARNING_CODES.includes(code)),
      [],
    );
  });

  test('is Japanese in the transcript, in the terminal and in the receipt', () => {
    const t = translationInto('ja');
    const transcript = new Transcript(t, 'window');
    const lines = events.flatMap(event => transcript.describe(event).map(({ text }) => text));
    assert.ok(lines.length > 500);
    assert.deepEqual(latinIn([...new Set(lines)]), []);
    assert.deepEqual(latinIn(receiptText(receiptOf(events), t).split('\n')), []);
  });

  test('is Japanese on the progress page and in the status bar, at every moment', () => {
    const t = translationInto('ja');
    const told = new Set<string>();
    for (const [index] of events.entries()) {
      const until = events.slice(0, index + 1);
      const state = foldRun(until);
      for (const alive of [true, false]) {
        const run = { runId: '7', state, alive };
        const { text } = statusWords(run, t, NOW) ?? { text: '' };
        const page = progressSnapshot(run, until, { t, now: new Date(NOW) });
        for (const words of [text, ...textsOf(page)]) {
          told.add(words);
        }
      }
    }
    assert.ok(told.size > 300);
    assert.deepEqual(latinIn([...told]), []);
  });
});
