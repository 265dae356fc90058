import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { repeatedId, storyNow } from '../../src/orchestrator/stories/storyNow.ts';

function storiesOf(path: string, text: string) {
  const file = parseStoryFile(path, text);
  assert.ok(file.kind === 'stories');
  return file.stories;
}

test('a story without an id of its own is found by its title, or not at all', () => {
  const now = storiesOf('tasks.md', '- [ ] New\n- [ ] Alpha\n- [ ] Twice\n- [ ] Twice\n');
  assert.equal(storyNow(now, { id: '#1', title: 'Alpha', position: 0 })?.position, 1);
  assert.equal(storyNow(now, { id: '#1', title: 'Gone', position: 0 }), undefined);
  assert.equal(storyNow(now, { id: '#2', title: 'Twice', position: 1 }), undefined);
  assert.equal(storyNow(now, { id: '#4', title: 'Twice', position: 3 })?.position, 3);
});

test('a story with an id of its own keeps it; one that shares it needs its title', () => {
  const list = (...stories: readonly (readonly [string, string])[]) =>
    storiesOf(
      'prd.json',
      JSON.stringify({ userStories: stories.map(([id, title]) => ({ id, title, passes: false })) }),
    );
  const own = list(['B', 'two'], ['A', 'renamed']);
  assert.equal(storyNow(own, { id: 'A', title: 'one', position: 0 })?.title, 'renamed');
  assert.equal(storyNow(own, { id: 'C', title: 'two', position: 0 }), undefined);
  assert.equal(repeatedId(own), undefined);
  const shared = list(['A', 'one'], ['A', 'two']);
  assert.equal(storyNow(shared, { id: 'A', title: 'two', position: 0 })?.position, 1);
  assert.equal(storyNow(shared, { id: 'A', title: 'three', position: 0 }), undefined);
  assert.equal(repeatedId(shared), 'A');
});
