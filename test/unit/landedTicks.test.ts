import assert from 'node:assert/strict';
import { test } from 'node:test';
import { LandedTicks } from '../../src/orchestrator/loop/landedTicks.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { openStories } from '../support/ralph.ts';
import { type EventMatch, living } from '../support/recordedJournals.ts';

/** What is not news of a file in which these stories are done. */
function known(until: EventMatch, ...done: readonly string[]): [string, boolean][] {
  const userStories = openStories(2).map(story => ({ ...story, passes: done.includes(story.id) }));
  const bytes = Buffer.from(JSON.stringify({ project: 'Test', userStories }));
  const stories = parseStoryFile('prd.json', bytes);
  assert.ok(stories.kind === 'stories');
  return [...new LandedTicks().known(living('lanes', until).state, { stories })];
}

test('the tick of a story that is landing is not taken for a change by somebody else', () => {
  // The branch has it a moment before the journal says so.
  const candidate: EventMatch = { type: 'landing.candidate', iteration: 1 };
  assert.deepEqual(known(candidate, 'US-001'), [['US-001', true]]);
  assert.deepEqual(known({ type: 'landing.landed', iteration: 1 }, 'US-001'), [['US-001', true]]);
});

test('other ticks are news', () => {
  assert.deepEqual(known({ type: 'agent.text', iteration: 2 }, 'US-001'), []);
  assert.deepEqual(known({ type: 'landing.candidate', iteration: 1 }), []);
  assert.deepEqual(known({ type: 'landing.candidate', iteration: 1 }, 'US-002'), []);
});
