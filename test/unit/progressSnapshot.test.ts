import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  RUN_OUTCOMES,
  type RunEvent,
  type RunEventBody,
} from '../../src/orchestrator/run/events.ts';
import { foldRun } from '../../src/orchestrator/run/runState.ts';
import { english } from '../../src/presentation/sentences.ts';
import { progressSnapshot } from '../../src/views/progress/snapshot.ts';

const NOW = new Date('2026-03-01T12:00:00.000Z');
const stories = { done: 1, total: 3 };

function snapshot(bodies: readonly RunEventBody[], alive: boolean) {
  const events = bodies.map(
    (body, index) => ({ ...body, seq: index + 1, at: NOW.toISOString() }) as RunEvent,
  );
  return progressSnapshot({ runId: 'r1', state: foldRun(events), alive }, events, {
    t: english,
    now: NOW,
  });
}

const runStarted: RunEventBody = {
  type: 'run.started',
  runId: 'r1',
  version: '0.1.0',
  pid: 1,
  agent: 'claude',
  mode: 'stories',
  task: 'todos',
  maxIterations: 20,
  stuckThreshold: 3,
  stories,
};

function iteration(number: number): RunEventBody[] {
  return [
    {
      type: 'iteration.started',
      iteration: number,
      maxIterations: 20,
      storyId: 'US-001',
      storyTitle: 'Create a todo',
      stories,
      promptBytes: 1,
      handoffBytes: 1,
      stuckFor: 0,
    },
    {
      type: 'iteration.ended',
      iteration: number,
      storyId: 'US-001',
      outcome: 'progress',
      durationMs: 1_000,
      costUsd: 0.001,
      commits: 0,
      stories,
    },
  ];
}

describe('progressSnapshot', () => {
  it('shows the empty page while there has been no run', () => {
    const events: RunEvent[] = [];
    const empty = progressSnapshot({ state: foldRun(events), alive: false }, events, {
      t: english,
      now: NOW,
    });
    assert.equal(empty.run, undefined);
    assert.equal(empty.announcement, '');
  });

  it('tells what runs now, and reads out each change of it', () => {
    const [first] = iteration(2);
    assert.ok(first);
    const { run, announcement } = snapshot([runStarted, ...iteration(1), first], true);
    assert.equal(run?.active, true);
    assert.equal(run.stories?.words, '1 of 3 stories done');
    assert.deepEqual(run.now?.story, { id: 'US-001', title: 'Create a todo' });
    assert.equal(run.now.words, 'Iteration 2 of 20');
    assert.equal(announcement, 'Iteration 1: Progress. Iteration 2 of 20: US-001 Create a todo');
    assert.deepEqual(
      run.iterations.map(({ number }) => number),
      [2, 1],
    );
  });

  it('tells a killed loop from a running one', () => {
    const { run } = snapshot([runStarted, ...iteration(1)], false);
    assert.equal(run?.status, 'Interrupted');
    assert.equal(run.active, false);
    assert.equal(run.now, undefined);
  });

  it('says for every outcome what it means', () => {
    for (const outcome of RUN_OUTCOMES) {
      const { run } = snapshot(
        [
          runStarted,
          { type: 'run.ended', outcome, exitCode: 1, detail: 'US-002', stories, iterations: 0 },
        ],
        false,
      );
      assert.ok(run?.status && run.sentence, outcome);
      assert.doesNotMatch(run.sentence, /\{\d\}|undefined/, outcome);
    }
  });

  it('says what a living run waits for, and what the agent asks', () => {
    const paused = (reason: 'person' | 'question' | 'stuck', detail?: string) =>
      snapshot(
        [runStarted, { type: 'pause.started', reason, ...(detail !== undefined && { detail }) }],
        true,
      ).run;
    assert.equal(paused('person')?.status, 'Paused');
    const asked = paused('question', 'Blue or green?');
    assert.deepEqual([asked?.glyph, asked?.quote], ['needsYou', 'Blue or green?']);
    assert.match(paused('stuck', '3')?.sentence ?? '', /no progress for 3 iterations/);
    const { run } = snapshot(
      [
        runStarted,
        {
          type: 'limit.waiting',
          iteration: 1,
          until: '2026-03-01T14:05:00.000Z',
          remainingMs: 7_500_000,
          known: true,
          message: 'session limit',
        },
      ],
      true,
    );
    assert.match(run?.sentence ?? '', /goes on at .* \(in 2 h 5 min\)\./);
    assert.doesNotMatch(run?.sentence ?? '', /ralph-fresh/);
  });

  it('shows the cost beside the budget, and the checks', () => {
    const facts = snapshot(
      [{ ...runStarted, budgetUsd: 5, verify: ['npm test', 'npm run lint'] }, ...iteration(1)],
      true,
    ).run?.facts;
    const has = (label: string, text: string) =>
      assert.deepEqual(facts?.find(fact => fact.label === label)?.value, { text });
    has('Cost so far', '<$0.01 of $5.00');
    has('Checks', 'npm test · npm run lint');
  });

  it('says why a claim was refused', () => {
    const [begin, end] = iteration(1);
    assert.ok(begin && end);
    const reason = (...between: RunEventBody[]) =>
      snapshot(
        [runStarted, begin, ...between, { ...end, outcome: 'rejected' } as RunEventBody],
        true,
      ).run?.iterations[0];
    const check: RunEventBody = {
      type: 'check.ended',
      iteration: 1,
      command: 'npm test',
      ok: false,
      exitCode: 1,
      timedOut: false,
      durationMs: 5,
      outputTail: '',
    };
    assert.equal(reason(check)?.outcome, 'Claim refused');
    assert.equal(reason(check)?.reason, 'The check npm test failed (exit code 1).');
    assert.equal(
      reason({
        type: 'review.ended',
        iteration: 1,
        storyId: 'US-001',
        approved: false,
        objections: ['No test.', 'No docs.'],
      })?.reason,
      'The reviewer: No test. No docs.',
    );
  });

  it('says who pays as far as it is known', () => {
    const facts = (agent: string, apiKeySource: string) =>
      snapshot(
        [
          { ...runStarted, agent },
          { type: 'agent.init', apiKeySource },
        ],
        true,
      ).run?.facts;
    const billing = (text: string) => ({ label: 'Billing', value: { text } });
    const has = (found: ReturnType<typeof facts>, text: string) =>
      assert.deepEqual(
        found?.find(({ label }) => label === 'Billing'),
        billing(text),
      );
    has(facts('claude', 'ANTHROPIC_API_KEY'), 'API key (ANTHROPIC_API_KEY)');
    has(facts('claude', 'none'), 'No API key in use');
    has(facts('demo', 'none'), 'Nothing to pay');
    const before = snapshot([{ ...runStarted, payer: 'apiKey' }], true).run?.facts;
    has(before, 'API key in the environment');
  });

  it('never shows a cost as nothing', () => {
    const { run } = snapshot([runStarted, ...iteration(1)], true);
    assert.equal(run?.iterations[0]?.cost, '<$0.01');
  });

  it('stays small in a long run', () => {
    const many = Array.from({ length: 500 }, (_, index) => iteration(index + 1)).flat();
    const { run } = snapshot([runStarted, ...many], true);
    assert.equal(run?.iterations.length, 200);
    assert.equal(run.iterations[0]?.number, 500);
    assert.equal(run.olderIterations, '300 earlier iterations are not shown.');
  });
});
