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
      ['#1', false, '~~T012 Old~~ New'],
      ['T013', false, 'T013 Use ~~A~~ B'],
      ['#3', false, '~~A~~ and ~~B~~'],
      ['#4', false, '~~~~'],
    ]);
    assert.deepEqual(read('- [ ] ~~T012~~ Replaced by T030\n- [ ] T012 New\n'), [
      ['#1', false, '~~T012~~ Replaced by T030'],
      ['T012', false, 'T012 New'],
    ]);
  });

  test('leaves its id to the item in its place', () => {
    for (const mark of ['x', ' ']) {
      const text = `- [${mark}] ~~T012 Old~~\n- [ ] T012 New\n- [ ] T013 ~~Old~~\n- [ ] ~~T013 Older~~\n`;
      assert.deepEqual(
        read(text).map(([id]) => id),
        ['#1', 'T012', '#3', '#4'],
      );
      assert.deepEqual(parseStoryText('specs/001/tasks.md', text).file.problems, []);
    }
  });

  test('does not put its open parts aside if it is done', () => {
    assert.deepEqual(read('- [x] ~~Set up~~\n  - [ ] Follow up: CI\n'), [
      ['#1', false, 'Set up'],
      ['#2', false, 'Follow up: CI'],
    ]);
    const kiro = '- [ ] 1. a\n- [x] ~~2. d~~\n  - [ ] 2.1 Part\n';
    assert.deepEqual(
      storiesOf('.kiro/specs/a/tasks.md', kiro).map(({ dependsOn, id, parked }) => [
        ...[id, parked === true, dependsOn],
      ]),
      [
        ['1', false, []],
        ['2', false, ['2.1']],
        ['2.1', false, []],
      ],
    );
    // Below an open item that is struck through, everything open is put aside.
    assert.deepEqual(
      read('- [ ] ~~A~~\n  - [x] ~~B~~\n    - [ ] C\n').map(([, parked]) => parked),
      [true, false, true],
    );
  });

  test('keeps its number from being used again, also if only a part of it is struck through', () => {
    const text = '- [ ] 1.1 A\n- [ ] ~~1.2 B~~ is now in 1.1\n';
    const { nextId } = parseStoryText('openspec/changes/a/tasks.md', text);
    assert.equal(nextId?.({ id: 'DISC-1-1-1', title: 'New' }), '1.3');
  });
});
