import assert from 'node:assert/strict';
import { test } from 'node:test';
import { nextLabel } from '../../src/orchestrator/stories/edit/planLabel.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const labelIn = (...items: string[]) => {
  const file = parseStoryFile('PLAN.md', items.map(item => `- [ ] ${item}\n`).join(''));
  return nextLabel(file.kind === 'stories' ? file.stories : []);
};

test('a new item of a plan begins with the next id, written like the last one', () => {
  for (const [label, ...items] of [
    ['US-004: ', 'US-003: One', 'US-002: Two'],
    ['T010 ', 'T001 [P] One', 'T009 Two'],
    ['1.3 ', '1.1 One', '1.2 Two'],
    ['4. ', '3. One'],
    ['US-2 - ', 'US-1 - One'],
    ['', 'One', 'Two'],
    ['', 'US-001: One', 'Two'],
    [''],
  ] as const) {
    assert.equal(labelIn(...items), label, items.join());
  }
});
