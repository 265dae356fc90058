import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import {
  parseRunEvent,
  type RunEvent,
  type RunEventBody,
} from '../../src/orchestrator/journal/events.ts';
import { applyEvent, foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import {
  currentOf,
  INITIAL_RUN_STATE,
  lastErrorOf,
  questionOf,
  type RunState,
  storyNotes,
  storyRecord,
} from '../../src/orchestrator/journal/runState.ts';
import { journalOf } from '../support/runEvents.ts';
import { sameValue } from '../support/sameValue.ts';

const started: RunEventBody = {
  type: 'run.started',
  runId: 'run-1',
  version: '1.2.3',
  pid: 42,
  agent: 'claude',
  model: 'opus',
  mode: 'stories',
  task: 'Make it work',
  maxIterations: 20,
  stuckThreshold: 3,
  storyFile: '.omc/prd.json',
  stories: { done: 0, total: 2 },
  branch: 'main',
  startCommit: 'c0',
};

const iterationStarted = (iteration: number, storyId?: string): RunEventBody => ({
  type: 'iteration.started',
  iteration,
  maxIterations: 20,
  ...(storyId === undefined ? {} : { storyId, storyTitle: `Title of ${storyId}` }),
  stories: { done: 0, total: 2 },
  startCommit: 'c0',
  promptBytes: 100,
  handoffBytes: 50,
  stuckFor: 0,
});

type Ended = Extract<RunEventBody, { type: 'iteration.ended' }>;
const iterationEnded = (
  iteration: number,
  outcome: Ended['outcome'],
  extra: Partial<Ended> = {},
): RunEventBody => ({
  type: 'iteration.ended',
  iteration,
  storyId: 'A',
  outcome,
  durationMs: 5,
  commits: 0,
  stories: { done: 0, total: 2 },
  ...extra,
});

/** Numbers the events as a journal does. */
function events(...bodies: readonly RunEventBody[]): RunEvent[] {
  return journalOf(bodies, i => `2026-01-01T00:00:0${i % 10}Z`);
}

const fold = (...bodies: readonly RunEventBody[]): RunState => foldRun(events(...bodies));

describe('the fold of a run', () => {
  test('no events: the run is idle', () => {
    assert.equal(foldRun([]), INITIAL_RUN_STATE);
    assert.equal(foldRun([]).phase, 'idle');
  });

  test('run.started: keeps the facts of the run and drops those of an earlier run', () => {
    const state = fold(
      started,
      iterationStarted(1, 'A'),
      iterationEnded(1, 'failed', { costUsd: 3 }),
      { ...started, runId: 'run-2' } as RunEventBody,
    );
    sameValue(state, {
      ...INITIAL_RUN_STATE,
      phase: 'running',
      runId: 'run-2',
      agent: 'claude',
      model: 'opus',
      mode: 'stories',
      task: 'Make it work',
      storyFile: '.omc/prd.json',
      branch: 'main',
      pid: 42,
      startedAt: '2026-01-01T00:00:03Z',
      maxIterations: 20,
      stuckThreshold: 3,
      stories: { done: 0, total: 2 },
      lastSeq: 4,
    });
  });

  test('iteration.started: sets the running iteration', () => {
    const state = fold(started, iterationStarted(3, 'A'));
    assert.equal(state.iteration, 3);
    sameValue(currentOf(state), {
      number: 3,
      storyId: 'A',
      storyTitle: 'Title of A',
      startedAt: '2026-01-01T00:00:01Z',
      startCommit: 'c0',
      commits: 0,
      step: 'agent',
      costUsd: 0,
      handled: new Map(),
    });
  });

  test('agent.started and agent.ended: keep the process while it runs', () => {
    const agent: RunEventBody = { type: 'agent.started', iteration: 1, pid: 7, startId: 'boot:1' };
    const running = fold(started, iterationStarted(1, 'A'), agent);
    assert.equal(currentOf(running)?.agentPid, 7);
    assert.equal(currentOf(running)?.agentStartId, 'boot:1');
    const ended: RunEventBody = {
      type: 'agent.ended',
      iteration: 1,
      reason: 'exited',
      durationMs: 1,
      leftovers: 0,
    };
    const after = fold(started, iterationStarted(1, 'A'), agent, ended);
    assert.equal(currentOf(after)?.number, 1);
    assert.equal(currentOf(after)?.agentPid, undefined);
    assert.equal(currentOf(after)?.agentStartId, undefined);
    assert.equal(lastErrorOf(after), undefined);
  });

  test('agent.ended with an error: sets the last error', () => {
    const ended = (iteration: number, message: string): RunEventBody => ({
      type: 'agent.ended',
      iteration,
      reason: 'exited',
      durationMs: 1,
      leftovers: 0,
      error: { kind: 'api', message },
    });
    const state = fold(started, iterationStarted(1), ended(1, 'one'), ended(2, 'two'));
    sameValue(lastErrorOf(state), { iteration: 2, kind: 'api', message: 'two' });
  });

  test('agent.init: sets model and payer; missing values stay', () => {
    const state = fold(
      started,
      { type: 'agent.init', apiKeySource: 'ANTHROPIC_API_KEY', model: 'opus-5' },
      { type: 'agent.init' },
    );
    sameValue([state.model, state.apiKeySource], ['opus-5', 'ANTHROPIC_API_KEY']);
  });

  test('agent.text and agent.tool: set the latest activity', () => {
    const now = (...bodies: RunEventBody[]) =>
      currentOf(fold(started, iterationStarted(1), ...bodies))?.activity;
    assert.equal(now({ type: 'agent.text', text: 'First.\n  Last line. \n\n' }), 'Last line.');
    assert.equal(
      now({ type: 'agent.tool', id: '1', name: 'Bash', gist: 'npm test' }),
      'Bash npm test',
    );
    assert.equal(now({ type: 'agent.tool', id: '1', name: 'TodoWrite', gist: '' }), 'TodoWrite');
  });

  test('other events change only the sequence number', () => {
    const quiet: RunEventBody[] = [
      { type: 'agent.toolFailed', id: '1', gist: 'no such file' },
      { type: 'agent.retry', attempt: 1, maxAttempts: 10, delayMs: 5, error: 'overloaded' },
      { type: 'agent.denied', tool: 'WebFetch', message: 'no' },
      { type: 'agent.output', text: 'noise' },
      { type: 'warning', code: 'gitUnreadable', detail: 'x' },
      { type: 'promise.seen', iteration: 1, signal: 'complete', message: '', accepted: true },
    ];
    const before = fold(started, iterationStarted(1, 'A'));
    for (const body of quiet) {
      const after = fold(started, iterationStarted(1, 'A'), body);
      sameValue(after, { ...before, lastSeq: 3 }, body.type);
    }
  });

  test('commit.recorded: adds commits in order and counts them in their iteration', () => {
    const commit = (hash: string): RunEventBody => ({
      type: 'commit.recorded',
      iteration: 1,
      storyId: 'A',
      hash,
      subject: `subject of ${hash}`,
    });
    const state = fold(started, iterationStarted(1, 'A'), commit('c1'), commit('c2'));
    assert.equal(currentOf(state)?.commits, 2);
    sameValue(state.commits[0], {
      hash: 'c1',
      subject: 'subject of c1',
      at: '2026-01-01T00:00:02Z',
      iteration: 1,
      storyId: 'A',
    });
    sameValue(
      state.commits.map(({ hash }) => hash),
      ['c1', 'c2'],
    );
  });

  test('story.changed and story.ticked: record who marked it as done', () => {
    const by = (...bodies: RunEventBody[]) =>
      storyRecord(fold(started, ...bodies), 'A').doneBy ?? 'nobody';
    const changed = (done: boolean, who: 'agent' | 'outside'): RunEventBody => ({
      type: 'story.changed',
      storyId: 'A',
      done,
      by: who,
    });
    const ticked = (done: boolean): RunEventBody => ({ type: 'story.ticked', storyId: 'A', done });
    assert.equal(by(), 'nobody');
    assert.equal(by(changed(true, 'agent')), 'agent');
    assert.equal(by(changed(true, 'outside')), 'outside');
    assert.equal(by(ticked(true)), 'hand');
    assert.equal(by(changed(true, 'agent'), ticked(false)), 'nobody');
    assert.equal(by(ticked(true), changed(false, 'agent')), 'nobody');
    assert.equal(by(ticked(true), changed(false, 'agent'), changed(true, 'agent')), 'agent');
  });

  test('commits.lost: lists missing commits, except those of a story that is to be redone', () => {
    const lost = (...ids: string[]): RunEventBody => ({
      ...{ type: 'commits.lost', iteration: 2, branch: 'main' },
      commits: ids.map(storyId => ({ hash: `c-${storyId}`, subject: 'work', storyId })),
    });
    const missed = (...bodies: RunEventBody[]) =>
      foldRun(journalOf([started, ...bodies])).lostCommits?.map(({ hash }) => hash);
    const tick = (storyId: string, done: boolean): RunEventBody => ({
      ...{ type: 'story.ticked', storyId, done },
    });
    sameValue(missed(lost('A', 'B')), ['c-A', 'c-B']);
    sameValue(missed(lost('A', 'B'), lost('B')), ['c-B']);
    assert.equal(missed(lost('A'), lost()), undefined);
    sameValue(missed(lost('A', 'B'), tick('A', false), tick('A', true)), ['c-B']);
    sameValue(missed(lost('A'), tick('A', true)), ['c-A']);
    assert.equal(
      missed(lost('A'), { type: 'story.changed', storyId: 'A', done: false, by: 'outside' }),
      undefined,
    );
  });

  test("a person's change gives a failed or blocked story a new start", () => {
    const blocked: RunEventBody = {
      type: 'promise.seen',
      iteration: 2,
      signal: 'blocked',
      message: 'no access',
      accepted: true,
    };
    const before = [
      started,
      iterationStarted(1, 'A'),
      iterationEnded(1, 'failed'),
      iterationStarted(2, 'A'),
      blocked,
    ];
    sameValue(storyRecord(fold(...before), 'A'), {
      stuckFor: 1,
      failures: 1,
      iterations: 1,
      costUsd: 0,
      title: 'Title of A',
      blocked: 'no access',
    });
    const after = fold(...before, { type: 'story.ticked', storyId: 'A', done: false });
    sameValue(storyRecord(after, 'A'), {
      ...{ stuckFor: 0, failures: 0, iterations: 1, costUsd: 0, title: 'Title of A' },
    });
  });

  test('promise.seen, refused: is kept for the next prompt', () => {
    const state = fold(started, iterationStarted(4, 'A'), {
      type: 'promise.seen',
      iteration: 4,
      signal: 'complete',
      message: 'all of it',
      accepted: false,
    });
    sameValue(storyNotes(state, 'A').refusedPromise, { iteration: 4, message: 'all of it' });
  });

  const records: readonly (readonly [readonly Ended['outcome'][], readonly number[]])[] = [
    // outcomes in a row → stuckFor, failures, iterations
    [
      ['noProgress', 'noProgress'],
      [2, 0, 2],
    ],
    [
      ['failed', 'failed'],
      [2, 2, 2],
    ],
    [
      ['failed', 'noProgress'],
      [2, 0, 2],
    ],
    [
      ['failed', 'progress'],
      [0, 0, 2],
    ],
    [
      ['failed', 'storyDone'],
      [0, 0, 2],
    ],
    [['blocked'], [1, 0, 1]],
    [['needsHuman'], [0, 0, 1]],
    [
      ['noProgress', 'needsHuman', 'noProgress'],
      [2, 0, 3],
    ],
    [
      ['failed', 'stopped'],
      [1, 1, 1],
    ],
    [
      ['noProgress', 'progress', 'noProgress'],
      [1, 0, 3],
    ],
  ];
  for (const [outcomes, expected] of records) {
    test(`iteration.ended: ${outcomes.join(', ')}`, () => {
      const state = fold(started, ...outcomes.map((outcome, i) => iterationEnded(i + 1, outcome)));
      const { stuckFor, failures, iterations } = storyRecord(state, 'A');
      sameValue([stuckFor, failures, iterations], expected);
    });
  }

  for (const [kind, expected] of [
    ['notStarted', [0, 0, 0.1]],
    ['authentication', [0, 0, 0.1]],
    ['billing', [0, 0, 0.1]],
    ['usageLimit', [0, 0, 0.1]],
    ['api', [1, 1, 0.1]],
  ] as const) {
    test(`iteration.ended: whether a failed call with ${kind} counts against its story`, () => {
      const state = fold(
        started,
        iterationStarted(1, 'A'),
        {
          ...{ type: 'agent.ended', iteration: 1, reason: 'exited', durationMs: 1, leftovers: 0 },
          error: { kind, message: 'No.' },
        },
        iterationEnded(1, 'failed', { costUsd: 0.1 }),
      );
      const { costUsd, failures, stuckFor } = storyRecord(state, 'A');
      sameValue([stuckFor, failures, costUsd], expected);
    });
  }

  test('iteration.ended: an older error that ended a run is not counted for the next iteration', () => {
    const state = fold(
      started,
      iterationStarted(1, 'A'),
      {
        ...{ type: 'agent.ended', iteration: 1, reason: 'notStarted', durationMs: 1, leftovers: 0 },
        error: { kind: 'notStarted', message: 'No.' },
      },
      iterationEnded(1, 'failed'),
      iterationStarted(2, 'A'),
      iterationEnded(2, 'failed'),
    );
    assert.equal(storyRecord(state, 'A').failures, 1);
  });

  test('iteration.ended: nothing runs, and count and cost are updated', () => {
    const state = fold(
      started,
      iterationStarted(1, 'A'),
      iterationEnded(1, 'storyDone', { costUsd: 0.5, stories: { done: 1, total: 2 } }),
      iterationStarted(2, 'B'),
      iterationEnded(2, 'progress', { storyId: 'B', stories: { done: 1, total: 3 } }),
      iterationEnded(3, 'progress', {
        storyId: 'B',
        costUsd: 0.25,
        stories: { done: 2, total: 3 },
      }),
    );
    assert.equal(currentOf(state), undefined);
    assert.equal(state.costUsd, 0.75);
    sameValue(state.stories, { done: 2, total: 3 });
    sameValue(state.lastIteration, { number: 3, outcome: 'progress', storyId: 'B' });
    assert.equal(storyRecord(state, 'A').iterations, 1);
    assert.equal(storyRecord(state, 'B').iterations, 2);
  });

  test('notes on a story are not affected by other stories', () => {
    const checked = (iteration: number, storyId: string, green: boolean): RunEventBody[] => [
      { type: 'gate.started', iteration, commands: ['npm test'], storyId },
      {
        ...{ type: 'check.ended', iteration, command: 'npm test', ok: green, timedOut: false },
        ...{ durationMs: 1, outputTail: green ? '' : 'red' },
      },
      { type: 'gate.ended', iteration, green, storyId },
    ];
    const reviewed = (iteration: number, storyId: string, approved: boolean): RunEventBody => ({
      ...{ type: 'review.ended', iteration, storyId, approved },
      objections: approved ? [] : ['no'],
    });
    const state = fold(
      started,
      iterationStarted(1, 'A'),
      ...checked(1, 'A', false),
      iterationEnded(1, 'rejected', { storyId: 'A' }),
      iterationStarted(2, 'C'),
      ...[...checked(2, 'C', true), reviewed(2, 'C', false)],
      iterationEnded(2, 'rejected', { storyId: 'C' }),
      iterationStarted(3, 'B'),
      ...[...checked(3, 'B', true), reviewed(3, 'B', true)],
      iterationEnded(3, 'storyDone', { storyId: 'B' }),
    );
    assert.equal(storyNotes(state, 'A').failedCheck?.output, 'red');
    sameValue(storyNotes(state, 'C').review, { iteration: 2, objections: ['no'] });
    sameValue(storyNotes(state, 'B'), {
      lastIteration: { number: 3, outcome: 'storyDone' },
    });
    sameValue(storyNotes(state, 'A').lastIteration, { number: 1, outcome: 'rejected' });
  });

  test('a claim refused in the iteration of another story also keeps the output', () => {
    const state = fold(
      started,
      iterationStarted(1, 'A'),
      {
        ...{ type: 'check.ended', iteration: 1, command: 'npm test', ok: false, timedOut: false },
        ...{ durationMs: 1, outputTail: 'red' },
      },
      { type: 'gate.ended', iteration: 1, green: false, storyId: 'B' },
    );
    assert.equal(storyNotes(state, 'B').failedCheck?.output, 'red');
  });

  test('two questions stay open until each is answered', () => {
    const asks = (iteration: number): RunEventBody => ({
      ...{ type: 'promise.seen', iteration, signal: 'needsHuman', accepted: true },
      message: `Which in ${iteration}?`,
    });
    const bodies = [
      { ...started, lanes: 2, isolated: true },
      ...[iterationStarted(1, 'A'), iterationStarted(2, 'B'), asks(1), asks(2)],
    ];
    const both = fold(...bodies);
    assert.equal(questionOf(both)?.storyId, 'B');
    const answered: RunEventBody = {
      ...{ type: 'question.answered', question: 'Which in 2?', answer: 'The first', storyId: 'B' },
    };
    assert.equal(questionOf(fold(...bodies, answered))?.message, 'Which in 1?');
  });

  test('a question is closed when its story is done, unless it was asked just then', () => {
    const asks: RunEventBody = {
      ...{ type: 'promise.seen', iteration: 1, signal: 'needsHuman', accepted: true },
      message: 'Which?',
    };
    const asked = [started, iterationStarted(1, 'A'), asks];
    const change = { type: 'story.changed', storyId: 'A', done: true } as const;
    const open = (...bodies: RunEventBody[]) => questionOf(fold(...asked, ...bodies))?.message;
    assert.equal(open({ ...change, by: 'outside' }), undefined);
    assert.equal(open({ ...change, by: 'agent' }), 'Which?');
    assert.equal(open(iterationEnded(1, 'storyDone')), 'Which?');
    const again = [iterationEnded(1, 'needsHuman'), iterationStarted(2, 'A')];
    assert.equal(open(...again, iterationEnded(2, 'progress')), 'Which?');
    assert.equal(open(...again, iterationEnded(2, 'storyDone')), undefined);
  });

  for (const { outcome, open, unanswered } of [
    { outcome: 'stopped', open: 'Which?', unanswered: [] },
    { outcome: 'needsHuman', open: undefined, unanswered: [{ question: 'Which?', storyId: 'A' }] },
  ] as const) {
    test(`with lanes, a question after a run that ended with ${outcome} and continues`, () => {
      const { runId: _, ...resumed } = { ...started, lanes: 2, isolated: true as const };
      const state = fold(
        { ...started, lanes: 2, isolated: true },
        iterationStarted(1, 'A'),
        {
          ...{ type: 'promise.seen', iteration: 1, signal: 'needsHuman', accepted: true },
          message: 'Which?',
        },
        iterationEnded(1, 'needsHuman'),
        {
          ...{ type: 'run.ended', outcome, exitCode: 1, iterations: 1 },
          stories: { done: 0, total: 1 },
        },
        { ...resumed, type: 'run.resumed' },
      );
      assert.equal(questionOf(state)?.message, open);
      sameValue(state.answers, unanswered);
    });
  }

  describe('two parallel iterations', () => {
    const lanes: RunEventBody = { ...started, lanes: 2, isolated: true };
    const both = [lanes, iterationStarted(1, 'A'), iterationStarted(2, 'B')];

    test('have separate activity, process, cost and commits', () => {
      const state = fold(
        ...both,
        { type: 'agent.started', iteration: 1, pid: 7 },
        { type: 'agent.text', iteration: 1, text: 'one' },
        { type: 'agent.tool', iteration: 2, id: '1', name: 'Bash', gist: 'two' },
        { type: 'commit.recorded', iteration: 2, storyId: 'B', hash: 'c', subject: 's' },
        {
          ...{ type: 'agent.ended', iteration: 2, reason: 'exited', durationMs: 1, leftovers: 0 },
          costUsd: 0.5,
        },
      );
      sameValue(
        state.running.map(({ activity, agentPid, commits, costUsd, number }) => ({
          ...{ activity, agentPid, commits, costUsd, number },
        })),
        [
          { activity: 'one', agentPid: 7, commits: 0, costUsd: 0, number: 1 },
          { activity: 'Bash two', agentPid: undefined, commits: 1, costUsd: 0.5, number: 2 },
        ],
      );
    });

    test('have separate limits', () => {
      const waits = (iteration: number): RunEventBody => ({
        ...{ type: 'limit.waiting', iteration, until: `${iteration}`, remainingMs: 1, known: true },
        message: '',
      });
      const over: RunEventBody = { type: 'limit.ended', iteration: 1, by: 'time' };
      const state = fold(...both, waits(1), waits(2), over);
      sameValue([...state.limits.keys()], [2]);
    });

    test('can end separately; both can be judged later if the end of the run interrupts them', () => {
      const one = fold(...both, iterationEnded(1, 'storyDone', { storyId: 'A' }));
      sameValue(
        one.running.map(({ number }) => number),
        [2],
      );
      const end: RunEventBody = {
        ...{ type: 'run.ended', outcome: 'interrupted', exitCode: 1, iterations: 2 },
        stories: { done: 0, total: 2 },
      };
      const cut = fold(...both, end);
      sameValue([cut.running.length, cut.cutOff.length], [0, 2]);
    });
  });

  test('with one lane, an iteration with a lost end does not run forever', () => {
    const state = fold(started, iterationStarted(1, 'A'), iterationStarted(2, 'B'));
    sameValue(
      state.running.map(({ number }) => number),
      [2],
    );
  });

  test('stop.requested: the run is stopping, but not after its end', () => {
    const stop: RunEventBody = { type: 'stop.requested', by: 'inbox', mode: 'end' };
    const end: RunEventBody = {
      type: 'run.ended',
      outcome: 'stopped',
      exitCode: 130,
      detail: 'why',
      stories: { done: 1, total: 2 },
      iterations: 1,
    };
    assert.equal(fold(started, stop).phase, 'stopping');
    assert.equal(fold(stop).phase, 'idle');
    const ended = fold(started, iterationStarted(1, 'A'), stop, end, stop);
    sameValue(
      [ended.phase, ended.outcome, ended.exitCode, ended.detail, ended.running.length],
      ['ended', 'stopped', 130, 'why', 0],
    );
    assert.equal(ended.endedAt, '2026-01-01T00:00:03Z');
    sameValue(ended.stories, { done: 1, total: 2 });
  });

  test('an event that is older or already applied changes nothing', () => {
    const all = events(
      started,
      iterationStarted(1, 'A'),
      iterationEnded(1, 'failed', { costUsd: 1 }),
    );
    const state = foldRun(all);
    for (const event of all) {
      assert.equal(applyEvent(state, event), state);
    }
  });

  test('unknown fields of a newer loop do not affect the counts', () => {
    const state = fold({ ...started, stories: { done: 1, total: 2, paused: 3 } } as RunEventBody);
    sameValue(state.stories, { done: 1, total: 2 });
  });
});

describe('parseRunEvent', () => {
  const line = (value: unknown) => JSON.stringify(value);
  const [event] = events(started);

  test('reads an event and keeps fields it does not know', () => {
    sameValue(parseRunEvent(line({ ...event, later: [1] })), { ...event, later: [1] });
  });

  const foreign: readonly (readonly [string, string])[] = [
    ['an unknown type', line({ ...event, type: 'run.paused' })],
    ['a field of another type', line({ ...event, pid: 'many' })],
    ['a field that is missing', line({ ...event, runId: undefined })],
    ['a number that is none of ours', line({ ...event, seq: 0 })],
    ['half a line', line(event).slice(0, -5)],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', '[]'],
    ['text', 'hello'],
  ];
  for (const [name, text] of foreign) {
    test(`skips ${name}`, () => assert.equal(parseRunEvent(text), undefined));
  }
});
