import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import type { AgentCallResult } from '../../src/orchestrator/agents/call/agentCall.ts';
import type { AgentEnd } from '../../src/orchestrator/agents/call/agentProcess.ts';
import { type Evidence, judge } from '../../src/orchestrator/proof/judge.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { storyChanges } from '../../src/orchestrator/stories/storyChanges.ts';
import { storyList } from '../support/storyList.ts';

const end: AgentEnd = { reason: 'exited', exitCode: 0, durationMs: 1, leftovers: 0, stderr: '' };

/** A process whose final answer is this. */
function said(text: string, isError = false): AgentCallResult {
  return { end: { ...end, result: { type: 'result', isError, text, turns: 1 } } };
}

const failed = (kind: 'api' | 'billing' | 'authentication' | 'notStarted' | 'hardLimit') => ({
  end,
  error: { kind, message: `because of ${kind}` },
});

const [open] = storyList({});

/** S1 was given, nothing came of it. */
const usual: Evidence = {
  ...(open && { story: open }),
  storiesBefore: storyList({}, {}),
  storiesAfter: storyList({}, {}),
  commits: 0,
  result: said('I looked around.'),
  completionPromise: 'TASK_COMPLETE',
  handled: new Map(),
  stopped: false,
  skipped: false,
  refused: false,
};
const doneAfter = storyList({ done: true }, {});
const allDone = storyList({ done: true }, { done: true });
const promise = (words: string) => said(`<promise>${words}</promise>`);

describe('the outcome of an iteration', () => {
  const outcomes: readonly (readonly [string, Partial<Evidence>, string])[] = [
    ['nothing', {}, 'noProgress'],
    ['commits', { commits: 1 }, 'progress'],
    ['its story is done', { storiesAfter: doneAfter }, 'storyDone'],
    [
      'done, although the call failed',
      { storiesAfter: doneAfter, result: failed('api') },
      'storyDone',
    ],
    ['done, although it was stopped', { storiesAfter: doneAfter, stopped: true }, 'storyDone'],
    [
      'done, although it asks',
      { storiesAfter: doneAfter, result: promise('NEEDS_HUMAN: x') },
      'storyDone',
    ],
    ['another story is done', { storiesAfter: storyList({}, { done: true }) }, 'progress'],
    [
      'a criterion is met',
      { storiesAfter: storyList({ criteria: [{ text: 'c', done: true }] }, {}) },
      'progress',
    ],
    ['the checks or the reviewer said no', { refused: true, commits: 1 }, 'rejected'],
    ['a person skipped it', { skipped: true }, 'skipped'],
    ['a person did it meanwhile', { notWanted: true, storiesAfter: doneAfter }, 'skipped'],
    ['the call failed', { result: failed('api') }, 'failed'],
    ['a limit', { result: failed('hardLimit') }, 'failed'],
    ['the call failed after a commit', { result: failed('api'), commits: 2 }, 'progress'],
    ['stopped', { stopped: true }, 'stopped'],
    ['stopped after a commit', { stopped: true, commits: 1 }, 'stopped'],
    ['a question', { result: promise('NEEDS_HUMAN: x') }, 'needsHuman'],
    ['a question after a commit', { result: promise('NEEDS_HUMAN: x'), commits: 1 }, 'needsHuman'],
    ['blocked', { result: promise('TASK BLOCKED: x') }, 'blocked'],
    ['a claim without proof', { result: promise('TASK_COMPLETE') }, 'noProgress'],
    ['no answer at all', { result: { end } }, 'noProgress'],
  ];
  for (const [name, evidence, expected] of outcomes) {
    test(name, () => assert.equal(judge({ ...usual, ...evidence }).outcome, expected));
  }

  test('without a story, the iteration is never judged as story done', () => {
    const { story: _story, ...freeForm } = usual;
    assert.equal(judge({ ...freeForm, storiesAfter: allDone }).outcome, 'progress');
    assert.equal(judge({ ...freeForm, commits: 1 }).outcome, 'progress');
  });
});

describe('the promise', () => {
  test('is accepted if the files agree', () => {
    const { signal, verdict } = judge({
      ...usual,
      storiesAfter: allDone,
      result: promise('TASK_COMPLETE'),
    });
    assert.deepEqual(signal, { kind: 'complete', message: '', accepted: true });
    assert.deepEqual(verdict, { kind: 'complete' });
  });

  test('is refused if the files contradict it', () => {
    const { signal, verdict } = judge({
      ...usual,
      storiesAfter: doneAfter,
      result: promise('TASK_COMPLETE: really'),
    });
    assert.deepEqual(signal, { kind: 'complete', message: 'really', accepted: false });
    assert.equal(verdict, undefined);
  });

  test('is accepted without files in free-form mode', () => {
    const evidence = { ...usual, storiesBefore: [], storiesAfter: [] };
    assert.deepEqual(judge({ ...evidence, result: promise('TASK_COMPLETE') }).verdict, {
      kind: 'complete',
    });
  });

  test('is the configured phrase', () => {
    const evidence = { ...usual, storiesAfter: allDone, completionPromise: 'FINI' };
    assert.deepEqual(judge({ ...evidence, result: promise('FINI') }).verdict, { kind: 'complete' });
    assert.equal(judge({ ...evidence, result: promise('FIN') }).verdict, undefined);
  });

  test('does not count if the call failed', () => {
    const result = said('<promise>TASK_COMPLETE</promise>', true);
    const judgement = judge({ ...usual, storiesAfter: allDone, result });
    assert.equal(judgement.signal, undefined);
    assert.equal(judgement.verdict, undefined);
  });

  test('a question is passed on literally and gives no verdict', () => {
    const { signal, verdict } = judge({ ...usual, result: promise('NEEDS_HUMAN: Which colour?') });
    assert.deepEqual(signal, { kind: 'needsHuman', message: 'Which colour?', accepted: true });
    assert.equal(verdict, undefined);
  });

  test('a blocked story does not end the run', () => {
    const { signal, verdict } = judge({ ...usual, result: promise('TASK BLOCKED: no access') });
    assert.deepEqual(signal, { kind: 'blocked', message: 'no access', accepted: true });
    assert.equal(verdict, undefined);
  });
});

describe('errors', () => {
  for (const [kind, next] of [
    ['billing', /^because of billing\. Add credit .*choose another.*the same command continues\.$/],
    ['authentication', /^because of authentication\. Log in .*the same command continues\.$/],
    ['notStarted', /^because of notStarted$/],
  ] as const) {
    test(`${kind} is fatal, and the message says what helps`, () => {
      const { verdict } = judge({ ...usual, result: failed(kind) });
      assert.ok(verdict?.kind === 'fatal');
      assert.match(englishOf(verdict.message), next);
    });
  }
  for (const kind of ['api', 'hardLimit'] as const) {
    test(`${kind} is not fatal`, () => {
      assert.equal(judge({ ...usual, result: failed(kind) }).verdict, undefined);
    });
  }
});

describe('storyChanges', () => {
  const none: ReadonlyMap<string, boolean> = new Map();

  test('are found in both directions, in file order', () => {
    const storiesBefore = storyList({ done: true }, {}, {});
    const storiesAfter = storyList({}, { done: true }, {});
    assert.deepEqual(storyChanges({ storiesBefore, storiesAfter, handled: none }), [
      { storyId: 'S1', done: false },
      { storyId: 'S2', done: true },
    ]);
  });

  test('ignore added and removed stories and a new order', () => {
    const storiesBefore = storyList({ id: 'A', done: true }, { id: 'B' }, { id: 'gone' });
    const storiesAfter = storyList({ id: 'new', done: true }, { id: 'B' }, { id: 'A', done: true });
    assert.deepEqual(storyChanges({ storiesBefore, storiesAfter, handled: none }), []);
  });

  test("ignore a person's ticks", () => {
    const changes = storyChanges({
      storiesBefore: storyList({}, {}),
      storiesAfter: allDone,
      handled: new Map([['S1', true]]),
    });
    assert.deepEqual(changes, [{ storyId: 'S2', done: true }]);
    const judgement = judge({
      ...usual,
      storiesAfter: storyList({}, { done: true }),
      handled: new Map([['S2', true]]),
    });
    assert.equal(judgement.progress, false);
  });
});

describe('items without ids that become done', () => {
  const newlyDone = (storiesBefore: readonly Story[], storiesAfter: readonly Story[]) =>
    storyChanges({ storiesBefore, storiesAfter, handled: new Map() }).flatMap(
      ({ done, storyId }) => (done ? [storyId] : []),
    );
  const numbered = (...items: readonly (readonly [title: string, done: boolean])[]) =>
    storyList(...items.map(([title, done], index) => ({ id: `#${index + 1}`, title, done })));
  const before = numbered(['Alpha', false], ['Beta', false], ['Gamma', true]);

  test('finds items without ids by their titles where they are now', () => {
    const behind = numbered(['Beta', false], ['Gamma', true], ['Alpha', true]);
    assert.deepEqual(newlyDone(before, behind), ['#3']);
    const below = numbered(['Prepared', true], ['Alpha', true], ['Beta', true], ['Gamma', true]);
    assert.deepEqual(newlyDone(before, below), ['#2', '#3']);
    const inPlace = numbered(['Alpha', true], ['Beta', false], ['Gamma', true]);
    assert.deepEqual(newlyDone(before, inPlace), ['#1']);
  });

  test('does not take a new item, or one of several with a title, for one that was there', () => {
    const more = numbered(['Beta', false], ['Delta', true], ['Gamma', true], ['Alpha', false]);
    assert.deepEqual(newlyDone(before, more), []);
    const twice = numbered(['Beta', false], ['Alpha', true], ['Gamma', true], ['Alpha', false]);
    assert.deepEqual(newlyDone(before, twice), []);
  });
});
