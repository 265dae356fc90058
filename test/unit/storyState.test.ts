import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { INITIAL_RUN_STATE, type RunState } from '../../src/orchestrator/journal/runState.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { commitsByStory, type StoryState, storyStates } from '../../src/presentation/storyState.ts';
import { type EventMatch, over } from '../support/recordedJournals.ts';
import { sameValue } from '../support/sameValue.ts';
import { aStory } from '../support/storyList.ts';

const [ONE, TWO, THREE, FOUR] = ['US-001', 'US-002', 'US-003', 'US-004'] as const;

function story(id: string, more: Partial<Story> = {}): Story {
  const position = Number(id.slice(-1));
  // The title that it has in the recorded runs.
  return aStory({ id, title: `Story number ${position}`, position, ...more });
}

const run = (name: string, until?: EventMatch): RunState => over(name, until).state;
const begun: EventMatch = { type: 'iteration.started', iteration: 1 };
const ended = (iteration: number): EventMatch => ({ type: 'iteration.ended', iteration });

function kinds(
  stories: readonly Story[],
  state: RunState,
  { alive = false, earlier = [] as readonly RunState[] } = {},
): StoryState[] {
  const states = storyStates(stories, {
    run: { runId: 'r', state, alive },
    states: [...earlier, state],
  });
  return stories.map(one => states.get(one) as StoryState);
}

describe('the state of a story', () => {
  const open = [story(ONE), story(TWO, { dependsOn: [ONE] }), story(THREE)];

  test('without a run it is next, waiting, ready or done', () => {
    sameValue(kinds([...open, story(FOUR, { done: true })], INITIAL_RUN_STATE), [
      { kind: 'next' },
      { kind: 'waiting', for: [ONE] },
      { kind: 'ready' },
      { kind: 'done' },
    ]);
  });

  test('is running only while the loop is alive', () => {
    const state = run('severalStories', begun);
    sameValue(kinds(open, state, { alive: true })[0], { kind: 'running', iteration: 1 });
    sameValue(kinds(open, state)[0], { kind: 'next' });
  });

  test('shows that its agent waits for a usage limit', () => {
    const state = run('limitWaited', { type: 'limit.waiting' });
    sameValue(kinds(open, state, { alive: true })[0], {
      kind: 'running',
      iteration: 1,
      step: 'limit',
    });
  });

  test('can be failed, stuck, blocked or waiting for a person', () => {
    sameValue(kinds(open, run('failed', ended(1)))[0], { kind: 'failed', times: 1 });
    sameValue(kinds(open, run('stuckAsks', ended(2)))[0], { kind: 'stuck', iterations: 2 });
    sameValue(kinds(open, run('blocked'))[0], { kind: 'blocked', message: 'No key' });
    sameValue(kinds(open, run('question'))[0], {
      kind: 'needsYou',
      message: 'Blue or green?',
    });
  });

  test('keeps over several runs who marked it as done, while the file decides whether it is', () => {
    const claimed = run('severalStories');
    const stories = [story(ONE, { done: true }), story(THREE, { done: true }), story(FOUR)];
    sameValue(
      kinds(stories, run('ticked'), { earlier: [claimed] }).map(({ kind }) => kind),
      ['doneByHand', 'claimed', 'next'],
    );
    assert.equal(kinds([story(ONE)], claimed)[0]?.kind, 'next');
  });

  test('is not that of an older story with the same id', () => {
    const other = story(ONE, { title: 'Another story' });
    sameValue(kinds([other], run('failed'))[0], { kind: 'next' });
    sameValue(kinds([{ ...other, done: true }], run('severalStories'))[0], { kind: 'done' });
    sameValue(kinds([other], run('skip'))[0], { kind: 'next' });
    // Renamed while the run works on it, it is the same one.
    const working = kinds([other], run('failed', ended(1)), { alive: true });
    sameValue(working[0], { kind: 'failed', times: 1 });
  });

  test('shows the result of checks and reviewer for a claim', () => {
    const kind = (name: string, until: EventMatch) =>
      kinds([story(ONE, { done: true })], run(name, until))[0]?.kind;
    const name = 'checksAndReview';
    assert.equal(kind(name, { type: 'story.changed', iteration: 2, done: true }), 'unjudged');
    assert.equal(kind(name, { type: 'gate.ended', iteration: 2 }), 'unjudged');
    assert.equal(kind(name, { type: 'review.ended', iteration: 2 }), 'approved');
    assert.equal(kind('steered', { type: 'gate.ended', storyId: ONE }), 'verified');
    assert.equal(kind('steered', { type: 'story.ticked', storyId: ONE, done: true }), 'doneByHand');
  });

  test('shows a story being checked, reviewed, skipped, or asked about', () => {
    const now = (until: EventMatch) =>
      kinds(open, run('checksAndReview', until), { alive: true })[0];
    const running = { kind: 'running', iteration: 1 };
    sameValue(now({ type: 'gate.started' }), { ...running, step: 'gate' });
    sameValue(now({ type: 'agent.started', purpose: 'review' }), {
      ...running,
      step: 'review',
    });
    const skipped = run('stuckSkipped', { type: 'story.skipped' });
    sameValue(kinds(open, skipped)[0], { kind: 'skipped', by: 'stuck' });
    sameValue(kinds(open, run('skip'))[0], { kind: 'skipped', by: 'person' });
    const asks = run('questionWaits', { type: 'pause.started' });
    sameValue(kinds(open, asks, { alive: true })[0], {
      kind: 'needsYou',
      message: 'Blue or green?',
    });
  });

  test('of a later tag that a run has chosen is waiting as long as one is open that it needs', () => {
    const later = { parked: true, afterTag: 'master' } as const;
    const stories = [
      story(ONE, later),
      story(TWO, { ...later, dependsOn: [ONE] }),
      story(THREE, { ...later, dependsOn: [ONE] }),
    ];
    const turn = { kind: 'later', tag: 'master' };
    sameValue(kinds(stories, INITIAL_RUN_STATE), [turn, turn, turn]);
    const onlyStories = [ONE, TWO];
    sameValue(kinds(stories, { ...INITIAL_RUN_STATE, onlyStories }), [
      turn,
      { kind: 'waiting', for: [ONE] },
      turn,
    ]);
  });

  test('lists commits by story, newest first', () => {
    const found = commitsByStory([run('severalStories'), run('budget')]);
    const subjects = (id: string) => found.get(id)?.map(({ subject }) => subject);
    sameValue(subjects(ONE), ['feat: US-001', 'test: US-001', 'feat: US-001']);
    sameValue(subjects(TWO), ['feat: US-002']);
  });
});
