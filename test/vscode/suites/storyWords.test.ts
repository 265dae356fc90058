import assert from 'node:assert/strict';
import { STATE_KINDS, type StoryState } from '../../../src/presentation/storyState.ts';
import { stateIcon } from '../../../src/views/stories/storyWords.ts';

const SAMPLES: { readonly [K in StoryState['kind']]: Extract<StoryState, { kind: K }> } = {
  running: { kind: 'running', iteration: 1 },
  queued: { kind: 'queued', iteration: 1, isActive: true },
  landing: { kind: 'landing', iteration: 1 },
  paused: { kind: 'paused' },
  returned: {
    ...{ kind: 'returned', times: 1 },
    work: { iteration: 1, reason: 'conflict', files: ['shared.txt'] },
  },
  settling: { kind: 'settling' },
  done: { kind: 'done' },
  doneByHand: { kind: 'doneByHand' },
  unjudged: { kind: 'unjudged' },
  claimed: { kind: 'claimed' },
  verified: { kind: 'verified' },
  approved: { kind: 'approved' },
  skipped: { kind: 'skipped', by: 'person' },
  needsYou: { kind: 'needsYou', message: '' },
  blocked: { kind: 'blocked', message: '' },
  failed: { kind: 'failed', times: 2 },
  stuck: { kind: 'stuck', iterations: 3 },
  waiting: { kind: 'waiting', for: [] },
  parked: { kind: 'parked', status: '' },
  later: { kind: 'later', tag: 'master' },
  next: { kind: 'next' },
  ready: { kind: 'ready' },
};

suite('The words and icons of stories', () => {
  test('each state has its own icon', () => {
    const kinds = Object.keys(SAMPLES) as StoryState['kind'][];
    assert.deepEqual([...STATE_KINDS].sort(), [...kinds].sort());
    const byIcon = Map.groupBy(kinds, kind => stateIcon(SAMPLES[kind]).id);
    assert.deepEqual(
      [...byIcon.values()].filter(alike => alike.length > 1),
      [],
    );
  });
});
