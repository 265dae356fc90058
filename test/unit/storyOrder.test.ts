import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import fc from 'fast-check';
import { HumanError } from '../../src/base/humanError.ts';
import { moveStory } from '../../src/orchestrator/stories/edit/edit.ts';
import {
  inWorkOrder,
  movedOrder,
  prioritiesFor,
} from '../../src/orchestrator/stories/edit/workOrder.ts';
import type { Story } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';
import { aStory } from '../support/storyList.ts';

type Side = 'before' | 'after';

function storiesOf(text: string, file = 'prd.json'): readonly Story[] {
  const read = parseStoryFile(file, text);
  assert.equal(read.kind, 'stories', JSON.stringify(read));
  return read.kind === 'stories' ? read.stories : [];
}

function titles(text: string, file?: string): string[] {
  return inWorkOrder(storiesOf(text, file)).map(({ title }) => title);
}

let folder: TempDir;
before(async () => {
  folder = await tempDir('ralph-fresh-order-');
});
after(() => folder.remove());

/** Moves the story with one title next to the one with another, in a file of this text. @returns the text then */
async function move(
  text: string,
  title: string,
  side: Side,
  target: string,
  name = 'prd.json',
): Promise<string> {
  const at = (wanted: string) => {
    const story = storiesOf(text, name).find(other => other.title === wanted);
    assert.ok(story, wanted);
    return { id: story.id, position: story.position };
  };
  const file = path.join(folder.path, name);
  await writeFile(file, text);
  try {
    await moveStory(file, at(title), at(target), side);
  } catch (error) {
    assert.equal(await readFile(file, 'utf8'), text);
    throw error;
  }
  return readFile(file, 'utf8');
}

function prd(...priorities: (number | string | undefined)[]): string {
  const userStories = priorities.map((priority, i) => ({
    id: `S${i + 1}`,
    title: 'ABCDEF'[i],
    ...(priority === undefined ? {} : { priority }),
    passes: false,
  }));
  return `${JSON.stringify({ userStories }, null, 2)}\n`;
}

/** The priorities in the order of the file. */
function priorities(text: string): unknown[] {
  return JSON.parse(text).userStories.map((story: { priority?: unknown }) => story.priority);
}

describe('moving a story with a numeric priority', () => {
  test('changes one number to put it in place', async () => {
    for (const [title, side, target, expected, order] of [
      ['E', 'before', 'B', [1, 2, 3, 4, 1], 'AEBCD'],
      ['E', 'before', 'A', [1, 2, 3, 4, 0], 'EABCD'],
      ['A', 'after', 'C', [4, 2, 3, 4, 5], 'BCADE'],
      ['A', 'after', 'E', [6, 2, 3, 4, 5], 'BCDEA'],
      ['B', 'before', 'A', [1, 0, 3, 4, 5], 'BACDE'],
    ] as const) {
      const text = prd(1, 2, 3, 4, 5);
      const moved = await move(text, title, side, target);
      assert.equal(titles(moved).join(''), order);
      const changed = priorities(moved).filter((value, i) => value !== priorities(text)[i]);
      assert.equal(changed.length, 1, `${title} ${side} ${target}: ${priorities(moved)}`);
      assert.deepEqual(priorities(moved), expected);
    }
  });

  test('changes others only if there is no room, and never below zero', async () => {
    const moved = await move(prd(0, 1, 2), 'C', 'before', 'A');
    assert.equal(titles(moved).join(''), 'CAB');
    assert.ok(priorities(moved).every(value => Number(value) >= 0));
    assert.deepEqual(priorities(moved)[2], 0);
  });

  test('adds a number if it has none', async () => {
    const moved = await move(prd(1, undefined, undefined), 'C', 'before', 'A');
    assert.equal(titles(moved).join(''), 'CAB');
    assert.deepEqual(priorities(moved), [1, undefined, 0]);
  });

  test('keeps everything else byte for byte', async () => {
    const text = prd(1, 2, 3).replaceAll('\n', '\r\n').replace('"title": "B"', '"title" :  "B"');
    const moved = await move(text, 'C', 'before', 'B');
    assert.equal(moved, text.replace('"priority": 3', '"priority": 1'));
  });
});

describe('moving a story with a priority word', () => {
  test('takes the word of its neighbor, and moves the text only if needed', async () => {
    const text = prd('high', 'high', 'low', 'low');
    assert.deepEqual(
      await move(text, 'D', 'before', 'C'),
      // Nothing but the place: both are low.
      text.replace(/( {4}\{\n {6}"id": "S3"[^}]+\}),\n( {4}\{\n {6}"id": "S4"[^}]+\})/, '$2,\n$1'),
    );
    const moved = await move(text, 'C', 'after', 'B');
    assert.equal(titles(moved).join(''), 'ABCD');
    assert.deepEqual(priorities(moved), ['high', 'high', 'high', 'low']);
  });
});

describe('moving a story in a file without priorities', () => {
  test('JSON: moves only its text', async () => {
    const text =
      '[ {"id":"1","title":"A","passes":false},\n\n  {"id":"2", "title":"B"} , {"id":"3","title":"C"}]';
    assert.equal(
      await move(text, 'C', 'before', 'A'),
      '[ {"id":"3","title":"C"},\n\n  {"id":"1","title":"A","passes":false} , {"id":"2", "title":"B"}]',
    );
  });

  test('Markdown: moves all that belongs to it, even at the end of a file without a final newline', async () => {
    const plan = '# Plan\n\n## One\n- [ ] A\n  more of A\n  - [ ] A1\n\n- [x] B\n\n## Two\n- [ ] C';
    assert.equal(
      await move(plan, 'B', 'before', 'A', 'plan.md'),
      '# Plan\n\n## One\n- [x] B\n\n- [ ] A\n  more of A\n  - [ ] A1\n\n## Two\n- [ ] C',
    );
    assert.equal(
      await move(plan, 'C', 'before', 'A', 'plan.md'),
      '# Plan\n\n## One\n- [ ] C\n- [ ] A\n  more of A\n  - [ ] A1\n\n- [x] B\n\n## Two',
    );
    assert.equal(
      await move(plan, 'A', 'after', 'C', 'plan.md'),
      '# Plan\n\n## One\n\n- [x] B\n\n## Two\n- [ ] C\n- [ ] A\n  more of A\n  - [ ] A1',
    );
    await assert.rejects(move(plan, 'A1', 'before', 'B', 'plan.md'), HumanError);
  });

  test('YAML: moves its comments along, within its phase', async () => {
    const yaml = [
      'phases:',
      '  - name: One',
      '    tasks:',
      '      - id: a',
      '        name: A',
      '        status: pending # begin here',
      '',
      '      # B is hard',
      '      - id: b',
      '        name: B',
      '  - name: Two',
      '    tasks: [{ id: c, name: C }, { id: d, name: D }]',
      '',
    ].join('\n');
    assert.equal(
      await move(yaml, 'B', 'before', 'A', 'o.yaml'),
      [
        'phases:',
        '  - name: One',
        '    tasks:',
        '      # B is hard',
        '      - id: b',
        '        name: B',
        '',
        '      - id: a',
        '        name: A',
        '        status: pending # begin here',
        '  - name: Two',
        '    tasks: [{ id: c, name: C }, { id: d, name: D }]',
        '',
      ].join('\n'),
    );
    assert.match(
      await move(yaml, 'D', 'before', 'C', 'o.yaml'),
      /\[\{ id: d, name: D \}, \{ id: c/,
    );
    await assert.rejects(move(yaml, 'D', 'before', 'A', 'o.yaml'), /different phases/);
  });

  test('Beads: takes the priority of its neighbor', async () => {
    const lines = ['A', 'B', 'C'].map(
      (title, i) => `{"id":"bd-${i}","title":"${title}","status":"open","priority":${i}}`,
    );
    const moved = await move(`${lines.join('\n')}\n`, 'C', 'before', 'B', 'issues.jsonl');
    assert.deepEqual(moved.trimEnd().split('\n'), [
      lines[0],
      lines[2]?.replace('"priority":2', '"priority":1'),
      lines[1],
    ]);
  });

  test('between groups is refused with an alternative', async () => {
    const text = '[{"id":"1","title":"A","epic":"x"},{"id":"2","title":"B","epic":"y"}]';
    await assert.rejects(move(text, 'B', 'before', 'A'), /different groups/);
  });
});

describe('any order', () => {
  const rank = fc.option(fc.integer({ min: -3, max: 9 }), { nil: undefined, freq: 4 });

  test('is reached with whole numbers and the fewest possible changes', () => {
    fc.assert(
      fc.property(
        fc.array(rank, { minLength: 2, maxLength: 6 }),
        fc.nat(),
        fc.nat(),
        fc.constantFrom<Side>('before', 'after'),
        (ranks, a, b, side) => {
          const stories = ranks.map((priority, position) => storyOf(position, priority));
          const order = inWorkOrder(stories);
          const story = order[a % order.length] as Story;
          const target = order[b % order.length] as Story;
          fc.pre(story !== target);
          const wanted = movedOrder(order, story, target, side);
          const changes = prioritiesFor(wanted, story);
          const after = stories.map(one => storyOf(one.position, changes.get(one) ?? one.priority));
          assert.deepEqual(
            inWorkOrder(after).map(({ id }) => id),
            wanted.map(({ id }) => id),
          );
          assert.ok([...changes].every(([one, value]) => one.priority !== value));
          assert.ok([...changes.values()].every(Number.isInteger));
        },
      ),
      { numRuns: 2000 },
    );
  });

  test('in a file changes only priorities, and every story keeps its content', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(rank, fc.constantFrom('high', 'P2')), { minLength: 2, maxLength: 6 }),
        fc.nat(),
        fc.nat(),
        fc.constantFrom<Side>('before', 'after'),
        fc.constantFrom('', '  ', '\t'),
        async (ranks, a, b, side, indent) => {
          const text = JSON.stringify(JSON.parse(prd(...ranks)), null, indent);
          const order = titles(text);
          const [title, target] = [order[a % order.length], order[b % order.length]];
          fc.pre(title !== undefined && target !== undefined && title !== target);
          const moved = await move(text, title, side, target);
          const wanted = order.filter(one => one !== title);
          wanted.splice(wanted.indexOf(target) + (side === 'after' ? 1 : 0), 0, title);
          assert.deepEqual(titles(moved), wanted);
          const bare = (file: string) =>
            JSON.parse(file)
              .userStories.map((story: object) => ({ ...story, priority: undefined }))
              .map((story: object) => JSON.stringify(story))
              .sort();
          assert.deepEqual(bare(moved), bare(text));
          const byText = ranks.some(value => typeof value === 'string');
          const isMoved = byText || ranks.every(value => value === undefined);
          if (!isMoved) {
            const plain = (file: string) => file.replaceAll(/,?\s*"priority":\s*-?\d+/g, '');
            assert.equal(plain(moved), plain(text));
          }
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe('the file', () => {
  test('is not changed if it differs from the one that was shown', async () => {
    const file = path.join(folder.path, 'prd.json');
    const text = prd(1, 2);
    await writeFile(file, text);
    const { hash } = parseStoryFile(file, text);
    await writeFile(file, text.replace('"A"', '"Z"'));
    await assert.rejects(
      moveStory(file, { id: 'S2' }, { id: 'S1' }, 'before', { expectedHash: hash }),
      /changed in the meantime/,
    );
    assert.equal(await readFile(file, 'utf8'), text.replace('"A"', '"Z"'));
    await writeFile(file, text);
    await moveStory(file, { id: 'S2' }, { id: 'S1' }, 'before', { expectedHash: hash });
    assert.deepEqual(titles(await readFile(file, 'utf8')), ['B', 'A']);
  });
});

function storyOf(position: number, priority: number | undefined): Story {
  const id = `S${position}`;
  return aStory({ id, title: id, position, ...(priority === undefined ? {} : { priority }) });
}
