import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RUN_OUTCOMES } from '../../src/orchestrator/journal/eventCodes.ts';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { runMetrics } from '../../src/orchestrator/journal/runMetrics.ts';
import { english } from '../../src/presentation/translate.ts';
import { progressSnapshot } from '../../src/views/progress/snapshot.ts';
import {
  type EventMatch,
  living,
  longRun,
  over,
  type RecordedRun,
  recorded,
  watched,
} from '../support/recordedJournals.ts';

const NOW = new Date('2026-01-01T10:30:00.000Z');

function snapshot(run: RecordedRun, page = 0, { allDone = false } = {}) {
  return progressSnapshot(run, run.events, { t: english, now: NOW, page, allDone });
}

const begun = (iteration: number): EventMatch => ({ type: 'iteration.started', iteration });
const ended = (iteration: number): EventMatch => ({ type: 'iteration.ended', iteration });
const paused: EventMatch = { type: 'pause.started' };

describe('progressSnapshot', () => {
  it('shows the empty page before the first run', () => {
    const events: RunEvent[] = [];
    const empty = progressSnapshot({ state: foldRun(events), alive: false }, events, {
      t: english,
      now: NOW,
    });
    assert.equal(empty.run, undefined);
    assert.deepEqual(empty.announcements, []);
  });

  it('shows what is running and announces each change', () => {
    const { run, announcements } = snapshot(living('severalStories', begun(2)));
    assert.equal(run?.active, true);
    assert.equal(run.stories?.words, '1 of 3 stories done');
    assert.deepEqual(run.now?.story, { id: 'US-002', title: 'Story number 2' });
    assert.equal(run.now.words, 'Iteration 2 of 20');
    assert.equal(run.now.step, 'the agent works');
    assert.deepEqual(announcements, [
      'Iteration 1: Story done.',
      'Iteration 2 of 20: US-002 Story number 2',
    ]);
    assert.deepEqual(
      run.timeline.iterations.map(({ number }) => number),
      [2, 1],
    );
  });

  it('announces the steps of an iteration, and nothing between iterations', () => {
    const said = (until: EventMatch) => snapshot(living('checksAndReview', until)).announcements;
    const between = ['Iteration 1: Claim refused.'];
    assert.deepEqual(said(ended(1)), between);
    const second = [...between, 'Iteration 2 of 20: US-001 Story number 1'];
    assert.deepEqual(said({ type: 'gate.started', iteration: 2 }), [...second, 'the checks run']);
    assert.deepEqual(said({ type: 'agent.started', iteration: 2, purpose: 'review' }), [
      ...second,
      'the reviewer checks the work',
    ]);
    assert.deepEqual(said({ type: 'run.started' }), ['Preparing the first iteration…']);
  });

  it('announces the newest iteration, whichever page is shown', () => {
    const { announcements, areRemovalsSilent } = snapshot(watched(longRun('stuck', 150), true), 1);
    assert.deepEqual(announcements, ['Iteration 150: No progress.']);
    // So the page does not repeat this one when the pause before the next iteration is over.
    assert.equal(areRemovalsSilent, true);
    assert.equal(snapshot(living('severalStories', begun(2))).areRemovalsSilent, undefined);
  });

  it('compares how well agents are guided with earlier runs', () => {
    const run = living('severalStories', begun(3));
    const alone = progressSnapshot(run, run.events, { t: english, now: NOW }).run?.measures;
    assert.equal(alone?.hasEarlier, false);
    assert.equal(alone.order, 'No story was finished before one that it depends on.');
    const [perIteration] = alone.rows;
    assert.deepEqual(
      [perIteration?.title, perIteration?.now, perIteration?.before, perIteration?.trend],
      ['Stories per iteration', '1.00', '–', []],
    );
    const metrics = runMetrics(run.events);
    assert.ok(metrics);
    const earlier = [{ ...metrics, iterations: 4, storiesDone: 2, done: ['US-009'] }];
    const stories = [
      { id: 'US-009', dependsOn: ['US-001'] },
      { id: 'US-001', dependsOn: [] },
    ];
    const compared = progressSnapshot(run, run.events, {
      ...{ t: english, now: NOW, comparison: { earlier, stories } },
    }).run?.measures;
    assert.deepEqual([compared?.rows[0]?.before, compared?.rows[0]?.trend], ['0.50', [0.5, 1]]);
    assert.equal(compared?.order, 'US-009 was finished before US-001, which it depends on.');
    const first = living('severalStories', begun(1));
    assert.equal(
      progressSnapshot(first, first.events, { t: english, now: NOW }).run?.measures,
      undefined,
    );
  });

  it('distinguishes a killed loop from a running one', () => {
    const { run } = snapshot(over('severalStories', ended(1)));
    assert.equal(run?.status, 'Interrupted');
    assert.equal(run.active, false);
    assert.equal(run.now, undefined);
  });

  it('names the iteration interrupted by a kill, but none that had ended', () => {
    const killed = (until: EventMatch) => snapshot(over('severalStories', until)).run?.sentence;
    assert.match(killed(begun(1)) ?? '', /killed in iteration 1\./);
    assert.match(killed(ended(1)) ?? '', /killed after iteration 1\./);
    assert.match(killed({ type: 'run.started' }) ?? '', /killed before its first iteration\./);
  });

  it('describes every outcome', () => {
    const recordings = {
      completed: over('severalStories'),
      maxIterations: over('maxIterations'),
      needsHuman: over('question'),
      noReadyStory: over('skip'),
      stuck: over('stuck'),
      budget: over('budget'),
      stopped: over('stopped'),
      error: over('notStarted'),
      // By the command that found it dead.
      interrupted: over('killedAndResumed', { type: 'run.ended', outcome: 'interrupted' }),
    };
    for (const outcome of RUN_OUTCOMES) {
      assert.equal(recordings[outcome].state.outcome, outcome);
      const { run } = snapshot(recordings[outcome]);
      assert.ok(run?.status && run.sentence, outcome);
      assert.doesNotMatch(run.sentence, /\{\d\}|undefined/, outcome);
    }
  });

  it('shows what an active run waits for and what the agent asks', () => {
    assert.equal(snapshot(living('steered', paused)).run?.status, 'Paused');
    const asked = snapshot(living('questionWaits', paused)).run;
    assert.deepEqual([asked?.glyph, asked?.quote], ['needsYou', 'Blue or green?']);
    const stuck = snapshot(living('stuckAsks', paused)).run;
    assert.match(stuck?.sentence ?? '', /no progress on US-001 for 3 iterations/);
    const free = snapshot(living('freeTaskStuck', paused)).run;
    assert.match(free?.sentence ?? '', /no progress for 2 iterations/);
    const { run } = snapshot(living('limitKnown', { type: 'limit.waiting' }));
    assert.match(run?.sentence ?? '', /continues automatically/);
    // The page counts down by its own clock.
    assert.equal(run?.until, '2026-01-01T11:00:05.000Z');
    assert.doesNotMatch(run?.sentence ?? '', /ralph-fresh/);
    const unknown = snapshot(living('limitWaited', { type: 'limit.waiting' })).run;
    assert.match(unknown?.sentence ?? '', /tries again automatically/);
  });

  it('shows the cost with the budget, and the checks', () => {
    const { run } = snapshot(living('steered', ended(1)));
    assert.deepEqual(run?.cost, { value: 0.25, max: 5, words: '$0.25 of $5.00 spent' });
    const checks = snapshot(over('twoChecksGreen')).run?.facts.find(
      ({ label }) => label === 'Checks',
    )?.value;
    assert.deepEqual(checks, { text: 'echo one · echo two' });
    assert.equal(snapshot(living('severalStories', begun(1))).run?.cost, undefined);
  });

  it('marks estimates', () => {
    const { run } = snapshot(over('stopped'));
    assert.equal(run?.cost?.words, '≈ $0.75 spent');
    assert.deepEqual(
      run.timeline.iterations.map(({ cost }) => cost),
      ['≈ $0.50', '$0.25'],
    );
  });

  it('shows why a claim was refused', () => {
    const first = (name: string) => snapshot(over(name)).run?.timeline.iterations.at(-1);
    assert.equal(first('firstCheckRed')?.outcome, 'Claim refused');
    assert.equal(first('firstCheckRed')?.reason, 'The check test -f green failed (exit code 1).');
    assert.match(first('review')?.reason ?? '', /^The reviewer: There is no test\. /);
  });

  it('shows who pays, as far as known', () => {
    const billing = (run: RecordedRun) =>
      snapshot(run).run?.facts.find(({ label }) => label === 'Billing');
    const has = (run: RecordedRun, text: string) =>
      assert.deepEqual(billing(run), { label: 'Billing', value: { text } });
    has(over('budget'), 'API key (ANTHROPIC_API_KEY)');
    has(over('severalStories'), 'No API key in use');
    has(over('demo'), 'Nothing to pay');
    has(living('budget', { type: 'run.started' }), 'API key in the environment');
  });

  it('never shows an unknown cost as zero', () => {
    // No fake agent is that cheap.
    const cheap = recorded('severalStories', ended(1)).map(
      (event): RunEvent =>
        event.type === 'iteration.ended' ? { ...event, costUsd: 0.001 } : event,
    );
    const { run } = snapshot(watched(cheap, true));
    assert.equal(run?.timeline.iterations[0]?.cost, '<$0.01');
  });

  it('offers the buttons that fit', () => {
    const actions = (run: RecordedRun) => snapshot(run).run?.actions.map(({ action }) => action);
    const works = ['pauseRun', 'stopAfterIteration', 'stopRun', 'skipStory', 'showTerminal'];
    assert.deepEqual(actions(living('severalStories', begun(1))), works);
    assert.equal(actions(living('steered', { type: 'pause.requested' }))?.[0], 'resumeRun');
    assert.deepEqual(
      actions(living('stoppedAfterIteration', { type: 'stop.requested' })),
      works.filter(action => action !== 'stopAfterIteration'),
    );
    assert.deepEqual(
      snapshot(living('stopped', { type: 'stop.requested' })).run?.actions.map(
        ({ action, pending }) => [action, pending],
      ),
      [
        ['stopRun', true],
        ['showTerminal', undefined],
      ],
    );
    assert.deepEqual(actions(living('stuckAsks', paused)), [
      ...['resumeRun', 'giveHint', 'skipStory', 'stopRun', 'showTerminal'],
    ]);
    assert.deepEqual(actions(over('severalStories', begun(1))), ['startRun']);
    for (const name of ['budget', 'maxIterations']) {
      assert.deepEqual(actions(over(name)), ['startRun', 'openLimitSetting', 'openRunChanges']);
    }
    // Nothing has been changed.
    assert.deepEqual(actions(over('timeLimit')), ['startRun', 'openLimitSetting']);
    assert.deepEqual(actions(over('severalStories')), ['openRunChanges', 'startRun']);
    assert.deepEqual(actions(over('ticked')), ['startRun']);
    assert.deepEqual(snapshot(over('ticked'), 0, { allDone: true }).run?.actions, []);
  });

  it('shows that no agent works during the wait for a usage limit', () => {
    const { run } = snapshot(living('limitKnown', { type: 'limit.waiting' }));
    assert.deepEqual(
      [run?.glyph, run?.status, run?.now?.step],
      ['waiting', 'Waiting for the usage limit', 'the agent waits'],
    );
  });

  it('says what to do after an end, as the command line does', () => {
    const sentence = (name: string) => snapshot(over(name)).run?.sentence ?? '';
    assert.match(
      sentence('blocked'),
      /US-001 is blocked: No key\. Fix the cause, then start again/,
    );
    assert.match(
      sentence('exitCode'),
      /^Max iterations reached \(1\) with 0 of 1 stories .* ralphFresh\.maxIterations first\.$/,
    );
  });

  it('allows an answer while a question waits and after it has ended the run', () => {
    const asked: EventMatch = { type: 'promise.seen' };
    assert.equal(snapshot(living('questionWaits', asked)).run?.question, undefined);
    assert.deepEqual(snapshot(living('questionWaits', paused)).run?.question, {
      id: 'r1/1',
      storyId: 'US-001',
      send: 'Send Answer',
      help: 'The next agent is told the question and your answer.',
    });
    const { question, actions } = snapshot(over('question')).run ?? {};
    assert.deepEqual(question, {
      id: 'r1/1',
      storyId: 'US-001',
      send: 'Answer and Continue',
      help: 'The next agent is told the question and your answer.',
    });
    // One button at most is the one to press.
    assert.deepEqual(actions, [{ action: 'startRun', label: 'Start Fresh Run' }]);
    const after = snapshot(over('answeredLater')).run;
    assert.equal(after?.question, undefined);
    assert.match(after?.sentence ?? '', /Your answer is saved/);
    assert.equal(after?.status, 'Stopped');
    const ended = over('question');
    const settled = snapshot({ ...ended, state: { ...ended.state, storyNotes: new Map() } });
    assert.equal(settled.run?.status, 'Stopped');
    assert.match(settled.run?.sentence ?? '', /^This question is settled\. Start a run/);
  });

  it('shows the latest activity of agent and loop as text', () => {
    const until: EventMatch = { type: 'agent.tool', id: 'last' };
    const { run } = snapshot(living('tools', until));
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
    const early = snapshot(living('tools', { type: 'agent.tool', id: 'edit' })).run;
    assert.ok(early?.activity.some(({ text }) => text === 'Iteration 1/20'));
    assert.equal(run?.activity.length, 15);
    // The loop takes it out before it writes it; a journal may be of another one.
    const hostile = recorded('tools', until).map(
      (event): RunEvent =>
        event.type === 'agent.text' ? { ...event, text: '<b>\u001b[31mred</b>\nand more' } : event,
    );
    const shown = snapshot(watched(hostile, true)).run;
    assert.deepEqual(shown?.activity.slice(-3), last);
  });

  it('shows the results of checks and reviewer, and what can be opened', () => {
    const [second, first] = snapshot(over('checksAndReview')).run?.timeline.iterations ?? [];
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
    const [red] = snapshot(over('secondCheckRed')).run?.timeline.iterations.toReversed() ?? [];
    assert.deepEqual(
      red?.proofs.map(({ name, verdict }) => [name, verdict]),
      [
        ['echo one', 'passed'],
        ['test -f green', 'failed'],
      ],
    );
  });

  it('shows a long run page by page, and stays small', () => {
    // As hostile as its texts can be.
    const long = '<img src=x>'.repeat(200);
    const events = longRun('firstCheckRed', 1_000, event =>
      event.type === 'commit.recorded'
        ? { ...event, subject: long }
        : event.type === 'check.ended'
          ? { ...event, command: long, outputTail: long }
          : event,
    ).flatMap<RunEvent>(event =>
      event.type === 'commit.recorded' ? [event, event, event] : [event],
    );
    const run = watched(
      events.map((event, at) => ({ ...event, seq: at + 1 })),
      true,
    );
    const newest = snapshot(run);
    const { timeline } = newest.run ?? {};
    assert.equal(timeline?.iterations.length, 100);
    assert.equal(timeline.iterations[0]?.number, 1_000);
    assert.equal(timeline.words, 'Iterations 901 to 1000 of 1,000');
    assert.deepEqual([timeline.newer, timeline.older], [undefined, 1]);
    assert.ok(JSON.stringify(newest).length < 200_000, `${JSON.stringify(newest).length}`);
    const oldest = snapshot(run, 99).run?.timeline;
    assert.equal(oldest?.iterations.at(-1)?.number, 1);
    assert.deepEqual([oldest?.newer, oldest?.older], [8, undefined]);
  });
});
