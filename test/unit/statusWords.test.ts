import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INITIAL_RUN_STATE, type RunState } from '../../src/orchestrator/journal/runState.ts';
import { english } from '../../src/presentation/sentences.ts';
import { statusWords } from '../../src/views/statusBar/statusWords.ts';

const NOW = Date.parse('2026-03-01T12:00:00.000Z');
const current = {
  ...{ number: 2, storyId: 'US-003', startedAt: '', costUsd: 0, commits: 0 },
  handled: new Map<string, boolean>(),
};
const of = (state: Partial<RunState>, alive = true) =>
  statusWords(
    {
      ...{ runId: 'r', alive },
      state: {
        ...INITIAL_RUN_STATE,
        ...{
          phase: 'running',
          stories: { done: 4, total: 20 },
          stuckThreshold: 3,
          running: [current],
        },
        ...state,
      },
    },
    english,
    NOW,
  );

test('the story and how many are done', () => {
  assert.deepEqual(of({}), {
    ...{ icon: 'sync~spin', text: 'Ralph US-003 4/20', urgency: 'none', cause: '' },
    heard: 'Ralph, US-003, 4 of 20 done',
  });
});

test('what is heard has whole words', () => {
  assert.equal(
    of({ costUsd: 1.2, budgetUsd: 5, pauseRequested: true })?.heard,
    'Ralph, US-003, 4 of 20 done, pauses soon, $1.20 of $5.00 spent',
  );
  assert.equal(
    of({ phase: 'ended', outcome: 'stopped' }, false)?.heard,
    'Ralph stopped, 4 of 20 done',
  );
});

test('money only where there is a budget', () => {
  assert.equal(of({ costUsd: 1.2 })?.text, 'Ralph US-003 4/20');
  assert.equal(of({ costUsd: 1.2, budgetUsd: 5 })?.text, 'Ralph US-003 4/20 · $1.20/$5.00');
});

test('what was asked for', () => {
  assert.equal(of({ phase: 'stopping' })?.text, 'Ralph US-003 4/20 · stopping');
  assert.equal(of({ pauseRequested: true })?.text, 'Ralph US-003 4/20 · pauses soon');
});

test('a usage limit counts down', () => {
  const limit = { until: '2026-03-01T13:12:00.000Z', known: true, message: '' };
  const words = of({ limits: new Map([[4, { kind: 'limit', ...limit }]]) });
  assert.deepEqual([words?.icon, words?.text], ['watch', 'Ralph waits 1 h 12 min · 4/20']);
  assert.equal(words?.urgency, 'none');
});

test('a stuck story warns, a question and an error ask', () => {
  const record = { stuckFor: 3, failures: 0, iterations: 3, costUsd: 0 };
  const stuck = of({ storyRecords: new Map([['US-003', record]]) });
  assert.deepEqual([stuck?.urgency, stuck?.icon], ['warning', 'warning']);
  const storyNotes = new Map([['', { question: { iteration: 1, message: 'Blue?' } }]]);
  const asks = of({ storyNotes, pause: { kind: 'pause', reason: 'question' } });
  assert.deepEqual([asks?.urgency, asks?.text], ['error', 'Ralph asks you · 4/20']);
  const ended = of({ phase: 'ended', outcome: 'needsHuman', storyNotes }, false);
  assert.deepEqual([ended?.urgency, ended?.text], ['error', 'Ralph needs you · 4/20']);
  assert.notEqual(ended?.cause, '');
  assert.equal(of({ phase: 'ended', outcome: 'error' }, false)?.urgency, 'error');
  assert.equal(of({ phase: 'ended', outcome: 'completed' }, false)?.urgency, 'none');
});

test('a killed loop is told', () => {
  assert.equal(of({}, false)?.text, 'Ralph interrupted · 4/20');
});

test('a run that is over does not look like a pause', () => {
  const icon = (outcome: NonNullable<RunState['outcome']>) =>
    of({ phase: 'ended', outcome }, false)?.icon;
  for (const outcome of ['stopped', 'budget', 'maxIterations'] as const) {
    assert.equal(icon(outcome), 'stop-circle');
  }
  assert.equal(icon('noReadyStory'), 'circle-slash');
  assert.equal(of({ pause: { kind: 'pause', reason: 'person' } })?.icon, 'debug-pause');
});

test("a story's id draws no icon and is short", () => {
  const id = `$(alert)${'x'.repeat(90)}`;
  const text = of({ running: [{ ...current, storyId: id }] })?.text ?? '';
  assert.doesNotMatch(text, /\$\(/);
  assert.ok(text.length < 60);
});

test('before the first run it counts the stories, and where there are none it says nothing', () => {
  const none = (total: number) =>
    statusWords(
      { state: { ...INITIAL_RUN_STATE, stories: { done: 1, total } }, alive: false },
      english,
      0,
    );
  assert.deepEqual(none(4), {
    ...{ icon: 'checklist', text: 'Ralph 1/4', heard: 'Ralph, 1 of 4 done' },
    ...{ urgency: 'none', cause: '' },
  });
  assert.equal(none(0), undefined);
});
