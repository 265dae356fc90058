import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { findGuardChanges } from '../../src/orchestrator/iteration/guard/guardChanges.ts';
import { waitsForAside } from '../../src/orchestrator/stories/asideReason.ts';
import { readStoryProblems } from '../../src/orchestrator/stories/diagnosis/readProblems.ts';
import { readyStories } from '../../src/orchestrator/stories/select.ts';
import type { Story, StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { findStoryProblems } from '../../src/orchestrator/stories/storyProblems.ts';
import { waitsForUnknown } from '../../src/orchestrator/stories/unknownNeeds.ts';
import { tempDir } from '../support/cleanEnv.ts';

const COUNT = 300;

/** Stories that all wait for the same ones, which come behind them, and how often these ids were read. */
function sharing(done: boolean): {
  readonly stories: readonly Story[];
  readonly reads: () => number;
} {
  let reads = 0;
  const ids = Array.from({ length: COUNT }, (_, index) => `first-${index}`);
  const dependsOn = new Proxy(ids, {
    get(target, key) {
      reads += typeof key === 'string' && /^\d+$/.test(key) ? 1 : 0;
      return Reflect.get(target, key);
    },
  });
  const none: readonly string[] = [];
  const story = (id: string, position: number, rest: Pick<Story, 'dependsOn' | 'done'>): Story => ({
    ...{ id, title: id, description: '', criteria: [], position, line: position + 1 },
    ...rest,
  });
  const stories = [
    ...ids.map((_, index) => story(`next-${index}`, index, { done: false, dependsOn })),
    ...ids.map((id, index) => story(id, COUNT + index, { done, dependsOn: none })),
  ];
  return { stories, reads: () => reads };
}

describe('stories that share what they wait for', () => {
  for (const done of [false, true]) {
    test(`have it looked at once, ${done ? '' : 'not '}done`, () => {
      const { reads, stories } = sharing(done);
      assert.deepEqual(
        findStoryProblems(stories, ({ line }) => ({ line, column: 1 })),
        [],
      );
      assert.equal(readyStories(stories).length, COUNT);
      assert.deepEqual(waitsForAside(stories), []);
      assert.deepEqual(waitsForUnknown(stories, []), []);
      const list: StoryList = {
        ...{ kind: 'stories', format: 'orchestration', path: 'a.yaml', hash: '', stories },
        ...{ problems: [], project: '', branchName: '', description: '' },
      };
      assert.deepEqual(findGuardChanges({ before: list, after: list, handled: new Set() }), []);
      assert.ok(reads() < 30 * COUNT, String(reads()));
    });
  }

  test('share one list of ids in parallel groups and in phases', () => {
    const task = (group: number) => `  - title: t\n    parallel_group: ${group}\n`;
    const phase = (name: string, needs: string) =>
      `  - name: ${name}\n${needs}    tasks:\n      - name: a\n      - name: b\n      - name: c\n`;
    for (const text of [
      `tasks:\n${task(1).repeat(2)}${task(2).repeat(2)}`,
      `phases:\n${phase('P', '')}${phase('Q', '    blocked_by: [P]\n')}`,
    ]) {
      const list = parseStoryFile('tasks.yaml', text);
      const [one, other] = list.kind === 'stories' ? list.stories.slice(-2) : [];
      assert.ok(one && one.dependsOn.length > 1);
      assert.equal(one.dependsOn, other?.dependsOn);
    }
  });

  test('hundreds of thousands of problems are told quickly', async () => {
    await using dir = await tempDir('many-problems-');
    const text = `[{"id":"A","title":"a","passes":false}${',1'.repeat(250_000)}]`;
    const file = path.join(dir.path, 'prd.json');
    await writeFile(file, text);
    const begin = performance.now();
    const read = parseStoryFile(file, text);
    const reading = performance.now() - begin;
    assert.equal(read.problems.length, 250_000);
    const { more, problems } = await readStoryProblems(file);
    const telling = performance.now() - begin - reading;
    assert.deepEqual([problems.length, more], [1_000, 249_000]);
    assert.ok(telling < 4 * reading, `${telling} ms, and ${reading} ms to read it`);
  });
});
