import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INITIAL_RUN_STATE } from '../../src/orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../src/orchestrator/workspace/runWatcher.ts';
import { english } from '../../src/presentation/translate.ts';
import { statusWords } from '../../src/views/statusBar/statusWords.ts';
import { living, over, recorded, watched } from '../support/recordedJournals.ts';

/** An hour before the usage limits of recorded runs end, and a bit. */
const NOW = Date.parse('2026-01-01T09:48:05.000Z');
const of = (run: WatchedRun) => statusWords(run, english, NOW);

const ended = { type: 'iteration.ended', iteration: 1 } as const;
const begun = { type: 'iteration.started', iteration: 2 } as const;

test('the text names the story and how many are done', () => {
  assert.deepEqual(of(living('severalStories', begun)), {
    ...{ icon: 'sync~spin', text: 'Ralph US-002 1/3', urgency: 'none', causes: [] },
    heard: 'Ralph, US-002, 1 of 3 done',
  });
});

test('the accessible label uses full words', () => {
  assert.equal(
    of(living('steered', { type: 'pause.requested' }))?.heard,
    'Ralph, US-002, 1 of 3 done, pauses soon, $0.25 of $5.00 spent',
  );
  assert.equal(
    of(living('maxIterations', begun))?.heard,
    'Ralph, US-002, 1 of 5 done, $0.25 of $4.00 spent',
  );
  assert.equal(of(over('stopped'))?.heard, 'Ralph stopped, 1 of 2 done');
});

test('the cost is shown only with a budget', () => {
  assert.equal(of(living('severalStories', begun))?.text, 'Ralph US-002 1/3');
  assert.equal(of(living('maxIterations', begun))?.text, 'Ralph US-002 1/5 · $0.25/$4.00');
});

test('a pending request is shown', () => {
  assert.equal(
    of(living('stopped', { type: 'stop.requested' }))?.text,
    'Ralph US-002 1/2 · stopping',
  );
  assert.equal(
    of(living('steered', { type: 'pause.requested' }))?.text,
    'Ralph US-002 1/3 · pauses soon · $0.25/$5.00',
  );
});

test('a usage limit counts down', () => {
  const words = of(living('limitKnown', { type: 'limit.waiting' }));
  assert.deepEqual([words?.icon, words?.text], ['watch', 'Ralph waits 1 h 12 min · 0/1']);
  assert.equal(words?.urgency, 'none');
});

test('a stuck story shows a warning, a question or error asks for attention', () => {
  const stuck = of(living('stuckAsks', { type: 'iteration.started', iteration: 3 }));
  assert.deepEqual([stuck?.urgency, stuck?.icon], ['warning', 'warning']);
  const waits = of(living('stuckAsks', { type: 'pause.started' }));
  assert.deepEqual([waits?.urgency, waits?.text], ['error', 'Ralph is stuck · 0/2']);
  const asks = of(living('questionWaits', { type: 'pause.started' }));
  assert.deepEqual([asks?.urgency, asks?.text], ['error', 'Ralph asks you · 0/1']);
  const needsYou = of(over('question'));
  assert.deepEqual([needsYou?.urgency, needsYou?.text], ['error', 'Ralph needs you · 0/1']);
  assert.equal(needsYou?.causes.length, 1);
  const answered = of(over('answeredLater'));
  assert.deepEqual([answered?.urgency, answered?.text], ['none', 'Ralph stopped · 0/1']);
  assert.equal(of(over('notStarted'))?.urgency, 'error');
  assert.equal(of(over('severalStories'))?.urgency, 'none');
});

test('a completed run is no success while its branch lacks its work, or that is not committed', () => {
  const held = of(over('lanesHeld'));
  assert.deepEqual(
    [held?.icon, held?.urgency, held?.text],
    ['warning', 'warning', 'Ralph done, but not on main · 1/1'],
  );
  const done = over('severalStories');
  const uncommitted = { files: ['a.txt'], storyIds: ['US-001'] };
  const left = of({ ...done, state: { ...done.state, uncommitted } });
  assert.deepEqual(
    [left?.icon, left?.urgency, left?.text],
    ['warning', 'warning', 'Ralph done, but not committed · 3/3'],
  );
});

test('the end of a task without stories counts its iterations', () => {
  const { heard, text } = of(over('freeTaskStuck')) ?? {};
  assert.deepEqual([text, heard], ['Ralph stopped · 2 iterations', 'Ralph stopped, 2 iterations']);
});

test('a killed loop is shown as such', () => {
  assert.equal(of(over('severalStories', begun))?.text, 'Ralph interrupted · 1/3');
});

test('a finished run does not look paused', () => {
  for (const name of ['stopped', 'budget', 'maxIterations']) {
    assert.equal(of(over(name))?.icon, 'stop-circle', name);
  }
  assert.equal(of(over('skip'))?.icon, 'circle-slash');
  const paused = of(living('steered', { type: 'pause.started' }));
  assert.equal(paused?.icon, 'debug-pause');
});

test('a story id cannot draw icons and is shortened', () => {
  // Only a hostile story file has such an id.
  const storyId = `$(alert)${'x'.repeat(90)}`;
  const events = recorded('severalStories', begun).map(event =>
    event.type === 'iteration.started' ? { ...event, storyId } : event,
  );
  const text = of(watched(events, true))?.text ?? '';
  assert.match(text, /alert/);
  assert.doesNotMatch(text, /\$\(/);
  assert.ok(text.length < 60);
});

test('before the first run the stories are counted; without stories nothing is shown', () => {
  const none = (total: number) =>
    of({ state: { ...INITIAL_RUN_STATE, stories: { done: 1, total } }, alive: false });
  assert.deepEqual(none(4), {
    ...{ icon: 'checklist', text: 'Ralph 1/4', heard: 'Ralph, 1 of 4 done' },
    ...{ urgency: 'none', causes: [] },
  });
  assert.equal(none(0), undefined);
});

test('between two iterations the result of the last one is counted', () => {
  assert.equal(of(living('severalStories', ended))?.text, 'Ralph 1/3');
});
