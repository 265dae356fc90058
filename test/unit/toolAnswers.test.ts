import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { INITIAL_RUN_STATE } from '../../src/orchestrator/journal/runState.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { answerText, storiesAnswer } from '../../src/views/tools/toolAnswers.ts';

const run = { state: INITIAL_RUN_STATE, alive: false };

function answerFor(count: number, filter: 'all' | 'open' | 'done', title = 'A story') {
  const userStories = Array.from({ length: count }, (_, index) => ({
    id: `US-${index + 1}`,
    title,
    passes: index === 0,
  }));
  const file = parseStoryFile('/w/prd.json', JSON.stringify({ userStories }));
  return JSON.parse(answerText(storiesAnswer(file, { run, states: [], filter })));
}

describe('the stories reported to a language model', () => {
  test('have ids, titles and states, filtered by the request', () => {
    const { done, total, stories, leftOut } = answerFor(3, 'open');
    assert.deepEqual({ done, total, leftOut }, { done: 1, total: 3, leftOut: 0 });
    assert.deepEqual(
      stories.map(({ id, state }: { id: string; state: string }) => [id, state]),
      [
        ['US-2', 'ready'],
        ['US-3', 'ready'],
      ],
    );
    assert.equal(answerFor(3, 'done').stories.length, 1);
    assert.equal(answerFor(3, 'all').stories.length, 3);
  });

  test('are limited: 5,000 stories with long titles give a small answer', () => {
    const answer = answerFor(5_000, 'all', 'long '.repeat(1_000));
    assert.equal(answer.stories.length + answer.leftOut, 5_000);
    assert.ok(JSON.stringify(answer).length < 100_000);
  });

  test('include the problem of a broken file', () => {
    const file = parseStoryFile('/w/prd.json', '{ "userStories": [ }');
    const answer = JSON.parse(answerText(storiesAnswer(file, { run, states: [], filter: 'all' })));
    assert.equal(answer.total, 0);
    assert.equal(answer.problems.length, 1);
  });
});
