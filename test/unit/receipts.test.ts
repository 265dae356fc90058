import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { receiptOf } from '../../src/orchestrator/journal/receipt.ts';
import { iterationText, receiptText } from '../../src/presentation/receiptTable.ts';
import { widthOf } from '../../src/presentation/wrapLine.ts';
import { journalOf } from '../support/runEvents.ts';

const stories = { done: 0, total: 2 };

function journal(...bodies: RunEventBody[]): RunEvent[] {
  return journalOf(bodies, i => new Date(Date.UTC(2026, 0, 1, 0, i)).toISOString());
}

const runStarted: RunEventBody = {
  ...{ type: 'run.started', runId: 'run-1', version: '1', pid: 1, agent: 'claude', model: 'm' },
  ...{ mode: 'stories', task: 't', maxIterations: 9, stuckThreshold: 3, stories, payer: 'apiKey' },
};
const started = (iteration: number, storyId?: string): RunEventBody => ({
  ...{ type: 'iteration.started', iteration, maxIterations: 9, stories },
  ...{ promptBytes: 1, handoffBytes: 1, stuckFor: 0 },
  ...(storyId === undefined ? {} : { storyId, storyTitle: `Title of ${storyId}` }),
});
const call = (
  iteration: number,
  costUsd: number,
  extra: Partial<Extract<RunEvent, { type: 'agent.ended' }>> = {},
): RunEventBody => ({
  ...{ type: 'agent.ended', iteration, reason: 'exited', durationMs: 60_000, leftovers: 0 },
  ...{ costUsd, turns: 3, usage: { input: 10, output: 20, cacheRead: 30, cacheWrite: 40 } },
  ...extra,
});
const ended = (
  iteration: number,
  storyId: string | undefined,
  outcome: 'storyDone' | 'noProgress',
  extra: Partial<Extract<RunEvent, { type: 'iteration.ended' }>> = {},
): RunEventBody => ({
  ...{ type: 'iteration.ended', iteration, outcome, durationMs: 90_000, commits: 0, stories },
  ...(storyId === undefined ? {} : { storyId }),
  ...extra,
});
const commit = (iteration: number, hash: string): RunEventBody => ({
  ...{ type: 'commit.recorded', iteration, hash, subject: `Commit ${hash}` },
});

const run = journal(
  runStarted,
  started(1, 'A'),
  call(1, 0.1),
  ended(1, 'A', 'noProgress', { costUsd: 0.1, turns: 3 }),
  started(2, 'B'),
  call(2, 0.1),
  call(2, 0.2, { purpose: 'review' }),
  commit(2, 'aaaaaaaaaa'),
  ended(2, 'B', 'storyDone', { costUsd: 0.3, turns: 3, commits: 1 }),
  started(3, 'A'),
  call(3, 0.5),
  commit(3, 'bbbbbbbbbb'),
  commit(3, 'cccccccccc'),
  ended(3, 'A', 'storyDone', { costUsd: 0.5, turns: 3, commits: 2 }),
);

describe('the receipt of a run', () => {
  test('each iteration with what it took, brought and cost', () => {
    const { iterations, ...facts } = receiptOf(run);
    assert.deepEqual(
      [facts.run, facts.agent, facts.model, facts.payer, facts.planning],
      ['run-1', 'claude', 'm', 'apiKey', null],
    );
    assert.deepEqual(
      iterations.map(({ iteration, story, outcome, costUsd, commits, turns }) => [
        ...[iteration, story, outcome, costUsd, commits, turns],
      ]),
      [
        [1, 'A', 'noProgress', 0.1, 0, 3],
        [2, 'B', 'storyDone', 0.3, 1, 6],
        [3, 'A', 'storyDone', 0.5, 2, 3],
      ],
    );
    const [, second] = iterations;
    assert.deepEqual(second?.commitList, [{ hash: 'aaaaaaaaaa', subject: 'Commit aaaaaaaaaa' }]);
    assert.equal(second?.title, 'Title of B');
    assert.equal(second?.startedAt, run[4]?.at);
    assert.equal(second?.endedAt, run[8]?.at);
    // Two minutes of calls in an iteration that says a minute and a half.
    assert.equal(second?.durationMs, 120_000);
  });

  test('the sums of each story and of the run', () => {
    const { stories, total } = receiptOf(run);
    assert.deepEqual(
      stories.map(({ story, iterations, outcome, costUsd, inputTokens }) => [
        ...[story, iterations, outcome, costUsd, inputTokens],
      ]),
      [
        ['A', 2, 'storyDone', 0.6, 20],
        ['B', 1, 'storyDone', 0.3, 20],
      ],
    );
    assert.deepEqual(total, {
      ...{ iterations: 3, durationMs: 300_000, turns: 12, commits: 3, costUsd: 0.9 },
      ...{ inputTokens: 40, outputTokens: 80, cacheReadTokens: 120, cacheWriteTokens: 160 },
      costEstimated: false,
      costUnknown: false,
    });
  });

  test('an estimate stays one in the sums that hold it, and in the table', () => {
    const killed = journal(
      ...[runStarted, started(1, 'A'), call(1, 0.5, { costEstimated: true })],
      ended(1, 'A', 'noProgress', { costUsd: 0.5, costEstimated: true }),
      ...[started(2, 'B'), call(2, 0.25), ended(2, 'B', 'storyDone', { costUsd: 0.25 })],
    );
    const receipt = receiptOf(killed);
    const estimated = (parts: readonly { costEstimated: boolean }[]) =>
      parts.map(({ costEstimated }) => costEstimated);
    assert.deepEqual(estimated(receipt.iterations), [true, false]);
    assert.deepEqual(estimated(receipt.stories), [true, false]);
    assert.equal(receipt.total.costEstimated, true);
    const costs = receiptText(receipt).match(/(≈ )?\$[\d.]+/g);
    assert.deepEqual(costs, ['≈ $0.50', '$0.25', '≈ $0.50', '$0.25', '≈ $0.75']);
    assert.match(iterationText(receiptOf(killed, 1)), /≈ \$0\.50/);
  });

  test('the sums of the iteration itself count, since old journals have no others', () => {
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
    const old = journal(
      started(1, 'A'),
      { type: 'agent.ended', iteration: 1, reason: 'exited', durationMs: 5, leftovers: 0 },
      ended(1, 'A', 'storyDone', { costUsd: 0.25, turns: 7, usage, commits: 1 }),
    );
    const [iteration] = receiptOf(old).iterations;
    assert.deepEqual(
      [iteration?.costUsd, iteration?.turns, iteration?.inputTokens, iteration?.cacheWriteTokens],
      [0.25, 7, 1, 4],
    );
  });

  test('the calls of the planning agent are told apart, and are part of the total', () => {
    const planned = journal(
      runStarted,
      call(0, 1, { purpose: 'plan' }),
      started(1, 'A'),
      call(1, 0.5),
      ended(1, 'A', 'storyDone', { costUsd: 0.5 }),
    );
    const { iterations, planning, total } = receiptOf(planned);
    assert.equal(planning?.costUsd, 1);
    assert.deepEqual([iterations.length, total.iterations, total.costUsd], [1, 1, 1.5]);
    assert.equal(receiptOf(planned, 1).planning, null);
    assert.match(receiptText(receiptOf(planned)), /^plan +1\.0/m);
  });

  test('an iteration that goes on has no outcome yet, but costs already', () => {
    const { iterations, total } = receiptOf(journal(runStarted, started(1, 'A'), call(1, 0.5)));
    assert.deepEqual(
      iterations.map(({ outcome, endedAt, costUsd }) => [outcome, endedAt, costUsd]),
      [[null, null, 0.5]],
    );
    assert.equal(total.costUsd, 0.5);
  });

  test('an iteration whose number one had before that no agent began has no outcome yet', () => {
    const events = journal(
      runStarted,
      started(1, 'A'),
      ended(1, 'A', 'noProgress', { durationMs: 0 }),
      started(1, 'B'),
      call(1, 0.1),
    );
    const [one, ...others] = receiptOf(events).iterations;
    assert.deepEqual(others, []);
    assert.deepEqual(
      [one?.story, one?.outcome, one?.endedAt, one?.costUsd],
      ['B', null, null, 0.1],
    );
    assert.equal(one?.startedAt, events[3]?.at);
  });

  test('one iteration alone', () => {
    const { iterations, stories, total } = receiptOf(run, 3);
    assert.deepEqual(
      [iterations.map(({ iteration }) => iteration), stories.map(({ iterations }) => iterations)],
      [[3], [1]],
    );
    assert.equal(total.costUsd, 0.5);
    assert.deepEqual(receiptOf(run, 4).iterations, []);
  });

  test('an empty journal', () => {
    const receipt = receiptOf([]);
    assert.deepEqual([receipt.run, receipt.iterations, receipt.total.costUsd], [null, [], 0]);
    assert.match(receiptText(receipt), /No iteration yet/);
  });
});

describe('the receipt as text', () => {
  test('a line for each iteration, each story and the total', () => {
    const lines = receiptText(receiptOf(run)).split('\n');
    assert.match(lines[0] ?? '', /^Run run-1 · claude, m · billed to the API account$/);
    const find = (pattern: RegExp) => lines.filter(line => pattern.test(line)).length;
    assert.equal(find(/^1 +A +no progress +1\.5 +3 +80 +20 +\$0\.10 +0$/), 1);
    assert.equal(find(/^3 +A +story done .*\$0\.50 +2$/), 1);
    assert.equal(find(/^ *2× +A +story done .*\$0\.60 +2$/), 1);
    assert.equal(find(/^ *3× +total .*\$0\.90 +3$/), 1);
  });

  test('in another language its columns stand below each other, wide letters too', () => {
    const t = Object.assign((message: string) => (message === 'story done' ? '完了' : message), {
      language: 'ja',
      said: (text: string) => text,
    });
    const lines = receiptText(receiptOf(run), t).split('\n');
    const rows = lines.filter(line => /^\d +A /.test(line));
    assert.deepEqual(new Set(rows.map(widthOf)).size, 1);
    assert.equal(rows.filter(line => line.includes('完了')).length, 1);
  });

  test('what agents wrote steers no terminal', () => {
    const receipt = receiptOf(
      journal(
        started(1, 'A\u001b[31m'),
        { ...commit(1, 'aaaaaaaaaa'), subject: 'red \u001b[31m and\nmore' } as RunEventBody,
        ended(1, 'A', 'storyDone', { commits: 1 }),
      ),
    );
    for (const text of [receiptText(receipt), iterationText(receipt)]) {
      assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
    }
    assert.match(iterationText(receipt), /^ {2}aaaaaaa red and more$/m);
  });
});
