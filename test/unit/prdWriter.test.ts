import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { prdFileText } from '../../src/orchestrator/stories/formats/prdWriter.ts';
import { findStorySources } from '../../src/orchestrator/stories/knownSources.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { sameValue } from '../support/sameValue.ts';

function readBack(text: string): StoryList {
  const file = parseStoryFile('/w/.omc/prd.json', text);
  assert.ok(file.kind === 'stories');
  return file;
}

describe('stories written as prd.json', () => {
  test('of a plan keep their order, text and done state', () => {
    const plan = parseStoryFile(
      '/w/PLAN.md',
      '# Shop\n\n## Basket\n- [x] Show the basket\n- [ ] Empty the basket\n\n## Till\n- [ ] Pay\n',
    );
    assert.ok(plan.kind === 'stories');
    const { stories } = readBack(prdFileText(plan));
    sameValue(
      stories.map(({ title, done, epic, priority }) => [title, done, epic, priority]),
      plan.stories.map(({ title, done, epic }, index) => [title, done, epic, index + 1]),
    );
    assert.equal(stories.length, 3);
    assert.equal(stories[0]?.done, true);
  });

  test('can be read back unchanged, whatever their texts contain', () => {
    const text = fc.string({ unit: 'grapheme' }).map(one => `x${one.trim()}`);
    const line = text.map(one => one.replaceAll(/[\r\n]/g, ' ').trim());
    const story = fc.record(
      {
        id: line,
        title: line,
        description: text,
        criteria: fc.array(
          text.map(one => ({ text: one })),
          { maxLength: 3 },
        ),
        done: fc.boolean(),
        priority: fc.integer({ min: 1, max: 99 }),
        // Not the title of another story, which stands for its id.
        dependsOn: fc.uniqueArray(
          line.map(one => `y${one}`),
          { maxLength: 2 },
        ),
      },
      { noNullPrototype: true },
    );
    fc.assert(
      fc.property(fc.array(story, { minLength: 1, maxLength: 5 }), stories => {
        const list = readBack(
          prdFileText({ project: 'p', branchName: 'b', description: 'd', stories }),
        );
        sameValue(
          list.stories.map(({ position, line: _, ...rest }) => rest),
          stories,
        );
        sameValue([list.project, list.branchName, list.description], ['p', 'b', 'd']);
      }),
    );
  });

  test('can come from every file with stories at a known place', async () => {
    await using temp = await tempDir('sources-');
    const write = async (file: string, text: string) => {
      await mkdir(path.dirname(path.join(temp.path, file)), { recursive: true });
      await writeFile(path.join(temp.path, file), text);
    };
    await write('PLAN.md', '# Notes without a checkbox\n');
    await write('IMPLEMENTATION_PLAN.md', '- [ ] One\n');
    await write('specs/a/tasks.md', '- [ ] T001 One\n- [ ] T002 Two\n');
    await write('specs/b/tasks.md', '- [ ] T001 One\n');
    const found = await findStorySources(temp.path);
    sameValue(
      found.map(({ path: file, stories }) => [
        path.relative(temp.path, file).split(path.sep).join('/'),
        stories.length,
      ]),
      [
        ['IMPLEMENTATION_PLAN.md', 1],
        ['specs/a/tasks.md', 2],
        ['specs/b/tasks.md', 1],
      ],
    );
  });
});
