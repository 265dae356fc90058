import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Decision, decide, type Situation } from '../../src/orchestrator/policy.ts';
import {
  INITIAL_RUN_STATE,
  type RunState,
  type StoryRecord,
} from '../../src/orchestrator/run/runState.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';

function list(...stories: readonly Partial<Story>[]): Story[] {
  return stories.map((story, position) => ({
    id: `S${position + 1}`,
    title: '',
    description: '',
    criteria: [],
    done: false,
    dependsOn: [],
    position,
    line: 1,
    ...story,
  }));
}

function state(
  iteration: number,
  records: Readonly<Record<string, Partial<StoryRecord>>> = {},
): RunState {
  return {
    ...INITIAL_RUN_STATE,
    phase: 'running',
    iteration,
    storyRecords: new Map(
      Object.entries(records).map(([id, record]) => [
        id,
        { stuckFor: 0, failures: 0, iterations: 0, ...record },
      ]),
    ),
  };
}

/** Two open stories after two of ten iterations; nothing has been said. */
const usual: Situation = {
  state: state(2),
  stories: list({}, {}),
  maxIterations: 10,
  failThreshold: 3,
  stopRequested: false,
};
const freeForm: Situation = {
  state: state(2),
  maxIterations: 10,
  failThreshold: 3,
  stopRequested: false,
};

/** A decision in one word: the iteration and its story, or the end and its detail. */
function inShort(decision: Decision): string {
  return decision.kind === 'iterate'
    ? `${decision.iteration} ${decision.story?.id ?? '-'}`
    : [decision.outcome, ...(decision.detail === undefined ? [] : [decision.detail])].join(': ');
}

const complete = { kind: 'complete' } as const;
const asks = { kind: 'needsHuman', message: 'Which?' } as const;
const fatal = { kind: 'fatal', message: 'no credit' } as const;
const done = list({ done: true }, { done: true });

const rules: readonly (readonly [string, Situation, string])[] = [
  ['the first ready story', usual, '3 S1'],
  ['the first iteration', { ...usual, state: state(0) }, '1 S1'],
  ['a story that is done is passed over', { ...usual, stories: list({ done: true }, {}) }, '3 S2'],
  ['lower numbers first', { ...usual, stories: list({ priority: 2 }, { priority: 1 }) }, '3 S2'],
  [
    'what it depends on comes first',
    { ...usual, stories: list({ dependsOn: ['S2'] }, {}) },
    '3 S2',
  ],

  ['all stories done', { ...usual, stories: done }, 'completed'],
  [
    'all done before the first iteration',
    { ...usual, state: state(0), stories: done },
    'completed',
  ],
  ['done comes before a stop', { ...usual, stories: done, stopRequested: true }, 'completed'],
  ['done comes before a question', { ...usual, stories: done, verdict: asks }, 'completed'],
  ['done comes before an error', { ...usual, stories: done, verdict: fatal }, 'completed'],
  ['done comes before the maximum', { ...usual, stories: done, state: state(10) }, 'completed'],
  ['a promise that the files contradict', { ...usual, verdict: complete }, '3 S1'],

  ['a stop', { ...usual, stopRequested: true }, 'stopped'],
  [
    'a stop before the first iteration',
    { ...usual, state: state(0), stopRequested: true },
    'stopped',
  ],
  ['a stop comes before an error', { ...usual, stopRequested: true, verdict: fatal }, 'stopped'],
  ['a stop comes before a question', { ...usual, stopRequested: true, verdict: asks }, 'stopped'],
  [
    'a stop comes before the maximum',
    { ...usual, stopRequested: true, state: state(10) },
    'stopped',
  ],

  ['an error no try can mend', { ...usual, verdict: fatal }, 'error: no credit'],
  ['a question', { ...usual, verdict: asks }, 'needsHuman: Which?'],
  [
    'a question comes before the maximum',
    { ...usual, verdict: asks, state: state(10) },
    'needsHuman: Which?',
  ],

  ['the last iteration', { ...usual, state: state(9) }, '10 S1'],
  ['the maximum', { ...usual, state: state(10) }, 'maxIterations'],
  ['beyond the maximum', { ...usual, state: state(11) }, 'maxIterations'],

  [
    'failed less often than the threshold',
    { ...usual, state: state(2, { S1: { failures: 2 } }) },
    '3 S1',
  ],
  [
    'failed as often as the threshold',
    { ...usual, state: state(2, { S1: { failures: 3 } }) },
    '3 S2',
  ],
  ['a blocked story', { ...usual, state: state(2, { S1: { blocked: 'x' } }) }, '3 S2'],
  ['blocked without words', { ...usual, state: state(2, { S1: { blocked: '' } }) }, '3 S2'],
  [
    'a stuck story gets its warning, not a skip',
    { ...usual, state: state(2, { S1: { stuckFor: 9 } }) },
    '3 S1',
  ],
  [
    'all that is left has failed or is blocked',
    { ...usual, state: state(2, { S1: { failures: 3 }, S2: { blocked: 'x' } }) },
    'noReadyStory: S1, S2',
  ],
  [
    'what waits for a blocked story does not run',
    {
      ...usual,
      stories: list({}, { dependsOn: ['S1'] }),
      state: state(2, { S1: { blocked: 'x' } }),
    },
    'noReadyStory: S1, S2',
  ],
  [
    'a circle',
    { ...usual, stories: list({ dependsOn: ['S2'] }, { dependsOn: ['S1'] }, { done: true }) },
    'noReadyStory: S1, S2',
  ],
  ['no story left in the file', { ...usual, stories: [] }, 'noReadyStory: '],
  [
    'no ready story comes before the maximum',
    { ...usual, state: state(10, { S1: { failures: 3 }, S2: { failures: 3 } }) },
    'noReadyStory: S1, S2',
  ],

  ['free form: the next step', freeForm, '3 -'],
  ['free form: the promise', { ...freeForm, verdict: complete }, 'completed'],
  [
    'free form: the promise comes before a stop',
    { ...freeForm, verdict: complete, stopRequested: true },
    'completed',
  ],
  ['free form: a stop', { ...freeForm, stopRequested: true }, 'stopped'],
  ['free form: a question', { ...freeForm, verdict: asks }, 'needsHuman: Which?'],
  ['free form: an error', { ...freeForm, verdict: fatal }, 'error: no credit'],
  ['free form: the maximum', { ...freeForm, state: state(10) }, 'maxIterations'],
];

describe('decide', () => {
  for (const [name, situation, expected] of rules) {
    test(name, () => assert.equal(inShort(decide(situation)), expected));
  }
});
