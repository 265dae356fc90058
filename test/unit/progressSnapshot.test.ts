import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RUN_OUTCOMES } from '../../src/orchestrator/journal/eventCodes.ts';
import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { english } from '../../src/presentation/sentences.ts';
import { progressSnapshot } from '../../src/views/progress/snapshot.ts';
import { recorded } from '../support/recordedJournals.ts';
import {
  AT,
  iterationEnded,
  iterationStarted,
  journalOf,
  runStarted,
} from '../support/runEvents.ts';

const NOW = new Date(AT);
const stories = { done: 1, total: 3 };

function snapshot(
  bodies: readonly RunEventBody[],
  alive: boolean,
  page = 0,
  { allDone = false } = {},
) {
  const events = journalOf(bodies);
  return progressSnapshot({ runId: 'r1', state: foldRun(events), alive }, events, {
    t: english,
    now: NOW,
    page,
    allDone,
  });
}

/** Of a run that is over, as it was recorded. */
function recordedSnapshot(name: string) {
  const events = recorded(name);
  return progressSnapshot({ runId: 'r1', state: foldRun(events), alive: false }, events, {
    t: english,
    now: NOW,
  });
}

const started = runStarted({ stories });

function iteration(number: number): RunEventBody[] {
  return [
    iterationStarted({
      iteration: number,
      storyId: 'US-001',
      storyTitle: 'Create a todo',
      stories,
    }),
    iterationEnded({
      iteration: number,
      storyId: 'US-001',
      outcome: 'progress',
      costUsd: 0.001,
      stories,
    }),
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
    assert.deepEqual(empty.announcements, []);
  });

  it('tells what runs now, and reads out each change of it', () => {
    const [first] = iteration(2);
    assert.ok(first);
    const { run, announcements } = snapshot([started, ...iteration(1), first], true);
    assert.equal(run?.active, true);
    assert.equal(run.stories?.words, '1 of 3 stories done');
    assert.deepEqual(run.now?.story, { id: 'US-001', title: 'Create a todo' });
    assert.equal(run.now.words, 'Iteration 2 of 20');
    assert.equal(run.now.step, 'the agent works');
    assert.deepEqual(announcements, [
      'Iteration 1: Progress.',
      'Iteration 2 of 20: US-001 Create a todo',
    ]);
    assert.deepEqual(
      run.timeline.iterations.map(({ number }) => number),
      [2, 1],
    );
  });

  it('reads out the steps of an iteration, and nothing between two', () => {
    const said = (...more: readonly RunEventBody[]) =>
      snapshot([started, ...iteration(1), ...more], true).announcements;
    const [begin] = iteration(2);
    assert.ok(begin);
    assert.deepEqual(said(), ['Iteration 1: Progress.']);
    assert.deepEqual(said(begin, { type: 'gate.started', iteration: 2, commands: ['npm test'] }), [
      'Iteration 1: Progress.',
      'Iteration 2 of 20: US-001 Create a todo',
      'the checks run',
    ]);
    assert.deepEqual(snapshot([started], true).announcements, ['Preparing the first iteration…']);
  });

  it('reads out the newest iteration whichever page is looked at', () => {
    const all = Array.from({ length: 150 }, (_, at) => iteration(at + 1)).flat();
    const { announcements } = snapshot([started, ...all], true, 1);
    assert.deepEqual(announcements, ['Iteration 150: Progress.']);
  });

  it('tells a killed loop from a running one', () => {
    const { run } = snapshot([started, ...iteration(1)], false);
    assert.equal(run?.status, 'Interrupted');
    assert.equal(run.active, false);
    assert.equal(run.now, undefined);
  });

  it('names the iteration that a kill cut off, and none that had ended', () => {
    const [begun] = iteration(1);
    assert.ok(begun);
    const killed = (...events: Parameters<typeof snapshot>[0]) =>
      snapshot([started, ...events], false).run?.sentence;
    assert.match(killed(begun) ?? '', /killed in iteration 1\./);
    assert.match(killed(...iteration(1)) ?? '', /killed after iteration 1\./);
    assert.match(killed() ?? '', /killed before its first iteration\./);
  });

  it('says for every outcome what it means', () => {
    for (const outcome of RUN_OUTCOMES) {
      const { run } = snapshot(
        [
          started,
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
        [started, { type: 'pause.started', reason, ...(detail !== undefined && { detail }) }],
        true,
      ).run;
    assert.equal(paused('person')?.status, 'Paused');
    const asked = paused('question', 'Blue or green?');
    assert.deepEqual([asked?.glyph, asked?.quote], ['needsYou', 'Blue or green?']);
    assert.match(paused('stuck', '3')?.sentence ?? '', /no progress for 3 iterations/);
    const { run } = snapshot(
      [
        started,
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
    assert.match(run?.sentence ?? '', /goes on by itself/);
    // The page counts down by its own clock.
    assert.equal(run?.until, '2026-03-01T14:05:00.000Z');
    assert.doesNotMatch(run?.sentence ?? '', /ralph-fresh/);
  });

  it('shows the cost beside the budget, and the checks', () => {
    const { run } = snapshot(
      [{ ...started, budgetUsd: 5, verify: ['npm test', 'npm run lint'] }, ...iteration(1)],
      true,
    );
    assert.deepEqual(run?.cost, { value: 0.001, max: 5, words: '<$0.01 of $5.00 spent' });
    const checks = run?.facts.find(({ label }) => label === 'Checks')?.value;
    assert.deepEqual(checks, { text: 'npm test · npm run lint' });
    assert.deepEqual(snapshot([started], true).run?.cost, undefined);
  });

  it('marks what is estimated', () => {
    const [begin, end] = iteration(1);
    assert.ok(begin && end);
    const { run } = snapshot(
      [
        started,
        begin,
        { ...end, costUsd: 0.5, costEstimated: true } as RunEventBody,
        ...iteration(2),
      ],
      true,
    );
    assert.equal(run?.cost?.words, '≈ $0.50 spent');
    assert.deepEqual(
      run.timeline.iterations.map(({ cost }) => cost),
      ['<$0.01', '≈ $0.50'],
    );
  });

  it('says why a claim was refused', () => {
    const first = (name: string) => recordedSnapshot(name).run?.timeline.iterations.at(-1);
    assert.equal(first('firstCheckRed')?.outcome, 'Claim refused');
    assert.equal(first('firstCheckRed')?.reason, 'The check test -f green failed (exit code 1).');
    assert.match(first('review')?.reason ?? '', /^The reviewer: There is no test\. /);
  });

  it('says who pays as far as it is known', () => {
    const facts = (agent: string, apiKeySource: string) =>
      snapshot(
        [
          { ...started, agent },
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
    const before = snapshot([{ ...started, payer: 'apiKey' }], true).run?.facts;
    has(before, 'API key in the environment');
  });

  it('never shows a cost as nothing', () => {
    const { run } = snapshot([started, ...iteration(1)], true);
    assert.equal(run?.timeline.iterations[0]?.cost, '<$0.01');
  });

  it('offers the buttons that fit', () => {
    const [begin] = iteration(1);
    assert.ok(begin);
    const buttons = (alive: boolean, ...bodies: RunEventBody[]) =>
      snapshot([started, ...bodies], alive).run?.actions.map(({ action }) => action);
    const works = ['pauseRun', 'stopAfterIteration', 'stopRun', 'skipStory', 'showTerminal'];
    assert.deepEqual(buttons(true, begin), works);
    assert.deepEqual(buttons(true, begin, { type: 'pause.requested' })?.[0], 'resumeRun');
    assert.deepEqual(
      buttons(true, begin, { type: 'stop.requested', by: 'inbox', mode: 'afterIteration' }),
      works.filter(action => action !== 'stopAfterIteration'),
    );
    assert.deepEqual(
      snapshot(
        [started, begin, { type: 'stop.requested', by: 'inbox', mode: 'end' }],
        true,
      ).run?.actions.map(({ action, pending }) => [action, pending]),
      [
        ['stopRun', true],
        ['showTerminal', undefined],
      ],
    );
    assert.deepEqual(
      buttons(true, { type: 'pause.started', reason: 'stuck', storyId: 'US-001', detail: '3' }),
      ['resumeRun', 'giveHint', 'skipStory', 'stopRun', 'showTerminal'],
    );
    assert.deepEqual(buttons(false, begin), ['startRun']);
    for (const outcome of ['budget', 'maxIterations'] as const) {
      const ended = { type: 'run.ended', outcome, exitCode: 1, stories, iterations: 1 } as const;
      assert.deepEqual(buttons(false, ended), ['startRun', 'openLimitSetting']);
    }
    const done = { done: 3, total: 3 };
    const complete: RunEventBody = {
      type: 'run.ended',
      outcome: 'completed',
      exitCode: 0,
      stories: done,
      iterations: 1,
    };
    assert.deepEqual(buttons(false, complete), ['startRun']);
    assert.deepEqual(snapshot([started, complete], false, 0, { allDone: true }).run?.actions, []);
  });

  it('says that nobody works while a usage limit is waited for', () => {
    const [begin] = iteration(1);
    assert.ok(begin);
    const { run } = snapshot(
      [
        started,
        begin,
        {
          type: 'limit.waiting',
          iteration: 1,
          until: '2026-03-01T13:00:00.000Z',
          remainingMs: 3_600_000,
          known: true,
          message: '',
        },
      ],
      true,
    );
    assert.deepEqual(
      [run?.glyph, run?.status, run?.now?.step],
      ['waiting', 'Waiting for the usage limit', 'the agent waits'],
    );
  });

  it('lets a question be answered while it waits, and after it has ended the run', () => {
    const [begin] = iteration(1);
    assert.ok(begin);
    const asked: RunEventBody[] = [
      begin,
      {
        type: 'promise.seen',
        iteration: 1,
        signal: 'needsHuman',
        message: 'Blue or green?',
        accepted: true,
      },
    ];
    const pause: RunEventBody = {
      type: 'pause.started',
      reason: 'question',
      detail: 'Blue or green?',
    };
    const ended: RunEventBody = {
      type: 'run.ended',
      outcome: 'needsHuman',
      exitCode: 2,
      detail: 'Blue or green?',
      stories,
      iterations: 1,
    };
    const answered: RunEventBody = {
      type: 'question.answered',
      question: 'Blue or green?',
      answer: 'Blue.',
    };
    const run = (alive: boolean, ...bodies: RunEventBody[]) =>
      snapshot([started, ...asked, ...bodies], alive).run;
    assert.equal(run(true)?.question, undefined);
    assert.deepEqual(run(true, pause)?.question, {
      id: 'r1/1',
      send: 'Send Answer',
      help: 'The next agent is told the question and your answer.',
    });
    const { question, actions } = run(false, ended) ?? {};
    assert.deepEqual(question, {
      id: 'r1/1',
      send: 'Answer and Go On',
      help: 'The next agent is told the question and your answer.',
    });
    // One button at most is the one to press.
    assert.deepEqual(actions, [{ action: 'startRun', label: 'Start Fresh Run' }]);
    const after = run(false, ended, answered);
    assert.equal(after?.question, undefined);
    assert.match(after?.sentence ?? '', /Your answer is kept/);
  });

  it('tells what the agent and the loop did last, as text', () => {
    const said: RunEventBody = { type: 'agent.text', text: '<b>\u001b[31mred</b>\nand more' };
    const tool: RunEventBody = { type: 'agent.tool', id: 't', name: 'Bash', gist: 'npm test' };
    const { run } = snapshot([started, ...iteration(1), said, tool], true);
    const last = run?.activity.slice(-3) ?? [];
    assert.deepEqual(
      last.map(({ kind }) => kind),
      ['text', 'text', 'tool'],
    );
    assert.match(last[0]?.text ?? '', /^<b>red<\/b>$/);
    assert.deepEqual(
      last.map(({ isOpening = false }) => isOpening),
      [true, false, true],
    );
    assert.equal(last[1]?.text, 'and more');
    assert.match(last[2]?.text ?? '', /^Bash.*npm test/);
    assert.ok(run?.activity.some(({ text }) => text === 'Iteration 1/20'));
    const many = Array.from({ length: 100 }, () => said);
    assert.equal(snapshot([started, ...many], true).run?.activity.length, 15);
  });

  it('tells what the checks and the reviewer said, and what can be opened', () => {
    const [second, first] = recordedSnapshot('checksAndReview').run?.timeline.iterations ?? [];
    assert.deepEqual(
      [first, second].map(shown =>
        shown?.proofs.map(({ name, verdict, ms }) => [name, verdict, ms]),
      ),
      ['objects', 'approved'].map(verdict => [
        ['echo one', 'passed', 1_000],
        ['echo two', 'passed', 1_000],
        ['Reviewer', verdict, undefined],
      ]),
    );
    assert.deepEqual(first?.documents, [
      'openIterationChanges',
      'openPrompt',
      'openTranscript',
      'openCheckOutput',
    ]);
    const [red] = recordedSnapshot('secondCheckRed').run?.timeline.iterations.toReversed() ?? [];
    assert.deepEqual(
      red?.proofs.map(({ name, verdict }) => [name, verdict]),
      [
        ['echo one', 'passed'],
        ['test -f green', 'failed'],
      ],
    );
  });

  it('shows a long run page by page, and stays small', () => {
    const long = '<img src=x>'.repeat(200);
    const events = Array.from({ length: 1_000 }, (_, index) => [
      ...iteration(index + 1).slice(0, 1),
      ...Array.from(
        { length: 3 },
        (): RunEventBody => ({
          type: 'commit.recorded',
          iteration: index + 1,
          hash: 'a'.repeat(40),
          subject: long,
        }),
      ),
      {
        type: 'check.ended',
        iteration: index + 1,
        command: long,
        ok: false,
        timedOut: false,
        durationMs: 1,
        outputTail: long,
      } satisfies RunEventBody,
      ...iteration(index + 1).slice(1),
    ]).flat();
    const newest = snapshot([started, ...events], true);
    const { timeline } = newest.run ?? {};
    assert.equal(timeline?.iterations.length, 100);
    assert.equal(timeline.iterations[0]?.number, 1_000);
    assert.equal(timeline.words, 'Iterations 901 to 1000 of 1,000');
    assert.deepEqual([timeline.newer, timeline.older], [undefined, 1]);
    assert.ok(JSON.stringify(newest).length < 200_000);
    const oldest = snapshot([started, ...events], true, 99).run?.timeline;
    assert.equal(oldest?.iterations.at(-1)?.number, 1);
    assert.deepEqual([oldest?.newer, oldest?.older], [8, undefined]);
  });
});
