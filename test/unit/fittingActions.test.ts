import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INITIAL_RUN_STATE, type RunState } from '../../src/orchestrator/journal/runState.ts';
import { fittingActions, type RunAction } from '../../src/views/run/fittingActions.ts';

const here = { allDone: false, isTrusted: true, folders: 1 };
const living = (state: Partial<RunState>) => ({
  runId: 'r',
  alive: true,
  state: { ...INITIAL_RUN_STATE, phase: 'running' as const, ...state },
});
const ended = (state: Partial<RunState>) => ({
  runId: 'r',
  alive: false,
  state: { ...INITIAL_RUN_STATE, phase: 'ended' as const, ...state },
});
const current = {
  number: 1,
  storyId: 'US-001',
  startedAt: '',
  costUsd: 0,
  handled: new Map(),
  commits: 0,
};
const commit = { hash: 'a'.repeat(40), subject: 'feat: it', at: '', iteration: 1 };

const cases: readonly [string, readonly RunAction[], readonly RunAction[]][] = [
  [
    'a run at work',
    fittingActions(living({ running: [current] }), false, here),
    ['pause', 'stopAfterIteration', 'stop', 'skip', 'hint', 'progress', 'terminal', 'stories'],
  ],
  [
    'a question that the run waits for',
    fittingActions(
      living({ pause: { kind: 'pause', reason: 'question', storyId: 'US-001' } }),
      true,
      here,
    ),
    ['answer', 'resume', 'hint', 'skip', 'stop', 'progress', 'terminal', 'stories'],
  ],
  [
    'a usage limit',
    fittingActions(
      living({
        running: [current],
        limits: new Map([[1, { kind: 'limit', until: '', known: true, message: '' }]]),
      }),
      false,
      here,
    ),
    ['tryNow', 'stop', 'progress', 'terminal', 'stories'],
  ],
  [
    'a stop that was asked for',
    fittingActions(living({ phase: 'stopping', running: [current] }), false, here),
    ['stop', 'progress', 'terminal', 'stories'],
  ],
  [
    'a question that ended the run',
    fittingActions(ended({ outcome: 'needsHuman' }), true, here),
    ['answer', 'goOn', 'progress', 'terminal', 'stories'],
  ],
  [
    'the work is done',
    fittingActions(ended({ outcome: 'completed', commits: [commit] }), false, {
      ...here,
      allDone: true,
    }),
    ['review', 'progress', 'terminal', 'stories'],
  ],
  [
    'the work was done already, and nothing is there to be reviewed',
    fittingActions(ended({ outcome: 'completed' }), false, { ...here, allDone: true }),
    ['progress', 'terminal', 'stories'],
  ],
  [
    'a budget that is used up',
    fittingActions(ended({ outcome: 'budget', commits: [commit] }), false, here),
    ['start', 'changeLimit', 'review', 'progress', 'terminal', 'stories'],
  ],
  [
    'iterations that are used up, though the last of them has finished the work',
    fittingActions(ended({ outcome: 'maxIterations' }), false, { ...here, allDone: true }),
    ['progress', 'terminal', 'stories'],
  ],
  [
    'a killed loop',
    fittingActions({ ...living({ running: [current] }), alive: false }, false, here),
    ['goOn', 'progress', 'terminal', 'stories'],
  ],
  [
    'nothing yet',
    fittingActions({ alive: false, state: INITIAL_RUN_STATE }, false, here),
    ['start', 'progress', 'stories'],
  ],
  [
    'Restricted Mode looks, and can only end what runs',
    fittingActions(living({ running: [current] }), true, { ...here, isTrusted: false }),
    ['trust', 'stop', 'progress', 'stories'],
  ],
  [
    'Restricted Mode offers no start',
    fittingActions({ alive: false, state: INITIAL_RUN_STATE }, false, {
      ...here,
      isTrusted: false,
    }),
    ['trust', 'progress', 'stories'],
  ],
  [
    'several folders',
    fittingActions({ alive: false, state: INITIAL_RUN_STATE }, false, { ...here, folders: 2 }),
    ['start', 'progress', 'stories', 'chooseFolder'],
  ],
];

for (const [name, actual, expected] of cases) {
  test(name, () => assert.deepEqual(actual, expected));
}
