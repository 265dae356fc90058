import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import { foldRun } from '../../src/orchestrator/journal/foldRun.ts';
import { iterationRows } from '../../src/orchestrator/journal/iterationRows.ts';
import {
  fromStored,
  type StoredRunState,
  toStored,
} from '../../src/orchestrator/journal/storedRunState.ts';
import { FOLD_VERSION } from '../../src/orchestrator/workspace/runCheckpoint.ts';
import { checksOf, transcriptText } from '../../src/presentation/iterationDocuments.ts';
import { storyStatus } from '../../src/presentation/storyState.ts';
import { english } from '../../src/presentation/translate.ts';
import { IterationNodes } from '../../src/views/iterations/iterationNodes.ts';
import { iterationProofs } from '../../src/views/progress/iterationProofs.ts';
import { shownPrompt } from '../../src/views/progress/promptXray.ts';
import { progressSnapshot } from '../../src/views/progress/snapshot.ts';
import { recorded, recordedNames } from '../support/recordedJournals.ts';
import { sameValue } from '../support/sameValue.ts';
import { SCENARIOS } from '../support/scenarios.ts';

const NOW = new Date('2026-01-01T11:00:00.000Z');

function snapshot(events: readonly RunEvent[], alive: boolean) {
  const run = { runId: 'r1', state: foldRun(events), alive };
  return progressSnapshot(run, events, { t: english, now: NOW, page: 0 });
}

/** The run after each of its events, as a window saw it. */
function* prefixes(name: string): Generator<readonly RunEvent[]> {
  const events = recorded(name);
  for (let end = 1; end <= events.length; end += 1) {
    yield events.slice(0, end);
  }
}

/** What the views say of a run that is over: its status, and each iteration, the oldest first. */
const SHOWN: Readonly<Record<string, readonly [string, ...(readonly [string, string?])[]]>> = {
  severalStories: ['Complete', ['Story done'], ['Story done'], ['Story done']],
  twoChecksGreen: ['Complete', ['Story done']],
  firstCheckRed: [
    'Complete',
    ['Claim refused', 'The check test -f green failed (exit code 1).'],
    ['Story done'],
  ],
  secondCheckRed: [
    'Complete',
    ['Claim refused', 'The check test -f green failed (exit code 1).'],
    ['Story done'],
  ],
  stuck: ['Stuck', ['No progress'], ['No progress'], ['No progress']],
  guard: [
    'Complete',
    ['Story done', 'The agent changed stories other than its own; the changes were reverted.'],
    ['Story done'],
  ],
  retry: ['Complete', ['Story done']],
  limit: ['Failed', ['Failed', 'Claude usage limit reached.']],
  limitWaited: ['Complete', ['Story done']],
  failed: ['No story is ready', ['Failed', 'prompt is too long'], ['Failed', 'prompt is too long']],
  review: [
    'Complete',
    ['Claim refused', 'The reviewer: There is no test. Not met: It works (US-001.txt)'],
    ['Story done'],
  ],
  checksAndReview: [
    'Complete',
    ['Claim refused', 'The reviewer: There is no test. Not met: It works (US-001.txt)'],
    ['Story done'],
  ],
  question: ['Needs you', ['Needs you', 'Blue or green?']],
  answered: ['Complete', ['Needs you', 'Blue or green?'], ['Story done']],
  skip: ['No story is ready', ['Skipped'], ['Story done']],
  stoppedInCheck: ['Stopped', ['Interrupted']],
  killedAndResumed: ['Complete', ['Story done'], ['Stopped'], ['Story done']],
  maxIterations: ['Iteration limit reached', ['Story done'], ['Story done'], ['Story done']],
  budget: ['Budget used up', ['Story done']],
  notStarted: [
    'Failed',
    [
      'Failed',
      'The program that the first line of /home/person/notes/agent names (after "#!") was not found. Correct that line; its end must not be a Windows line break.',
    ],
  ],
  stopped: ['Stopped', ['Story done'], ['Stopped']],
  stoppedAfterIteration: ['Stopped', ['Story done']],
  lastWindowClosed: ['Stopped', ['Story done']],
  freeTask: ['Complete', ['Progress'], ['Progress']],
  timeLimit: ['Iteration limit reached', ['Failed', 'The agent reached the time limit.']],
  exitCode: ['Iteration limit reached', ['Failed', 'Out of order']],
  blocked: ['No story is ready', ['Blocked', 'No key']],
  refusedPromise: [
    'Complete',
    ['No progress', 'The agent said that everything is done, but there are open stories.'],
    ['Story done'],
  ],
  reviewRetried: ['Complete', ['Story done']],
  manyObjections: [
    'Complete',
    [
      'Claim refused',
      `The reviewer: ${Array.from({ length: 19 }, (_, n) => `${n} second line`).join(' ')} 19 second…`,
    ],
    ['Story done'],
  ],
  guardTicks: [
    'Complete',
    ['Story done', 'The agent changed stories other than its own; the changes were reverted.'],
    ['Progress', 'The agent changed stories other than its own; the changes were reverted.'],
    ['Story done'],
    ['Story done'],
  ],
  checkOutput: [
    'Complete',
    ['Claim refused', 'The check sh check.sh failed (exit code 1).'],
    ['Claim refused', 'The check sh check.sh failed (exit code 1).'],
    ['Story done'],
  ],
  checkedAgain: ['Complete', ['Story done']],
  stuckAsks: [
    'No story is ready',
    ['No progress'],
    ['No progress'],
    ['No progress'],
    ['Story done'],
  ],
  stuckSkipped: ['No story is ready', ['No progress'], ['No progress'], ['Story done']],
  stuckLater: [
    'Complete',
    ['No progress'],
    ['No progress'],
    ['No progress'],
    ['Story done'],
    ['Progress'],
    ['Story done'],
  ],
  questionWaits: ['Complete', ['Needs you', 'Blue or green?'], ['Story done']],
  answeredLater: ['Stopped', ['Needs you', 'Blue or green?']],
  failedThenSkipped: ['No story is ready', ['Failed', 'prompt is too long'], ['Skipped']],
  startedLater: ['Complete', ['Story done']],
  freeTaskStuck: ['Stopped', ['No progress'], ['No progress']],
  hintsWaited: ['Complete', ['Story done'], ['Story done']],
  chosenStory: ['Complete', ['Story done']],
  putAside: ['Complete', ['Story done']],
  ticked: ['Complete', ['Needs you', 'Blue or green?']],
  steered: ['Complete', ['Story done'], ['Story done']],
  planned: ['Complete', ['Story done'], ['Story done']],
  limitKnown: ['Complete', ['Story done']],
  demo: [
    'Needs you',
    [
      'Needs you',
      'The demo agent only plays back prepared work for the Ralph Fresh sample, and this folder is another project. Choose the agent claude (--agent claude, setting ralphFresh.agent) to have the work done here.',
    ],
  ],
  replaced: ['Complete', ['Story done']],
  tools: ['Complete', ['Story done']],
  lanes: [
    'Complete',
    ['Story done'],
    ['Did not land', 'It conflicts with what has landed meanwhile: shared.txt'],
    ['Story done'],
  ],
  lanesAskedLast: ['Complete', ['Story done', 'Blue or green?'], ['Story done']],
  lanesAsk: ['Needs you', ['Needs you', 'Blue or green?'], ['Story done']],
  lanesHeld: ['Complete, but not on main', ['Story done']],
};

/** Runs that were stopped while a check ran. */
const CUT_OFF: readonly string[] = ['stoppedInCheck', 'checkedAgain'];

describe('views of recorded journals', () => {
  test('every scenario is recorded and checked here', () => {
    sameValue(recordedNames().sort(), Object.keys(SCENARIOS).sort());
    sameValue(Object.keys(SHOWN).sort(), Object.keys(SCENARIOS).sort());
  });

  for (const [name, [status, ...iterations]] of Object.entries(SHOWN)) {
    test(`${name}: how the run and each iteration ended, and why`, () => {
      const { run } = snapshot(recorded(name), false);
      assert.equal(run?.status, status);
      sameValue(
        run.timeline.iterations
          .toReversed()
          .map(({ outcome, reason }) => (reason === undefined ? [outcome] : [outcome, reason])),
        iterations,
      );
    });
  }

  test('no check of a running loop looks interrupted at any moment, unless it was', () => {
    for (const name of recordedNames()) {
      for (const events of prefixes(name)) {
        const last = events.at(-1);
        for (const [number, { checks }] of iterationProofs(events)) {
          const open = checks.filter(({ ended }) => ended === undefined);
          // The one that runs, or that the end of the run has cut off.
          assert.ok(open.length <= 1, `${name}, event ${last?.seq}, iteration ${number}`);
          assert.ok(open.length === 0 || open[0] === checks.at(-1));
        }
        const proofs = snapshot(events, last?.type !== 'run.ended').run?.timeline.iterations;
        const verdicts = proofs?.flatMap(({ proofs: some }) => some?.map(proof => proof.verdict));
        assert.ok(CUT_OFF.includes(name) || !verdicts?.includes('interrupted'), name);
      }
    }
  });

  test('each check is reported with its output when it ends', () => {
    const commands = (name: string, iteration: number) =>
      checksOf(recorded(name), iteration).map(({ command, ok }) => [command, ok]);
    sameValue(commands('twoChecksGreen', 1), [
      ['echo one', true],
      ['echo two', true],
    ]);
    sameValue(commands('firstCheckRed', 1), [['test -f green', false]]);
    sameValue(commands('secondCheckRed', 1), [
      ['echo one', true],
      ['test -f green', false],
    ]);
    sameValue(commands('stoppedInCheck', 1), [['echo one', true]]);
  });

  test('the last check of a repeatedly checked claim counts', () => {
    const events = recorded('checkedAgain');
    const checks = ['echo one', 'test -f green || sleep 60'].map(command => [command, true]);
    sameValue(
      checksOf(events, 1).map(({ command, ok }) => [command, ok]),
      checks,
    );
    sameValue(
      iterationProofs(events)
        .get(1)
        ?.checks.map(({ command, ended }) => [command, ended?.ok]),
      checks,
    );
    const [node] = new IterationNodes('/folder', 'r1', english).update(events, true).nodes;
    assert.equal(node?.checks, 2);
  });

  test('journals of 0.1, which record the ends of all checks together, show no interrupted check', () => {
    const events = recorded('twoChecksGreen');
    const ends = events.filter(({ type }) => type === 'check.ended');
    const old = events.flatMap(event =>
      event.type === 'check.ended' ? [] : event.type === 'gate.ended' ? [...ends, event] : [event],
    );
    sameValue(
      iterationProofs(old)
        .get(1)
        ?.checks.map(({ command, ended }) => [command, ended?.ok]),
      [
        ['echo one', true],
        ['echo two', true],
      ],
    );
  });

  test('page, rows, prompt and transcripts have text at every moment', () => {
    for (const name of recordedNames()) {
      for (const events of prefixes(name)) {
        for (const alive of [true, false]) {
          const { run } = snapshot(events, alive);
          assert.ok(run?.status, name);
          assert.doesNotMatch(JSON.stringify(run), /\{\d\}|undefined|NaN/, name);
          const rows = iterationRows(events, { alive });
          const running = rows.filter(({ outcome }) => outcome === 'running').length;
          assert.ok(running <= (alive ? (name.startsWith('lanes') ? 2 : 1) : 0), name);
        }
      }
      const events = recorded(name);
      const prompt = shownPrompt(events, english);
      assert.ok((prompt?.sections.length ?? 0) > 4, name);
      for (const { number } of iterationRows(events, { alive: false })) {
        const text = transcriptText(events, number, english);
        assert.match(text, new RegExp(`=== Iteration ${number}/`), name);
        assert.doesNotMatch(text, /undefined|\{\d\}/, name);
      }
    }
  });

  test('the state of the story is shown', () => {
    const stateOf = (name: string, done: boolean, id = 'US-001') => {
      const state = foldRun(recorded(name));
      return storyStatus({ id, done }, { state, alive: false }, [state])?.kind;
    };
    sameValue(
      [
        stateOf('severalStories', true),
        stateOf('twoChecksGreen', true),
        stateOf('review', true),
        stateOf('failed', false),
        stateOf('question', false),
        stateOf('skip', false),
        stateOf('stuck', false),
      ],
      ['claimed', 'verified', 'approved', 'failed', 'needsYou', 'skipped', 'stuck'],
    );
  });
});

describe('the stored state of runs', () => {
  test('is read back unchanged at every moment of a recorded run', () => {
    for (const name of recordedNames()) {
      for (const events of prefixes(name)) {
        const state = foldRun(events);
        const stored: StoredRunState = JSON.parse(JSON.stringify(toStored(state)));
        sameValue(fromStored(stored), state, name);
      }
    }
  });

  test('has a new version number if the fold of the same journals changes', () => {
    const hash = createHash('sha256');
    for (const name of Object.keys(SCENARIOS).sort()) {
      for (const events of prefixes(name)) {
        hash.update(JSON.stringify(toStored(foldRun(events))));
      }
    }
    // When the journals were recorded anew, only the second changes; when the fold has changed, raise FOLD_VERSION, too.
    sameValue([FOLD_VERSION, hash.digest('hex').slice(0, 16)], [22, '30e02d12ed4c824e']);
  });
});
