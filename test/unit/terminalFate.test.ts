import assert from 'node:assert/strict';
import { test } from 'node:test';
import { terminalFate } from '../../src/views/places/terminalFate.ts';

test('a terminal in a place stays until another story has the place, and is never closed under a person’s hands', () => {
  const fate = (story: string | undefined, isUsed: boolean) =>
    terminalFate({ record: { story }, storyId: 'US-001', isUsed });
  assert.deepEqual([fate('US-001', false), fate('US-001', true)], ['stays', 'stays']);
  assert.deepEqual([fate('US-002', false), fate('US-002', true)], ['closes', 'asks']);
  // Its place is gone, or serves no story: nobody's work is in the way.
  assert.equal(terminalFate({ record: undefined, storyId: 'US-001', isUsed: false }), 'stays');
  assert.equal(fate(undefined, true), 'stays');
});
