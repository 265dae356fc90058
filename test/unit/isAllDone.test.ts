import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runStanding } from '../../src/orchestrator/journal/runStanding.ts';
import { INITIAL_RUN_STATE } from '../../src/orchestrator/journal/runState.ts';
import { isAllDone } from '../../src/orchestrator/loop/isAllDone.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { completedWords } from '../../src/presentation/sentences.ts';
import { english } from '../../src/presentation/translate.ts';
import { type EventMatch, living, over } from '../support/recordedJournals.ts';

function list(...passes: readonly boolean[]) {
  const userStories = passes.map((done, i) => ({ id: `US-00${i + 1}`, title: 'T', passes: done }));
  return parseStoryFile('/w/prd.json', JSON.stringify({ userStories }));
}

test('a start has nothing to do if every story is done and no claim is open', () => {
  assert.equal(isAllDone(list(true, true), INITIAL_RUN_STATE), true);
  assert.equal(isAllDone(list(true, true), over('twoChecksGreen').state), true);
  assert.equal(isAllDone(list(true, false), INITIAL_RUN_STATE), false);
  assert.equal(isAllDone(list(), INITIAL_RUN_STATE), false);
  assert.equal(isAllDone(undefined, INITIAL_RUN_STATE), false);
  // Its checks were red, and it is not yet put back in its file.
  const refused = over('firstCheckRed', { type: 'gate.ended', green: false });
  assert.equal(isAllDone(list(true), refused.state), false);
});

test('a start has nothing to do if the remaining stories are put aside', () => {
  const file = list(true, false);
  assert.ok(file.kind === 'stories');
  const stories = file.stories.map(story =>
    story.done ? story : { ...story, parked: true as const },
  );
  assert.equal(isAllDone({ ...file, stories }, INITIAL_RUN_STATE), true);
});

test('the summary of a complete run', () => {
  const of = (name: string) => completedWords(over(name).state, english);
  assert.equal(of('severalStories'), 'All stories are done, after 3 iterations.');
  assert.equal(of('twoChecksGreen'), 'All stories are done, after 1 iteration.');
  assert.match(of('putAside'), /except those that are put aside/);
  assert.equal(of('chosenStory'), 'Ralph is done with US-002.');
  assert.equal(of('freeTask'), 'The task is done, after 2 iterations.');
  // A start that finds nothing to do makes no run today.
  const nothing = { ...over('severalStories').state, iteration: 0 };
  assert.match(completedWords(nothing, english), /nothing to do/);
});

test('only a living run has a current story, even while it waits', () => {
  const waits: EventMatch = { type: 'pause.started' };
  assert.equal(runStanding(living('stuckAsks', waits)).storyId, 'US-001');
  assert.equal(runStanding(over('stuckAsks', waits)).storyId, undefined);
  const works: EventMatch = { type: 'iteration.started', iteration: 4 };
  assert.equal(runStanding(living('stuckAsks', works)).storyId, 'US-002');
});
