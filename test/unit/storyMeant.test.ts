import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Story, StoryFormatName } from '../../src/orchestrator/stories/story.ts';
import { idMeant, storyMeant } from '../../src/orchestrator/stories/storyMeant.ts';

function meant(format: StoryFormatName, ids: readonly string[], typed: string): string | undefined {
  const stories = ids.map((id, position): Story => {
    const none = { title: id, description: '', criteria: [], dependsOn: [] };
    return { id, ...none, done: false, position, line: 1 };
  });
  return storyMeant({ format, stories }, typed)?.id;
}

test('an id as people type it means the only story that fits', () => {
  assert.equal(meant('prd', ['US-1', 'US-2'], 'us-2'), 'US-2');
  assert.equal(meant('prd', ['us-1', 'US-1'], 'US-1'), 'US-1');
  assert.equal(meant('prd', ['us-1', 'US-1'], 'Us-1'), undefined);
  assert.equal(meant('prd', ['task-7'], '7'), undefined);
  for (const typed of ['7', 'task-007', 'TASK-7']) {
    assert.equal(meant('backlog', ['task-7', 'task-70'], typed), 'task-7', typed);
  }
  assert.equal(meant('plan', ['#1', '#2', '#20'], '2'), '#2');
  assert.equal(meant('plan', ['2', '#2'], '2'), '2');
  assert.equal(meant('bmad', ['1-2-log-in', '1-20-log-out'], '1.2'), '1-2-log-in');
  assert.equal(meant('bmad', ['1-2-log-in', '1-3-log-out'], '1'), undefined);
  assert.equal(meant('bmad', ['3-5-1-log-in', '3-5-2-log-out'], '3.5.1'), '3-5-1-log-in');
});

test('it may be one that is only in a run, or in no list at all', () => {
  assert.equal(idMeant('backlog', ['task-7', 'task-7'], '7'), 'task-7');
  assert.equal(idMeant(undefined, ['US-1'], ' us-1 '), 'US-1');
  assert.equal(idMeant(undefined, ['US-1', 'us-1'], 'Us-1'), undefined);
});
