import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { englishOf } from '../../src/base/say.ts';
import { INITIAL_RUN_STATE, type RunState } from '../../src/orchestrator/journal/runState.ts';
import type { StoryRecord } from '../../src/orchestrator/journal/storyRecord.ts';
import {
  type Decision,
  decide,
  type Situation,
  type Start,
} from '../../src/orchestrator/loop/policy.ts';
import { isStillToDo } from '../../src/orchestrator/run/storiesLeft.ts';
import type { RunConfig } from '../../src/orchestrator/settings/config.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { storyList } from '../support/storyList.ts';

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
        { stuckFor: 0, failures: 0, iterations: 0, costUsd: 0, ...record },
      ]),
    ),
  };
}

const config: Situation['config'] = {
  maxIterations: 10,
  failThreshold: 3,
  stuckThreshold: 3,
  onStuck: 'warn',
  onQuestion: 'end',
};

/** Two open stories after two of ten iterations; nothing has been said. */
const usual: Situation = {
  state: state(2),
  stories: storyList({}, {}),
  config,
  stopRequested: false,
};
const freeForm: Situation = { state: state(2), config, stopRequested: false };
const question = { message: 'Which?', iteration: 2 };
const storyNotes = new Map([['', { question }]]);
const asking: RunState = { ...state(2), storyNotes };
/** S1 was warned at three, and brought nothing again. */
const stuck: Situation = { ...usual, state: state(2, { S1: { stuckFor: 4 } }) };
const stuckWith = (onStuck: RunConfig['onStuck'], of: Situation = stuck): Situation => ({
  ...of,
  config: { ...config, onStuck },
});

/** A decision in one word: the iteration and its story, or the end or pause and its detail. */
function inShort(decision: Decision): string {
  switch (decision.kind) {
    case 'wait':
      return 'wait';
    case 'start':
      return decision.starts
        .map(({ iteration, story }) => `${iteration} ${story?.id ?? '-'}`)
        .join(', ');
    case 'skip':
      return `skip ${decision.story.id}`;
    case 'later':
      return `later ${decision.story.id}`;
    case 'pause':
      return ['pause', decision.reason, decision.storyId, decision.detail]
        .filter(part => part !== undefined)
        .join(' ');
    case 'end':
      return [
        decision.outcome,
        ...(decision.detail === undefined ? [] : [englishOf(decision.detail)]),
      ].join(': ');
  }
}

const complete = { kind: 'complete' } as const;
const fatal = { kind: 'fatal', message: 'no credit' } as const;
const done = storyList({ done: true }, { done: true });

const rules: readonly (readonly [string, Situation, string])[] = [
  ['the first ready story', usual, '3 S1'],
  ['the first iteration', { ...usual, state: state(0) }, '1 S1'],
  [
    'a story that is done is passed over',
    { ...usual, stories: storyList({ done: true }, {}) },
    '3 S2',
  ],
  [
    'lower numbers first',
    { ...usual, stories: storyList({ priority: 2 }, { priority: 1 }) },
    '3 S2',
  ],
  [
    'what it depends on comes first',
    { ...usual, stories: storyList({ dependsOn: ['S2'] }, {}) },
    '3 S2',
  ],

  ['all stories done', { ...usual, stories: done }, 'completed'],
  [
    'all done before the first iteration',
    { ...usual, state: state(0), stories: done },
    'completed',
  ],
  ['done comes before a stop', { ...usual, stories: done, stopRequested: true }, 'completed'],
  ['done comes before a question', { ...usual, stories: done, state: asking }, 'completed'],
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
  ['a stop comes before a question', { ...usual, stopRequested: true, state: asking }, 'stopped'],
  [
    'a stop comes before the maximum',
    { ...usual, stopRequested: true, state: state(10) },
    'stopped',
  ],

  ['an error no try can fix', { ...usual, verdict: fatal }, 'error: no credit'],
  ['a question', { ...usual, state: asking }, 'needsHuman: Which?'],
  [
    'a question to somebody who is there',
    { ...usual, state: asking, config: { ...config, onQuestion: 'wait' } },
    'pause question Which?',
  ],
  ['a pause', { ...usual, state: { ...state(2), pauseRequested: true } }, 'pause person'],
  [
    'a stop comes before a pause',
    { ...usual, stopRequested: true, state: { ...state(2), pauseRequested: true } },
    'stopped',
  ],
  [
    'an iteration that a stop cut off proves nothing',
    {
      ...usual,
      stories: done,
      stopRequested: true,
      state: {
        ...state(2),
        running: [{ number: 2, startedAt: '', commits: 0, costUsd: 0, handled: new Map() }],
      },
    },
    'stopped',
  ],

  ['a budget', { ...usual, config: { ...config, budgetUsd: 2 } }, '3 S1'],
  [
    'a budget that is used up',
    { ...usual, config: { ...config, budgetUsd: 2 }, state: { ...state(2), costUsd: 2 } },
    'budget',
  ],

  [
    'another mode',
    { ...usual, otherMode: 'ralph' },
    'error: The mode "ralph" of oh-my-claudecode has become active in this folder.',
  ],

  [
    'at the threshold the agent is warned',
    stuckWith('stop', { ...usual, state: state(2, { S1: { stuckFor: 3 } }) }),
    '3 S1',
  ],
  ['stuck: continue', stuckWith('warn'), '3 S1'],
  ['stuck: skip', stuckWith('skip'), 'skip S1'],
  ['stuck: ask', stuckWith('ask'), 'pause stuck S1 4'],
  ['stuck: stop', stuckWith('stop'), 'stuck: S1'],
  [
    'a claim that was refused is not done, whatever its file says',
    { ...usual, stories: done, state: state(2, { S1: { refused: true } }) },
    '3 S1',
  ],
  [
    'nothing left for the review of an iteration that is open',
    {
      ...usual,
      stories: done,
      verdict: { kind: 'budget' },
      state: {
        ...state(2),
        running: [{ number: 2, startedAt: '', commits: 0, costUsd: 0, handled: new Map() }],
      },
    },
    'budget',
  ],
  ['chosen stories alone', { ...usual, state: { ...state(0), onlyStories: ['S2'] } }, '1 S2'],
  [
    'chosen stories that are done end the run, though others are open',
    {
      ...usual,
      stories: storyList({}, { done: true }),
      state: { ...state(1), onlyStories: ['S2'] },
    },
    'completed',
  ],
  [
    'a chosen story that is gone from the file',
    { ...usual, state: { ...state(1), onlyStories: ['S9'] } },
    'noReadyStory: S9',
  ],
  [
    'a chosen story that is left alone',
    { ...usual, state: { ...state(1, { S2: { skipped: 'person' } }), onlyStories: ['S2'] } },
    'noReadyStory: S2',
  ],
  ['a skipped story', { ...usual, state: state(2, { S1: { skipped: 'person' } }) }, '3 S2'],
  [
    'without stories nothing else is left to skip to',
    stuckWith('skip', { ...freeForm, state: state(2, { '': { stuckFor: 4 } }) }),
    'stuck: 4',
  ],
  [
    'without stories failures end the run',
    {
      ...freeForm,
      state: {
        ...state(2, { '': { failures: 3 } }),
        storyNotes: new Map([
          ['', { lastError: { iteration: 2, kind: 'api', message: 'no answer' } }],
        ]),
      },
    },
    'error: no answer',
  ],
  [
    'a question comes before the maximum',
    { ...usual, state: { ...state(10), storyNotes } },
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
    'a stuck story gets two more iterations after its warning',
    { ...usual, state: state(2, { S1: { stuckFor: 4 } }) },
    '3 S1',
  ],
  [
    'then the others have their turn first',
    { ...usual, state: state(2, { S1: { stuckFor: 5 } }) },
    'later S1',
  ],
  [
    'once that is said, the next ready story has its turn',
    { ...usual, state: state(2, { S1: { stuckFor: 5, later: { since: 9, stuckFor: 5 } } }) },
    '3 S2',
  ],
  [
    'a stuck story has its turn again when the others are done',
    {
      ...usual,
      stories: storyList({}, { done: true }),
      state: state(2, { S1: { stuckFor: 5, later: { since: 9, stuckFor: 5 } } }),
    },
    '3 S1',
  ],
  [
    'a stuck story that all others wait for keeps its turn',
    {
      ...usual,
      stories: storyList({}, { dependsOn: ['S1'] }),
      state: state(2, { S1: { stuckFor: 20 } }),
    },
    '3 S1',
  ],
  [
    'a stuck story next to stories that are left alone keeps its turn',
    { ...usual, state: state(2, { S1: { stuckFor: 20 }, S2: { skipped: 'person' } }) },
    '3 S1',
  ],
  [
    'a stuck story that alone was chosen keeps its turn',
    { ...usual, state: { ...state(2, { S1: { stuckFor: 20 } }), onlyStories: ['S1'] } },
    '3 S1',
  ],
  [
    'of several stuck stories the one that waits longest',
    {
      ...usual,
      state: state(2, {
        S1: { stuckFor: 5, later: { since: 30, stuckFor: 5 } },
        S2: { stuckFor: 5, later: { since: 20, stuckFor: 5 } },
      }),
    },
    '3 S2',
  ],
  [
    'it gets two iterations each time',
    {
      ...usual,
      state: state(2, {
        S1: { stuckFor: 5, later: { since: 30, stuckFor: 5 } },
        S2: { stuckFor: 7, later: { since: 20, stuckFor: 5 } },
      }),
    },
    'later S2',
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
      stories: storyList({}, { dependsOn: ['S1'] }),
      state: state(2, { S1: { blocked: 'x' } }),
    },
    'noReadyStory: S1, S2',
  ],
  [
    'a circle',
    { ...usual, stories: storyList({ dependsOn: ['S2'] }, { dependsOn: ['S1'] }, { done: true }) },
    'noReadyStory: S1, S2',
  ],
  [
    'what has the same id by mistake is named once',
    {
      ...usual,
      stories: [...storyList({}), ...storyList({})],
      state: state(2, { S1: { blocked: 'x' } }),
    },
    'noReadyStory: S1',
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
  ['free form: a question', { ...freeForm, state: asking }, 'needsHuman: Which?'],
  ['free form: an error', { ...freeForm, verdict: fatal }, 'error: no credit'],
  ['free form: the maximum', { ...freeForm, state: state(10) }, 'maxIterations'],
];

describe('decide', () => {
  for (const [name, situation, expected] of rules) {
    test(name, () => assert.equal(inShort(decide(situation)), expected));
  }
});

/** Two lanes, of which one is taken by the story; its tick is in the file already where it says so. */
function atWork(stories: readonly Story[], ...ids: readonly string[]): Situation {
  const working = stories
    .filter(({ id }) => ids.includes(id))
    .map((story, at) => ({ iteration: at + 1, story }));
  const running = working.map(({ iteration, story }) => ({
    ...{ number: iteration, storyId: story.id, startedAt: '', commits: 0, costUsd: 0 },
    handled: new Map<string, boolean>(),
  }));
  return {
    ...usual,
    stories,
    working,
    freeLanes: 2 - working.length,
    state: { ...state(working.length), lanes: 2, isolated: true, running },
  };
}
const three = storyList({}, {}, {});
const laneState = (situation: Situation, change: Partial<RunState>): Situation => ({
  ...situation,
  state: { ...situation.state, ...change },
});

const laneRules: readonly (readonly [string, Situation, string])[] = [
  ['as many as there are lanes', atWork(three), '1 S1, 2 S2'],
  ['not more than there are stories', atWork(storyList({})), '1 S1'],
  ['never the same story twice', atWork(three, 'S1'), '2 S2'],
  [
    'an agent whose place is being prepared has its number already',
    laneState(atWork(three, 'S1'), { iteration: 0, running: [] }),
    '2 S2',
  ],
  ['no lane is free', atWork(three, 'S1', 'S2'), 'wait'],
  [
    'an agent that is about to start has its number already',
    laneState(atWork(three, 'S1'), { iteration: 0, running: [] }),
    '2 S2',
  ],
  [
    'an agent that is about to start counts for the maximum',
    laneState(
      { ...atWork(three, 'S1'), config: { ...config, maxIterations: 1 } },
      { iteration: 0, running: [] },
    ),
    'wait',
  ],
  ['none is left except the one at work', atWork(storyList({}), 'S1'), 'wait'],
  [
    'a story waits for the one that it depends on',
    atWork(storyList({}, { dependsOn: ['S1'] }, {})),
    '1 S1, 2 S3',
  ],
  ['also while that one is at work', atWork(storyList({}, { dependsOn: ['S1'] }), 'S1'), 'wait'],
  [
    'also when its agent has ticked it, and nobody has checked that yet',
    atWork(storyList({ done: true }, { dependsOn: ['S1'] }), 'S1'),
    'wait',
  ],
  [
    'the last tick ends the run only when it is checked',
    atWork(storyList({ done: true }, { done: true }), 'S1'),
    'wait',
  ],
  [
    'a question of one story does not keep the others from continuing',
    laneState(atWork(three, 'S2'), {
      storyNotes: new Map([
        ['S1', { question: { iteration: 1, message: 'Which?', storyId: 'S1' } }],
      ]),
    }),
    '2 S3',
  ],
  [
    'a question when nothing else is left to do',
    laneState(atWork(storyList({})), {
      storyNotes: new Map([
        ['S1', { question: { iteration: 1, message: 'Which?', storyId: 'S1' } }],
      ]),
    }),
    'needsHuman: Which?',
  ],
  [
    'a question waits for the agents that work',
    laneState(atWork(storyList({}, {}), 'S2'), {
      storyNotes: new Map([
        ['S1', { question: { iteration: 1, message: 'Which?', storyId: 'S1' } }],
      ]),
    }),
    'wait',
  ],
  [
    'a usage limit of one: nothing is started',
    laneState(atWork(three, 'S1'), {
      limits: new Map([[1, { kind: 'limit', until: '', known: true, message: '' }]]),
    }),
    'wait',
  ],
  [
    'a stop waits for the agents that work',
    { ...atWork(three, 'S1'), stopRequested: true },
    'wait',
  ],
  ['a stop', { ...atWork(three), stopRequested: true }, 'stopped'],
  [
    'a pause waits for the agents that work',
    laneState(atWork(three, 'S1'), { pauseRequested: true }),
    'wait',
  ],
  [
    'the maximum holds for all lanes together',
    { ...atWork(three), config: { ...config, maxIterations: 1 } },
    '1 S1',
  ],
  [
    'a stuck story that a person is asked about does not keep the others from continuing',
    laneState(
      { ...atWork(three), config: { ...config, onStuck: 'ask' } },
      { storyRecords: state(0, { S1: { stuckFor: 4 } }).storyRecords },
    ),
    '1 S2, 2 S3',
  ],
  [
    'an iteration that was cut off while another works',
    laneState(atWork(three, 'S1'), {
      running: [
        { number: 7, startedAt: '', commits: 0, costUsd: 0, handled: new Map<string, boolean>() },
      ],
    }),
    'wait',
  ],
  ['without stories there is one agent', { ...freeForm, freeLanes: 4 }, '3 -'],
];

describe('decide, with two lanes', () => {
  for (const [name, situation, expected] of laneRules) {
    test(name, () => assert.equal(inShort(decide(situation)), expected));
  }

  test('in any order of ends, each story is done once and never before its dependencies', () => {
    const story = fc.record({ needs: fc.array(fc.nat(6), { maxLength: 2 }) });
    const list = fc.array(story, { minLength: 1, maxLength: 7 });
    const property = fc.property(
      list,
      fc.integer({ min: 1, max: 4 }),
      fc.infiniteStream(fc.nat()),
      (given, lanes, picks) => {
        // Only on earlier ones, so there is no circle.
        let stories = storyList(
          ...given.map(({ needs }, at) => ({
            dependsOn: needs.filter(need => need < at).map(need => `S${need + 1}`),
          })),
        );
        const begun: string[] = [];
        let working: Start[] = [];
        for (;;) {
          const running = working.map(({ iteration }) => ({
            ...{ number: iteration, startedAt: '', commits: 0, costUsd: 0 },
            handled: new Map<string, boolean>(),
          }));
          const decision = decide({
            ...usual,
            ...{ stories, working, freeLanes: lanes - working.length },
            config: { ...config, maxIterations: 100 },
            state: { ...state(begun.length), lanes, running },
          });
          if (decision.kind === 'start') {
            assert.ok(decision.starts.length <= lanes - working.length);
            for (const { story: started } of decision.starts) {
              const { dependsOn = [], id = '' } = started ?? {};
              assert.ok(!begun.includes(id), id);
              assert.ok(dependsOn.every(need => stories.find(other => other.id === need)?.done));
              begun.push(id);
            }
            working = [...working, ...decision.starts];
          } else if (decision.kind === 'wait') {
            const ended = working[(picks.next().value ?? 0) % working.length];
            stories = stories.map(other =>
              other.id === ended?.story?.id ? { ...other, done: true } : other,
            );
            working = working.filter(start => start !== ended);
          } else {
            assert.equal(inShort(decision), 'completed');
            assert.equal(begun.length, stories.length);
            return;
          }
        }
      },
    );
    fc.assert(property, { numRuns: 200 });
  });
});

describe('a story is still open', () => {
  const toDo = (story: Partial<Story>, record: Partial<StoryRecord> = {}) =>
    isStillToDo('S1', {
      ...{
        config: { failThreshold: 3 },
        state: state(1, { S1: record }),
        stories: storyList(story),
      },
    });

  test('while it exists, is not done, and is not given up', () => {
    assert.equal(toDo({}), true);
    assert.equal(toDo({ done: true }), false);
    assert.equal(toDo({ done: true }, { refused: true }), true, 'a refused claim is not done');
    assert.equal(toDo({}, { skipped: 'person' }), false);
    assert.equal(toDo({}, { blocked: 'x' }), false);
    assert.equal(toDo({ id: 'S2' }), false, 'it is gone');
  });
});
