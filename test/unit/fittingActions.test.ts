import assert from 'node:assert/strict';
import { test } from 'node:test';
import { INITIAL_RUN_STATE } from '../../src/orchestrator/journal/runState.ts';
import { fittingActions, type RunAction } from '../../src/views/run/fittingActions.ts';
import { living, over } from '../support/recordedJournals.ts';

const here = { allDone: false, isTrusted: true, folders: 1 };
const none = { alive: false, state: INITIAL_RUN_STATE };

const cases: readonly [string, readonly RunAction[], readonly RunAction[]][] = [
  [
    'a run at work',
    fittingActions(living('stopped', { type: 'agent.init' }), here),
    ['pause', 'stopAfterIteration', 'stop', 'skip', 'hint', 'progress', 'terminal', 'stories'],
  ],
  [
    'a question that the run waits for',
    fittingActions(living('questionWaits', { type: 'pause.started' }), here),
    ['answer', 'resume', 'hint', 'skip', 'stop', 'progress', 'terminal', 'stories'],
  ],
  [
    'a usage limit',
    fittingActions(living('limitWaited', { type: 'limit.waiting' }), here),
    ['tryNow', 'stop', 'progress', 'terminal', 'stories'],
  ],
  [
    'a stop that was asked for',
    fittingActions(living('stopped', { type: 'stop.requested' }), here),
    ['stop', 'progress', 'terminal', 'stories'],
  ],
  [
    'a question that ended the run',
    fittingActions(over('question'), here),
    ['answer', 'continue', 'progress', 'terminal', 'stories'],
  ],
  [
    'the work is done',
    fittingActions(over('severalStories'), {
      ...here,
      allDone: true,
    }),
    ['review', 'progress', 'terminal', 'stories'],
  ],
  [
    'the work was done by a person, and nothing is there to be reviewed',
    fittingActions(over('ticked'), { ...here, allDone: true }),
    ['progress', 'terminal', 'stories'],
  ],
  [
    'a budget that is used up',
    fittingActions(over('budget'), here),
    ['start', 'changeLimit', 'review', 'progress', 'terminal', 'stories'],
  ],
  [
    'iterations that are used up, though the last of them has finished the work',
    fittingActions(over('timeLimit'), { ...here, allDone: true }),
    ['progress', 'terminal', 'stories'],
  ],
  [
    'a killed loop',
    fittingActions(over('question', { type: 'agent.init' }), here),
    ['continue', 'progress', 'terminal', 'stories'],
  ],
  [
    'a pause that was asked for',
    fittingActions(living('steered', { type: 'pause.requested' }), here),
    ['dontPause', 'stopAfterIteration', 'stop', 'skip', 'hint', 'progress', 'terminal', 'stories'],
  ],
  ['nothing yet', fittingActions(none, here), ['start', 'progress', 'stories']],
  [
    'one story after the other',
    fittingActions(none, { ...here, ready: 1 }),
    ['start', 'progress', 'stories'],
  ],
  [
    'stories for several agents',
    fittingActions(none, { ...here, ready: 2 }),
    ['start', 'startLanes', 'progress', 'stories'],
  ],
  [
    'stories for several agents, after a run that was stopped',
    fittingActions(over('stopped'), { ...here, ready: 2 }),
    ['continue', 'startLanes', 'review', 'progress', 'terminal', 'stories'],
  ],
  [
    'agents with places of their own',
    fittingActions(living('lanes', { type: 'agent.text', iteration: 2 }), { ...here, ready: 2 }),
    [
      ...(['pause', 'stopAfterIteration', 'stop', 'skip', 'hint', 'changeLanes'] as const),
      ...(['progress', 'terminal', 'stories'] as const),
    ],
  ],
  [
    'Restricted Mode looks, and can only end what runs',
    fittingActions(living('questionWaits', { type: 'pause.started' }), {
      ...here,
      isTrusted: false,
    }),
    ['trust', 'stop', 'progress', 'stories'],
  ],
  [
    'Restricted Mode offers no start',
    fittingActions(none, {
      ...here,
      isTrusted: false,
    }),
    ['trust', 'progress', 'stories'],
  ],
  [
    'several folders',
    fittingActions(none, { ...here, folders: 2 }),
    ['start', 'progress', 'stories', 'chooseFolder'],
  ],
];

for (const [name, actual, expected] of cases) {
  test(name, () => assert.deepEqual(actual, expected));
}
