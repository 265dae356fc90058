import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { receiptOf } from '../../src/orchestrator/journal/receipt.ts';
import { iterationText, receiptData, receiptText } from '../../src/presentation/receiptTable.ts';
import { widthOf } from '../../src/presentation/wrapLine.ts';
import { type EventMatch, recorded } from '../support/recordedJournals.ts';

/** Six iterations on two stories. */
const run = recorded('stuckLater');
const agentEnded = (iteration: number): EventMatch => ({ type: 'agent.ended', iteration });

describe('the receipt of a run', () => {
  test('shows the duration, result and cost of each iteration', () => {
    const { iterations, ...facts } = receiptOf(run);
    assert.deepEqual(
      [facts.run, facts.agent, facts.model, facts.payer, facts.planning],
      ['r1', 'claude', 'fake-model', 'login', null],
    );
    assert.deepEqual(
      iterations.map(({ iteration, story, outcome, costUsd, commits, turns }) => [
        ...[iteration, story, outcome, costUsd, commits, turns],
      ]),
      [
        [1, 'US-001', 'noProgress', 0.25, 0, 2],
        [2, 'US-001', 'noProgress', 0.25, 0, 2],
        [3, 'US-001', 'noProgress', 0.25, 0, 2],
        [4, 'US-002', 'storyDone', 0.25, 1, 2],
        [5, 'US-001', 'progress', 0.25, 1, 2],
        [6, 'US-001', 'storyDone', 0.25, 1, 2],
      ],
    );
    const fourth = iterations[3];
    const of = <T extends RunEvent['type']>(type: T) =>
      run.find(event => event.type === type && 'iteration' in event && event.iteration === 4);
    const commit = of('commit.recorded');
    assert.ok(commit?.type === 'commit.recorded');
    assert.deepEqual(fourth?.commitList, [{ hash: commit.hash, subject: 'feat: US-002' }]);
    assert.equal(fourth?.title, 'Story number 2');
    assert.equal(fourth?.startedAt, of('iteration.started')?.at);
    assert.equal(fourth?.endedAt, of('iteration.ended')?.at);
  });

  test('counts the calls of a reviewer as part of their iteration', () => {
    const [first] = receiptOf(recorded('checksAndReview')).iterations;
    // Two seconds of calls in an iteration that says one, as when it was cut off and judged later.
    assert.deepEqual(
      [first?.durationMs, first?.turns, first?.costUsd, first?.inputTokens],
      [2_000, 4, 0.5, 20],
    );
  });

  test('shows the reported model of each agent, or that of its story, but not the reviewer’s', () => {
    const models = (events: readonly RunEvent[]) =>
      receiptOf(events).iterations.map(({ model }) => model);
    const reviewed = recorded('checksAndReview');
    let calls = 0;
    const reported = reviewed.map(
      (event): RunEvent =>
        event.type === 'agent.init' ? { ...event, model: `model-${++calls}` } : event,
    );
    assert.ok(calls > 1, 'a reviewer is expected');
    assert.equal(models(reported)[0], 'model-1');
    assert.match(receiptText(receiptOf(reported)), /claude, model-1(?:, model-\d)*$/m);
    assert.match(iterationText(receiptOf(reported, 1), reported), / · model-1$/m);

    const untold = reviewed.map((event): RunEvent => {
      if (event.type === 'agent.init') {
        const { model: _model, ...rest } = event;
        return rest;
      }
      return event.type === 'iteration.started' ? { ...event, model: 'chosen' } : event;
    });
    assert.equal(models(untold)[0], 'chosen');
  });

  test('sums up each story and the run', () => {
    const { stories, total } = receiptOf(run);
    assert.deepEqual(
      stories.map(({ story, iterations, outcome, costUsd, inputTokens }) => [
        ...[story, iterations, outcome, costUsd, inputTokens],
      ]),
      [
        ['US-001', 5, 'storyDone', 1.25, 50],
        ['US-002', 1, 'storyDone', 0.25, 10],
      ],
    );
    assert.deepEqual(total, {
      ...{ iterations: 6, durationMs: 6_000, turns: 12, commits: 3, costUsd: 1.5 },
      ...{ inputTokens: 60, outputTokens: 30, cacheReadTokens: 0, cacheWriteTokens: 0 },
      costEstimated: false,
      costUnknown: false,
    });
  });

  test('marks sums that contain an estimate, also in the table', () => {
    const stopped = recorded('stopped');
    const receipt = receiptOf(stopped);
    const estimated = (parts: readonly { costEstimated: boolean }[]) =>
      parts.map(({ costEstimated }) => costEstimated);
    assert.deepEqual(estimated(receipt.iterations), [false, true]);
    assert.deepEqual(estimated(receipt.stories), [false, true]);
    assert.equal(receipt.total.costEstimated, true);
    const costs = receiptText(receipt).match(/(≈ )?\$[\d.]+/g);
    assert.deepEqual(costs, ['$0.25', '≈ $0.50', '$0.25', '≈ $0.50', '≈ $0.75']);
    assert.match(iterationText(receiptOf(stopped, 2), stopped), /≈ \$0\.50/);
  });

  test('uses the totals of the iteration for old journals, which have no others', () => {
    // As 0.1 wrote it: nothing is told of a call, and each number of the iteration is another one.
    const usage = { input: 1, output: 2, cacheRead: 3, cacheWrite: 4 };
    const old = recorded('twoChecksGreen').map((event): RunEvent => {
      if (event.type === 'agent.ended') {
        const { costUsd: _cost, turns: _turns, usage: _usage, ...rest } = event;
        return rest;
      }
      return event.type === 'iteration.ended' ? { ...event, turns: 7, usage } : event;
    });
    const [iteration] = receiptOf(old).iterations;
    assert.deepEqual(
      [iteration?.costUsd, iteration?.turns, iteration?.inputTokens, iteration?.cacheWriteTokens],
      [0.25, 7, 1, 4],
    );
  });

  test('lists the calls of the planning agent separately and includes them in the total', () => {
    const planned = recorded('planned', { type: 'iteration.ended', iteration: 1 });
    const { iterations, planning, total } = receiptOf(planned);
    assert.equal(planning?.costUsd, 2);
    assert.deepEqual([iterations.length, total.iterations, total.costUsd], [1, 1, 2.25]);
    assert.equal(receiptOf(planned, 1).planning, null);
    assert.match(receiptText(receiptOf(planned)), /^plan +1\.0 s/m);
  });

  test('shows the cost of an active iteration, which has no outcome yet', () => {
    const { iterations, total } = receiptOf(recorded('severalStories', agentEnded(1)));
    assert.deepEqual(
      iterations.map(({ outcome, endedAt, costUsd }) => [outcome, endedAt, costUsd]),
      [[null, null, 0.25]],
    );
    assert.equal(total.costUsd, 0.25);
  });

  test('shows no outcome for a new iteration that reuses the number of one without an agent', () => {
    const all = recorded('startedLater');
    const again = all.findLastIndex(({ type }) => type === 'iteration.started');
    const end = all.findIndex(({ type }, index) => index > again && type === 'agent.ended');
    const [one, ...others] = receiptOf(all.slice(0, end + 1)).iterations;
    assert.deepEqual(others, []);
    assert.deepEqual(
      [one?.story, one?.outcome, one?.endedAt, one?.costUsd],
      ['US-001', null, null, 0.25],
    );
    assert.equal(one?.startedAt, all[again]?.at);
  });

  test('of one iteration says why its claim was refused', () => {
    const text = (name: string) => {
      const events = recorded(name);
      return iterationText(receiptOf(events, 1), events);
    };
    assert.match(text('firstCheckRed'), /\nThe check test -f green failed \(exit code 1\)\.\n/);
    assert.match(text('review'), /\nThe reviewer:\n {2}There is no test\.\n {2}Not met: It works/);
  });

  test('can show a single iteration', () => {
    const { iterations, stories, total } = receiptOf(run, 5);
    assert.deepEqual(
      [iterations.map(({ iteration }) => iteration), stories.map(({ iterations }) => iterations)],
      [[5], [1]],
    );
    assert.equal(total.costUsd, 0.25);
    assert.deepEqual(receiptOf(run, 7).iterations, []);
  });

  test('says why a claim was refused, as text and as data', () => {
    const events = recorded('firstCheckRed');
    const { iterations } = receiptData(receiptOf(events), events);
    const reasons = iterations.flatMap(({ reason }) => reason ?? []);
    assert.match(reasons[0] ?? '', /^The check .* failed/);
    const text = iterationText(receiptOf(events, 1), events);
    assert.ok(reasons[0] && text.includes(reasons[0]));
    const good = recorded('severalStories');
    const data = receiptData(receiptOf(good), good);
    assert.deepEqual([...new Set(data.iterations.map(({ reason }) => reason))], [null]);
  });

  test('does not show a cost of zero where nobody knows it and no agent has started', () => {
    const ofProgram = recorded('twoChecksGreen').map(event =>
      event.type === 'run.started' ? { ...event, agent: 'command' } : event,
    );
    const upTo = (type: RunEvent['type']) =>
      ofProgram.slice(
        0,
        ofProgram.findIndex(event => event.type === type),
      );
    for (const events of [upTo('iteration.started'), upTo('agent.started')]) {
      const receipt = receiptOf(events);
      assert.equal(receipt.total.costUnknown, true);
      assert.doesNotMatch(receiptText(receipt), /\$0\.00/);
    }
    assert.doesNotMatch(iterationText(receiptOf(upTo('agent.started'), 1), []), /\$0\.00/);
  });

  test('is empty for an empty journal', () => {
    const receipt = receiptOf([]);
    assert.deepEqual([receipt.run, receipt.iterations, receipt.total.costUsd], [null, [], 0]);
    assert.match(receiptText(receipt), /No iteration yet/);
  });
});

describe('the receipt as text', () => {
  test('has a line for each iteration, each story and the total', () => {
    const [heading] = receiptText(receiptOf(recorded('budget'))).split('\n');
    assert.equal(heading, 'Run r1 · claude, fake-model · billed to the API account');
    const lines = receiptText(receiptOf(run)).split('\n');
    const find = (pattern: RegExp) => lines.filter(line => pattern.test(line)).length;
    assert.equal(find(/^1 +US-001 +no progress +1\.0 s +2 +10 +5 +\$0\.25 +0$/), 1);
    assert.equal(find(/^6 +US-001 +story done .*\$0\.25 +1$/), 1);
    assert.equal(find(/^ *5× +US-001 +story done .*\$1\.25 +2$/), 1);
    assert.equal(find(/^ *6× +total .*\$1\.50 +3$/), 1);
  });

  test('fits into a terminal of 80 columns, and says what it leaves out for that', () => {
    const widest = (text: string) => Math.max(...text.split('\n').map(widthOf));
    assert.ok(widest(receiptText(receiptOf(run), undefined, 80)) <= 80);
    const long = run.map(event =>
      event.type === 'iteration.started' || event.type === 'iteration.ended'
        ? { ...event, storyId: 'A-story-with-a-long-id' }
        : event,
    );
    const whole = receiptText(receiptOf(long));
    assert.ok(widest(whole) > 80);
    assert.doesNotMatch(whole, /No room/);
    const narrow = receiptText(receiptOf(long), undefined, 80);
    assert.ok(widest(narrow) <= 80, narrow);
    assert.match(narrow, /^# +story +outcome +time +.*cost +commits$/m);
    assert.match(narrow, /\nNo room for: turns, .*\. See them with --json\.$/);
    assert.match(narrow, /^6 +A-story.* +story done +1\.0 s +.*\$0\.25 +1$/m);
  });

  test('shows minutes and cached tokens', () => {
    // Recorded calls take a second and cache nothing, see neutralJournal.
    const usage = { input: 10, output: 20, cacheRead: 30, cacheWrite: 40 };
    const slow = recorded('twoChecksGreen').map(event =>
      event.type === 'iteration.ended' ? { ...event, durationMs: 90_000, usage } : event,
    );
    assert.match(
      receiptText(receiptOf(slow)),
      /^1 +US-001 +story done +1\.5 min +2 +80 +20 +\$0\.25 +1$/m,
    );
  });

  test('is aligned in other languages, even with wide letters', () => {
    const t = Object.assign((message: string) => (message === 'story done' ? '完了' : message), {
      language: 'ja',
      said: englishOf,
    });
    const lines = receiptText(receiptOf(run), t).split('\n');
    const rows = lines.filter(line => /^\d +US-001 /.test(line));
    assert.equal(rows.length, 5);
    assert.deepEqual(new Set(rows.map(widthOf)).size, 1);
    assert.equal(rows.filter(line => line.includes('完了')).length, 1);
  });

  test('cannot be used by agents to control the terminal', () => {
    // A loop takes such text out before it writes it; a journal may be of another one.
    const receipt = receiptOf(
      recorded('twoChecksGreen').map((event): RunEvent => {
        switch (event.type) {
          case 'commit.recorded':
            return { ...event, subject: 'red \u001b[31m and\nmore' };
          case 'iteration.started':
          case 'iteration.ended':
            return { ...event, storyId: 'A\u001b[31m' };
          default:
            return event;
        }
      }),
    );
    for (const text of [receiptText(receipt), iterationText(receipt, [])]) {
      assert.doesNotMatch(text, /[^\P{Cc}\n]/u);
    }
    assert.match(iterationText(receipt, []), /^ {2}0000002 red and more$/m);
  });
});
