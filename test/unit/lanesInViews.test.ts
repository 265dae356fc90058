import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { doingOf } from '../../src/orchestrator/journal/doing.ts';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { iterationRows } from '../../src/orchestrator/journal/iterationRows.ts';
import { returnedWork } from '../../src/orchestrator/journal/returnedWork.ts';
import { runStanding } from '../../src/orchestrator/journal/runStanding.ts';
import { hasPlace, type RunState } from '../../src/orchestrator/journal/runState.ts';
import { eventsOfRequest } from '../../src/orchestrator/workspace/request.ts';
import { returnedSentence, rowWord } from '../../src/presentation/iterationWords.ts';
import { storyStates, storyStatus } from '../../src/presentation/storyState.ts';
import { Transcript } from '../../src/presentation/transcript.ts';
import { english } from '../../src/presentation/translate.ts';
import { doingWords, minuteWords, returnedWords } from '../../src/presentation/workWords.ts';
import { IterationNodes } from '../../src/views/iterations/iterationNodes.ts';
import { askedIn } from '../../src/views/progress/askedQuestion.ts';
import { progressSnapshot } from '../../src/views/progress/snapshot.ts';
import { alertsOf, isPast, openQuestion } from '../../src/views/run/alertOf.ts';
import { canResume, fittingActions } from '../../src/views/run/fittingActions.ts';
import { statusWords } from '../../src/views/statusBar/statusWords.ts';
import { TerminalScreen } from '../../src/views/terminal/terminalScreen.ts';
import {
  type EventMatch,
  living,
  over,
  type RecordedRun,
  recorded,
  watched,
} from '../support/recordedJournals.ts';
import { aStory } from '../support/storyList.ts';

const NOW = new Date('2026-01-01T10:30:00.000Z');
/** Both agents have begun. */
const BOTH: EventMatch = { type: 'agent.text', iteration: 2 };
const QUEUED: EventMatch = { type: 'landing.queued', iteration: 1 };
const CANDIDATE: EventMatch = { type: 'landing.candidate', iteration: 1 };
/** The work of the second one has come back, and nobody has begun again. */
const BACK: EventMatch = { type: 'iteration.ended', iteration: 2 };
const RETURNED: EventMatch = { type: 'landing.returned', iteration: 2 };
const ASKED: EventMatch = { type: 'iteration.ended', iteration: 1 };
const OVER: EventMatch = { type: 'iteration.ended', iteration: 2 };
const HELD: EventMatch = { type: 'target.held' };

const snapshot = (run: RecordedRun) => progressSnapshot(run, run.events, { t: english, now: NOW });
const status = (run: RecordedRun) => statusWords(run, english, NOW.getTime());
const kinds = (run: RecordedRun) =>
  ['US-001', 'US-002'].map(id => {
    const found = storyStatus({ id, done: false }, run, [run.state]);
    return found?.kind === 'running' ? [found.kind, found.agent?.lane] : found?.kind;
  });
/** Without a number and a time. */
type EventBody = RunEvent extends infer E
  ? E extends RunEvent
    ? Omit<E, 'at' | 'seq'>
    : never
  : never;
const renumbered = (events: readonly RunEvent[]) =>
  events.map((event, index) => ({ ...event, seq: index + 1 }));
/** The run after one more event. */
const more = ({ alive, events }: RecordedRun, event: EventBody) =>
  watched(renumbered([...events, { ...event, seq: 0, at: NOW.toISOString() } as RunEvent]), alive);
const ended = (state: RunState, outcome: NonNullable<RunState['outcome']>): RunState => ({
  ...state,
  ...{ phase: 'ended', outcome, running: [] },
});
/** One of two agents waits for a usage limit. */
const limited = (...iterations: readonly number[]) => {
  const events = [...recorded('lanes', BOTH)];
  for (const iteration of iterations) {
    events.push({
      ...{ seq: events.length + 1, at: NOW.toISOString(), type: 'limit.waiting', iteration },
      ...{
        until: '2026-01-01T12:00:00.000Z',
        remainingMs: 5_400_000,
        known: true,
        message: 'Limit',
      },
    });
  }
  return watched(events, true);
};

describe('several running stories', () => {
  test('each is shown as running in the list of stories, and as waiting to land', () => {
    assert.deepEqual(kinds(living('lanes', BOTH)), [
      ['running', 1],
      ['running', 2],
    ]);
    assert.deepEqual(kinds(living('lanes', QUEUED)), ['queued', ['running', 2]]);
    assert.deepEqual(kinds(living('lanes', CANDIDATE)), ['landing', ['running', 2]]);
  });

  test('work waiting to land still waits after the run ends or is killed', () => {
    assert.deepEqual(kinds(over('lanes', QUEUED)), ['queued', undefined]);
    const events = recorded('lanes', QUEUED);
    const ended: RunEvent = {
      ...{ seq: events.length + 1, at: NOW.toISOString(), type: 'run.ended', durationMs: 1 },
      ...{ outcome: 'stopped', exitCode: 130, iterations: 2, stories: { done: 0, total: 2 } },
      ...{ costUsd: 0, leftovers: 0 },
    };
    assert.deepEqual(kinds(watched([...events, ended], false)), ['queued', undefined]);
    // It gets no agent any more, so another one is next.
    const stories = ['US-001', 'US-002'].map((id, position) => aStory({ id, position }));
    const run = watched([...events, ended], false);
    const states = storyStates(stories, { run, states: [run.state] });
    assert.deepEqual(
      stories.map(story => states.get(story)?.kind),
      ['queued', 'next'],
    );
  });

  test('returned work shows its reason until the story gets another agent or another chance', () => {
    const back = living('lanes', BACK);
    const found = storyStatus({ id: 'US-002', done: false }, back, [back.state]);
    assert.ok(found?.kind === 'returned');
    assert.deepEqual(found.work, { iteration: 2, reason: 'conflict', files: ['shared.txt'] });
    assert.equal(
      returnedSentence(found.work, english),
      'It conflicts with what has landed meanwhile: shared.txt',
    );
    assert.deepEqual(kinds(living('lanes', { type: 'iteration.started', iteration: 3 }))[1], [
      ...['running', 1],
    ]);
    assert.equal(kinds(over('lanes'))[1], undefined);
    assert.equal(kinds(more(back, { type: 'story.reset', storyId: 'US-002' }))[1], undefined);
  });

  test('failed checks are shown as the reason of a returned landing', () => {
    const check = {
      ...{ iteration: 2, command: 'npm test', exitCode: 1, ok: false, timedOut: false },
      ...{ durationMs: 1, outputTail: 'two\nthree' },
    };
    const { events } = living('lanes', BACK);
    const red = watched(
      renumbered(
        events.flatMap(event =>
          event.type === 'landing.returned' && event.iteration === 2
            ? [
                { ...event, type: 'check.ended', ...check } as RunEvent,
                { ...event, reason: 'checks' },
              ]
            : event,
        ),
      ),
      true,
    );
    const work = returnedWork(red.state, 'US-002');
    assert.ok(work?.reason === 'checks');
    assert.equal(work.check.output, 'two\nthree');
    assert.equal(returnedWords(work, english), 'returned · checks failed');
    assert.equal(returnedSentence(work, english), 'The check npm test failed (exit code 1).');
  });

  test('a paused story is not ready; a running one gets no further agent', () => {
    const pause = { type: 'story.paused', storyId: 'US-002', paused: true } as const;
    const both = more(living('lanes', BOTH), pause);
    const status = storyStatus({ id: 'US-002', done: false }, both, [both.state]);
    assert.equal(status?.kind === 'running' && status.agent?.isLast, true);
    const back = more(living('lanes', BACK), pause);
    assert.equal(kinds(back)[1], 'paused');
    assert.equal(kinds(more(back, { ...pause, paused: false }))[1], 'returned');
    // The next start continues with it paused; after another end there is nothing to continue.
    assert.equal(kinds({ ...back, alive: false })[1], 'paused');
    assert.equal(
      kinds({ ...back, alive: false, state: ended(back.state, 'stopped') })[1],
      'paused',
    );
    const limit = ended(back.state, 'maxIterations');
    assert.equal(kinds({ ...back, alive: false, state: limit })[1], 'returned');
  });

  test('a place is that of the story whose agent had it last, or of the person who settles its conflict', () => {
    const having = ({ state }: RecordedRun) =>
      ['US-001', 'US-002', 'US-003'].filter(id => hasPlace(state, id));
    const back = living('lanes', BACK);
    assert.deepEqual(having(back), ['US-001', 'US-002']);
    const next = { type: 'iteration.started', iteration: 9, storyId: 'US-003', lane: 2 } as const;
    const given = more(back, { ...next, stories: { done: 0, total: 3 } });
    assert.deepEqual(having(given), ['US-001', 'US-003']);
    const settle = { type: 'story.settling', storyId: 'US-002', settling: true } as const;
    assert.deepEqual(having(more(given, settle)), ['US-001', 'US-002', 'US-003']);
  });

  test('a story whose conflict a person settles gets no agent, and says so', () => {
    const settle = { type: 'story.settling', storyId: 'US-002', settling: true } as const;
    const back = more(living('lanes', BACK), settle);
    assert.equal(kinds(back)[1], 'settling');
    // Whatever else is known of it, and if no run is active.
    assert.equal(
      kinds(more(back, { type: 'story.paused', storyId: 'US-002', paused: true }))[1],
      'settling',
    );
    assert.equal(kinds({ ...back, alive: false })[1], 'settling');
    assert.equal(kinds(more(back, { ...settle, settling: false }))[1], 'returned');
  });

  test('the activity of an agent is reduced to a few kinds', () => {
    const said = (activity?: string) => doingWords(doingOf(activity), english);
    assert.deepEqual(
      [
        ...['Bash npm test -- --watch', 'Bash ./run-tests.sh', 'Bash pytest -q', 'Bash ls latest'],
        ...['Bash', 'Edit src/a.ts', 'Write', 'Grep test', 'WebFetch https://example.com'],
        ...['Task look', 'I run the tests.', '', 'Edited.'],
      ].map(said),
      [
        ...['runs tests', 'runs tests', 'runs tests', 'runs commands'],
        ...['runs commands', 'edits files', 'edits files', 'reads files', 'reads the web'],
        ...['works', 'works', 'works', 'works'],
      ],
    );
    assert.equal(said(undefined), 'works');
    assert.deepEqual(minuteWords('2026-01-01T10:29:01.000Z', NOW.getTime(), english), []);
    assert.deepEqual(minuteWords('2026-01-01T10:27:00.000Z', NOW.getTime(), english), ['3 min']);
    assert.deepEqual(minuteWords('2026-01-01T09:00:00.000Z', NOW.getTime(), english), [
      '1 h 30 min',
    ]);
    assert.deepEqual(minuteWords('2027-01-01T09:00:00.000Z', NOW.getTime(), english), []);
    assert.deepEqual(minuteWords('never', NOW.getTime(), english), []);
  });

  test('the status bar shows their number; a single one is shown as without lanes', () => {
    assert.deepEqual(status(living('lanes', BOTH)), {
      ...{
        icon: 'sync~spin',
        text: 'Ralph 2 at work · 0/2',
        heard: 'Ralph, 2 at work, 0 of 2 done',
      },
      ...{ urgency: 'none', causes: [] },
    });
    assert.equal(status(living('lanes', QUEUED))?.text, 'Ralph 1 at work · 0/2 · 1 landing');
    const alone = living('lanes', { type: 'iteration.started', iteration: 3 });
    assert.equal(status(alone)?.text, 'Ralph US-002 1/2');
  });

  test('a run waits for a limit only if all of its agents do', () => {
    assert.equal(status(limited(1))?.text, 'Ralph 1 at work · 0/2 · 1 waiting for the limit');
    assert.equal(runStanding(limited(1)).waiting, undefined);
    assert.equal(status(limited(1, 2))?.text, 'Ralph waits 1 h 30 min · 0/2');
    assert.equal(snapshot(limited(1)).run?.status, 'Running');
    const here = { allDone: false, isTrusted: true, folders: 1 };
    assert.deepEqual(fittingActions(limited(1), here).slice(0, 3), [
      ...['tryNow', 'pause', 'stopAfterIteration'],
    ]);
    // What is offered has an effect.
    assert.equal(canResume(limited(1).state), true);
    assert.equal(canResume(living('lanes', BOTH).state), false);
  });

  test('a run whose stories or lanes are all paused names them, and offers to continue one', () => {
    const here = { allDone: false, isTrusted: true, folders: 1 };
    const offered = (run: RecordedRun) => [
      fittingActions(run, here)[0],
      snapshot(run).run?.actions[0]?.action,
    ];
    const pause = { type: 'pause.started', reason: 'person' } as const;
    const held = more(living('lanes', BACK), {
      ...{ type: 'story.paused', storyId: 'US-002', paused: true },
    });
    const stories = more(held, { ...pause, stories: ['US-002'] });
    assert.deepEqual(offered(stories), ['continueStory', 'continueStory']);
    assert.equal(
      snapshot(stories).run?.sentence,
      'Paused, and no other story is ready: US-002. Continue one of them, and the run continues.',
    );
    const settled = more(living('lanes', BACK), {
      ...{ type: 'story.settling', storyId: 'US-002', settling: true },
    });
    const settling = more(settled, { ...pause, stories: ['US-002'], settling: ['US-002'] });
    assert.equal(
      snapshot(settling).run?.sentence,
      'You settle the conflict of US-002. Land it or give it back, and the run continues.',
    );
    const paused = settling.events.at(-1);
    assert.ok(paused?.type === 'pause.started');
    assert.deepEqual(
      new Transcript(english).describe(paused).map(({ text }) => text),
      ['[Ralph Fresh] You settle the conflict of US-002. Land it with: ralph-fresh land US-002'],
    );
    const lanes = more(living('lanes', BACK), { ...pause, lanes: [1, 2] });
    assert.deepEqual(offered(lanes), ['continueLane', 'continueLane']);
    assert.match(snapshot(lanes).run?.sentence ?? '', /^All lanes are paused: 1, 2\. Continue one/);
    const whole = more(living('lanes', BACK), pause);
    assert.deepEqual(offered(whole), ['resume', 'resumeRun']);
  });

  test('the page has a row for each lane, and announces beginnings and ends', () => {
    const { announcements, run } = snapshot(living('lanes', QUEUED));
    assert.equal(run?.now?.words, '1 at work · 1 landing');
    assert.deepEqual(
      run.lanes?.lanes.map(({ name, now }) => [name, now?.story?.id, now?.words]),
      [
        // Its work has left the lane.
        ['Lane 1', undefined, 'free'],
        ['Lane 2', 'US-002', 'the agent works'],
      ],
    );
    assert.deepEqual(
      run.lanes.queue.map(({ story, words }) => [story?.id, words]),
      [['US-001', 'is next to land']],
    );
    assert.deepEqual(announcements, [
      'Iteration 1 of 20: US-001 Story number 1',
      'Iteration 2 of 20: US-002 Story number 2',
      '2 agents at once.',
      'Running.',
    ]);
    assert.deepEqual(
      run.actions.map(({ label }) => label),
      ['Pause After Iteration', 'Stop After Iteration', 'Stop', 'Skip a Story…', 'Show Terminal'],
    );
    const after = snapshot(living('lanes', ASKED));
    assert.deepEqual(after.announcements, [
      'Iteration 1, US-001: Story done.',
      'Iteration 2 of 20: US-002 Story number 2',
      '2 agents at once.',
      'Running.',
    ]);
    const said = run.activity.filter(({ text }) => text.startsWith('I begin'));
    assert.deepEqual(
      said.map(({ storyId, text }) => [storyId, text]),
      [
        ['US-001', 'I begin US-001.'],
        ['US-002', 'I begin US-002.'],
      ],
    );
  });

  test('the list of iterations shows everything running and everything that did not land', () => {
    const words = (run: RecordedRun) =>
      iterationRows(run.events, run).map(row => `${row.number} ${rowWord(row, english)}`);
    assert.deepEqual(words(living('lanes', BOTH)), ['1 running', '2 running']);
    assert.deepEqual(words(living('lanes', QUEUED)), ['1 landing', '2 running']);
    assert.deepEqual(words(living('lanes', RETURNED)), ['1 story done', '2 landing']);
    assert.deepEqual(words(over('lanes')), ['1 story done', '2 did not land', '3 story done']);
    assert.deepEqual(words(over('lanes', BOTH)), ['1 interrupted', '2 interrupted']);
  });

  test('the Iterations view shows running work first, then the landing queue, then the past', () => {
    const nodes = new IterationNodes('/folder', 'r1', english);
    const groups = (until: EventMatch) => {
      const { events } = living('lanes', until);
      const { groups: shown } = nodes.grouped(nodes.update(events, true).nodes);
      return shown.map(({ children, group }) => [group, ...children.map(({ row }) => row.number)]);
    };
    assert.deepEqual(groups(BOTH), [['running', 1, 2]]);
    assert.deepEqual(groups(QUEUED), [
      ['running', 2],
      ['queue', 1],
    ]);
    assert.deepEqual(groups({ type: 'landing.queued', iteration: 2 }), [
      ['queue', 2],
      ['finished', 1],
    ]);
    assert.deepEqual(groups({ type: 'iteration.started', iteration: 3 }), [
      ['running', 3],
      ['finished', 2, 1],
    ]);
  });

  test('a queued line is redrawn when its text changes, not for each change of the queue', () => {
    const { events } = living('lanes', QUEUED);
    const queued = events.at(-1);
    assert.ok(queued?.type === 'landing.queued');
    const nodes = new IterationNodes('/folder', 'r1', english);
    nodes.update(events, true);
    const longer = [...events, { ...queued, seq: queued.seq + 1, iteration: 2 }];
    const { changed, nodes: shown } = nodes.update(longer, true);
    assert.deepEqual(
      changed.map(({ row }) => row.number),
      [2],
    );
    assert.deepEqual(
      shown.map(({ queued: facts }) => facts?.words),
      ['waits for US-001', 'is next to land'],
    );
  });

  test('a landing shows its changes until it lands, and keeps them if it is returned', () => {
    const landing = (until: EventMatch) =>
      iterationRows(recorded('lanes', until), { alive: true }).map(row => row.landing);
    const [queued] = landing(QUEUED);
    assert.ok(queued?.commit !== undefined && queued.onto !== undefined);
    assert.deepEqual(landing({ type: 'landing.landed', iteration: 1 })[0], undefined);
    const [, returned] = landing(OVER);
    assert.ok(returned?.commit !== undefined);
    const candidate = recorded('lanes').find(({ type }) => type === 'landing.candidate');
    const [first] = landing({ type: 'landing.candidate', iteration: 1 });
    assert.equal(candidate?.type === 'landing.candidate' && candidate.commit, first?.commit);
  });

  test('rows are sorted by number, whichever began first', () => {
    const later = recorded('lanes', BOTH).map(event =>
      'iteration' in event && typeof event.iteration === 'number'
        ? { ...event, iteration: 3 - event.iteration }
        : event,
    );
    assert.deepEqual(
      iterationRows(later, { alive: true }).map(({ number }) => number),
      [1, 2],
    );
  });

  test('the charts follow the order of ends, not the numbers', () => {
    // The second one ends first.
    const events = recorded('lanes', RETURNED).flatMap(event =>
      event.type === 'iteration.ended' ? { ...event, iteration: 2 } : event,
    );
    const { charts } = snapshot(watched(events, true)).run ?? {};
    assert.deepEqual(
      charts?.points.map(({ label, left }) => [label, left]),
      [
        ['0', 2],
        ['2', 1],
      ],
    );
    assert.equal(charts.stories?.words, '2 stories left at the start, 1 after 1 iteration.');
    // The work of the other one has come back, and its iteration has not ended.
    assert.equal(charts.sum?.words, '$0.50 spent; $0.25 more in iterations that have not ended');
  });

  test('a killed loop reports how many agents were working', () => {
    assert.equal(
      snapshot(over('lanes', BOTH)).run?.sentence,
      'The loop was killed while 2 stories were at work. Start a run to continue from here.',
    );
  });

  test('an unnamed story is resolved only if a single one is running', () => {
    const standing = runStanding(living('lanes', BOTH));
    assert.deepEqual([standing.storyIds, standing.storyId], [['US-001', 'US-002'], undefined]);
    assert.equal(runStanding(living('lanes', ASKED)).storyId, 'US-002');
  });
});

describe('the question of one story', () => {
  test('is shown while the others work, with less urgency than one the run waits for', () => {
    const run = living('lanesAsk', ASKED);
    assert.deepEqual(kinds(run), ['needsYou', ['running', 2]]);
    assert.deepEqual(alertsOf(run), [
      {
        ...{ kind: 'question', cause: 'question 1', iteration: 1, message: 'Blue or green?' },
        ...{ storyId: 'US-001', ended: false, othersWork: true },
      },
    ]);
    const words = status(run);
    assert.deepEqual(
      [words?.icon, words?.text, words?.urgency],
      ['bell-dot', 'Ralph US-001 asks you · 1 at work · 0/2', 'warning'],
    );
    const shown = snapshot(run).run;
    assert.equal(shown?.status, 'Running, and needs you');
    assert.equal(shown.sentence, 'US-001 waits for your answer. The other stories continue.');
    assert.deepEqual([shown.quote, shown.question?.id], ['Blue or green?', 'r1/1']);
  });

  test('ends the run if nothing else is left, and is not alerted twice', () => {
    const [before] = alertsOf(living('lanesAsk', ASKED));
    const [after] = alertsOf(over('lanesAsk'));
    assert.equal(after?.kind === 'question' && after.ended, true);
    assert.equal(after?.cause, before?.cause);
    assert.equal(before && isPast(before, over('lanesAsk'), 'r1'), false);
  });

  test('is no longer open when the run is complete, although nobody has answered it', () => {
    const [alert] = alertsOf(living('lanesAskedLast', ASKED));
    assert.ok(alert?.kind === 'question');
    const run = over('lanesAskedLast');
    assert.deepEqual(
      alertsOf(run).map(({ kind }) => kind),
      ['ended'],
    );
    // VS Code shows the first alert until somebody closes it.
    assert.equal(isPast(alert, run, 'r1'), true);
    assert.equal(openQuestion(run, { runId: 'r1', iteration: 1 }), undefined);
    assert.equal(runStanding(run).question, undefined);
    const shown = snapshot(run).run;
    assert.deepEqual(
      [shown?.status, shown?.question, shown?.quote],
      ['Complete', undefined, undefined],
    );
  });

  test('can be one of several, each alerted and answered separately', () => {
    const asks = (iteration: number, seq: number) => ({
      ...{ seq, at: NOW.toISOString(), type: 'promise.seen' as const, iteration },
      ...{ signal: 'needsHuman' as const, message: `Question ${iteration}`, accepted: true },
    });
    const events = recorded('lanes', BOTH);
    const run = watched([...events, asks(1, 100), asks(2, 101)], true);
    const alerts = alertsOf(run);
    assert.deepEqual(
      alerts.map(alert => alert.kind === 'question' && alert.storyId),
      ['US-001', 'US-002'],
    );
    assert.ok(alerts.every(alert => !isPast(alert, run, 'r1')));
    // An answer belongs to one question of one run.
    const openOf = (runId: string, iteration: number) =>
      openQuestion(run, { runId, iteration })?.storyId;
    assert.deepEqual(
      [openOf('r1', 2), openOf('r1', 3), openOf('r2', 2)],
      ['US-002', undefined, undefined],
    );
    assert.deepEqual(askedIn(snapshot(run).run?.question?.id ?? ''), { runId: 'r1', iteration: 1 });
    // Who has seen the first one has not seen the second one.
    const words = status(run);
    assert.deepEqual(words?.causes, ['r1 question 1', 'r1 question 2']);
    assert.match(words.text, /^Ralph has 2 questions · /);
    // The field in which somebody may be writing stays that of the first.
    assert.equal(snapshot(run).run?.quote, 'Question 1');
    assert.match(snapshot(run).run?.question?.help ?? '', /^Question 1 of 2; the next one follows/);
    assert.deepEqual(eventsOfRequest({ type: 'answer', text: 'A', storyId: 'US-001' }, run.state), [
      { type: 'question.answered', question: 'Question 1', answer: 'A', storyId: 'US-001' },
    ]);
  });
});

describe('a branch that is held back', () => {
  test('is reported once with the blocking files', () => {
    const run = living('lanesHeld', HELD);
    assert.deepEqual(alertsOf(run), [
      { kind: 'held', cause: 'held localChanges shared.txt', reason: 'localChanges' },
    ]);
    assert.equal(
      snapshot(run).run?.sentence,
      'main follows as soon as these files are committed, stashed or moved away: shared.txt',
    );
    const [alert] = alertsOf(run);
    assert.ok(alert);
    assert.equal(isPast(alert, run, 'r1'), false);
    const followed = [
      ...run.events,
      { seq: 100, at: NOW.toISOString(), type: 'target.followed' as const, branch: 'main' },
    ];
    assert.equal(isPast(alert, watched(followed, true), 'r1'), true);
  });

  test('is reported after the end with the next step', () => {
    const [alert] = alertsOf(over('lanesHeld'));
    assert.equal(alert?.kind === 'ended' && alert.lacks, 'branch');
    assert.equal(snapshot(over('lanesHeld')).run?.glyph, 'needsYou');
    assert.match(
      snapshot(over('lanesHeld')).run?.sentence ?? '',
      /^All stories are done, after 1 iteration\. When the run ended, main did not have everything that has landed\. .*git merge --ff-only --no-overwrite-ignore --autostash refs\/ralph-fresh\/landed\//,
    );
    assert.equal(
      snapshot(over('lanes')).run?.sentence,
      'All stories are done, after 3 iterations.',
    );
  });
});

test('the page names uncommitted changes after every end, once', () => {
  const uncommitted = { files: ['a.txt'], storyIds: ['US-001'] };
  for (const name of ['lanes', 'stopped', 'budget', 'maxIterations', 'stuck', 'failed'] as const) {
    const run = over(name);
    const shown = snapshot({ ...run, state: { ...run.state, uncommitted } }).run;
    assert.equal(shown?.sentence?.match(/a\.txt/g)?.length, 1, name);
    assert.equal(shown?.status === 'Complete, but not committed', name === 'lanes');
  }
});

test('the terminal puts the story before a line, outside its style', () => {
  const screen = new TerminalScreen({ style: 'dim', text: '…' });
  assert.equal(
    screen.add([{ style: 'tool', text: 'US-001 │ ● Edit(a.js)' }]),
    '\x1b[90mUS-001 │ \x1b[0m\x1b[36m● \x1b[0m\x1b[1mEdit\x1b[0m(a.js)\x1b[0m\r\n',
  );
});
