import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';

function storiesOf(path: string, text: string): readonly Story[] {
  const { file } = parseStoryText(path, text);
  assert.ok(file.kind === 'stories', JSON.stringify(file.problems));
  return file.stories;
}

describe('an item of a plan that is struck through', () => {
  const read = (text: string) =>
    storiesOf('specs/001/tasks.md', text).map(({ id, parked, title }) => [
      id,
      parked === true,
      title,
    ]);

  test('is put aside with its id and what is indented below it', () => {
    assert.deepEqual(
      read(
        '- [ ] ~~T012 [US1] Dropped~~\n  - [ ] T013 Part\n- [ ] T014 ~~[US1] Old~~\n- [x] ~~T015 Old~~\n',
      ),
      [
        ['T012', true, 'T012 [US1] Dropped'],
        ['T013', true, 'T013 Part'],
        ['T014', true, 'T014 [US1] Old'],
        ['T015', false, 'T015 Old'],
      ],
    );
  });

  test('is work if only a part of it is', () => {
    const text =
      '- [ ] ~~T012 Old~~ New\n- [ ] T013 Use ~~A~~ B\n- [ ] ~~A~~ and ~~B~~\n- [ ] ~~~~\n';
    assert.deepEqual(read(text), [
      ['T012', false, '~~T012 Old~~ New'],
      ['T013', false, 'T013 Use ~~A~~ B'],
      ['#3', false, '~~A~~ and ~~B~~'],
      ['#4', false, '~~~~'],
    ]);
  });
});
