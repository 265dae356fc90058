import assert from 'node:assert/strict';
import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { describe, mock, test } from 'node:test';
import fc from 'fast-check';
import { editStoryDone, tickText } from '../../src/orchestrator/stories/edit/edit.ts';
import { isTickDifference } from '../../src/orchestrator/stories/edit/tickDifference.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const BEADS = '.beads/issues.jsonl';
const MEMORY = '{"_type":"memory","key":"m","value":"Use tabs"}';
const issue = (id: string) =>
  JSON.stringify({ id, title: `Title of ${id}`, status: 'in_progress' });
const beads = `${[MEMORY, issue('bd-1'), MEMORY, issue('bd-2')].join('\n')}\n`;

const prd = (count: number) =>
  `${JSON.stringify(
    {
      userStories: [
        'A note',
        ...Array.from({ length: count }, (_, i) => ({
          id: `S-${i}`,
          title: `T ${i}`,
          passes: false,
        })),
      ],
    },
    null,
    2,
  )}\n`;
const plan = '# Plan\n\n- [ ] A-1: One\n  - [ ] A-2: Part\n- [ ] A-3: Three\n';
const taskMaster = JSON.stringify({
  tasks: [
    { id: 1, title: 'a', status: 'pending', subtasks: [{ id: 1, title: 'b', status: 'review' }] },
    { id: 2, title: 'c', status: 'in-progress', subtasks: [] },
  ],
});

const LISTS: readonly (readonly [path: string, text: string])[] = [
  [BEADS, beads],
  ['prd.json', prd(4)],
  ['IMPLEMENTATION_PLAN.md', plan],
  ['.taskmaster/tasks/tasks.json', taskMaster],
];

function storiesOf(path: string, text: string) {
  const file = parseStoryFile(path, text);
  assert.equal(file.kind, 'stories');
  return file.kind === 'stories' ? file.stories : [];
}

describe('a difference of ticks', () => {
  test('is found whatever is ticked in whatever order, and not if anything else has changed', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...LISTS),
        fc.uniqueArray(fc.nat({ max: 4 })),
        ([path, text], ticks) => {
          const stories = storiesOf(path, text);
          const after = ticks.reduce((before, n) => {
            const story = stories[n];
            return story === undefined
              ? before
              : editStoryDone(before, { id: story.id, position: story.position }, true, path);
          }, text);
          assert.ok(isTickDifference(path, text, after));
          for (const title of ['Title of bd-2', 'T 3', 'Three', '"c"']) {
            const other = after.replace(title, title.toUpperCase());
            assert.equal(isTickDifference(path, text, other), other === after);
          }
        },
      ),
    );
  });

  test('is found although lines of the file are no stories', () => {
    const ticked = tickText(beads, { id: 'bd-2' }, true, { path: BEADS });
    assert.ok(isTickDifference(BEADS, beads, ticked.text));
    assert.ok(ticked.undo);
    const undos = [ticked.undo];
    const back = tickText(ticked.text, { id: 'bd-2' }, false, { path: BEADS, undos });
    assert.equal(back.text, beads);
    // What stood there before is restored, which no tick would write.
    assert.ok(isTickDifference(BEADS, ticked.text, beads));
    assert.ok(!isTickDifference(BEADS, beads, ticked.text.replace('Use tabs', 'Use spaces')));
  });

  test('is found without parsing the file for each tick', () => {
    const before = prd(60);
    const after = before.replaceAll('"passes": false', '"passes": true');
    const hash = mock.method(crypto, 'createHash');
    syncBuiltinESMExports();
    try {
      assert.ok(isTickDifference('prd.json', before, after));
      // Each version that is parsed is hashed once.
      assert.ok(
        hash.mock.callCount() > 0 && hash.mock.callCount() <= 4,
        `${hash.mock.callCount()}`,
      );
    } finally {
      hash.mock.restore();
      syncBuiltinESMExports();
    }
  });
});
