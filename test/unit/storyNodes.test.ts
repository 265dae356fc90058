import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { describe, test } from 'node:test';
import { INITIAL_RUN_STATE } from '../../src/orchestrator/journal/runState.ts';
import { findStoryFiles } from '../../src/orchestrator/stories/knownSources.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { NO_FILTER } from '../../src/views/stories/storyFilter.ts';
import { type FolderFacts, StoryNodes } from '../../src/views/stories/storyNodes.ts';
import { childrenOf, type StoryTreeNode } from '../../src/views/stories/storyTree.ts';
import { over } from '../support/recordedJournals.ts';

const FOLDER = path.resolve('/work', 'shop');

interface Entry {
  readonly id: string;
  readonly [key: string]: unknown;
}

/** What the lines are made of: stories as the file has them, and what runs say. */
function facts(
  entries: readonly Entry[],
  more: Partial<FolderFacts> = {},
  name = 'prd.json',
): FolderFacts {
  const userStories = entries.map(entry => ({
    title: `Title ${entry.id}`,
    passes: false,
    ...entry,
  }));
  return {
    file: parseStoryFile(path.join(FOLDER, name), JSON.stringify({ userStories })),
    run: { state: INITIAL_RUN_STATE, alive: false },
    states: [],
    filter: NO_FILTER,
    hasFolderLine: false,
    ...more,
  };
}

function outline(nodes: readonly StoryTreeNode[]): unknown[] {
  return nodes.map(node =>
    node.kind === 'story'
      ? node.story.id
      : node.kind === 'epic'
        ? [node.title, ...outline(node.stories)]
        : node.kind,
  );
}

describe('the lines of a folder', () => {
  test('are in work order, grouped under epics if there are several', () => {
    const nodes = new StoryNodes(FOLDER, 'shop');
    nodes.update(
      facts([
        { id: 'A', epic: 'Pay', priority: 3 },
        { id: 'B', epic: 'Browse', priority: 1 },
        { id: 'C', epic: 'Pay', priority: 2, passes: true },
        { id: 'D', priority: 9 },
      ]),
    );
    assert.deepEqual(outline(nodes.roots), [['Browse', 'B'], ['Pay', 'C', 'A'], 'D']);
    const [, pay] = nodes.roots;
    assert.ok(pay?.kind === 'epic');
    assert.deepEqual([pay.done, pay.total], [1, 2]);

    const one = new StoryNodes(FOLDER, 'shop');
    one.update(
      facts([
        { id: 'A', epic: 'Pay' },
        { id: 'B', epic: 'Pay' },
      ]),
    );
    assert.deepEqual(outline(one.roots), ['A', 'B']);
  });

  test('are redrawn one by one: a change affects one line, the others stay the same objects', () => {
    const nodes = new StoryNodes(FOLDER, 'shop');
    const many = Array.from({ length: 5000 }, (_, i) => ({
      id: `S${i}`,
      acceptanceCriteria: ['works'],
      passes: i < 100,
    }));
    nodes.update(facts(many));
    const before = [...nodes.roots];
    assert.deepEqual(nodes.update(facts(many)), { isRearranged: false, changed: [] });
    const { isRearranged, changed } = nodes.update(
      facts(many.map((entry, i) => (i === 3000 ? { ...entry, title: 'Other' } : entry))),
    );
    assert.equal(isRearranged, false);
    assert.deepEqual(outline(changed), ['S3000']);
    assert.ok(nodes.roots.every((node, index) => node === before[index]));
  });

  test('have criteria and then commits as children, with ticks if the file has them', () => {
    const nodes = new StoryNodes(FOLDER, 'shop');
    nodes.update(
      facts([{ id: 'A', acceptanceCriteria: ['plain', { text: 'ticked', passes: true }] }]),
    );
    const children = childrenOf(nodes.roots[0] as StoryTreeNode);
    assert.deepEqual(
      children.map(node => node.kind === 'criterion' && [node.criterion.text, node.criterion.done]),
      [
        ['plain', undefined],
        ['ticked', true],
      ],
    );
  });

  test('are filtered by state and text, with their epics', () => {
    const nodes = new StoryNodes(FOLDER, 'shop');
    const stories = [
      { id: 'A', epic: 'Pay', title: 'Pay by card' },
      { id: 'B', epic: 'Browse', passes: true },
      { id: 'C', epic: 'Pay', title: 'Pay by invoice', dependsOn: ['A'] },
    ];
    nodes.update(facts(stories, { filter: { states: new Set(['waiting']), text: '' } }));
    assert.deepEqual(outline(nodes.roots), [['Pay', 'C']]);
    assert.equal(nodes.allStories.length, 3);
    nodes.update(facts(stories, { filter: { states: new Set(), text: 'CARD pay' } }));
    assert.deepEqual(outline(nodes.roots), [['Pay', 'A']]);
    assert.equal(nodes.update(facts(stories)).isRearranged, true);
    assert.deepEqual(outline(nodes.roots), [
      ['Pay', 'A', 'C'],
      ['Browse', 'B'],
    ]);
  });

  test('ignore runs of another list', () => {
    const nodes = new StoryNodes(FOLDER, 'shop');
    const run = over('failed');
    const stateOf = (storyFile: string) => {
      const stories = [{ id: 'US-001', title: 'Story number 1' }];
      nodes.update(facts(stories, { run, states: [run.state] }, storyFile));
      return nodes.allStories[0]?.state.kind;
    };
    assert.equal(stateOf('.omc/prd.json'), 'failed');
    assert.equal(stateOf('plans/prd.json'), 'next');
  });

  test('include a count of what needs the person', () => {
    const needing = (name: string) => {
      const nodes = new StoryNodes(FOLDER, 'shop');
      const run = over(name, { type: 'iteration.ended', iteration: 1 });
      const stories = [1, 2].map(n => ({ id: `US-00${n}`, title: `Story number ${n}` }));
      nodes.update(facts(stories, { run, states: [run.state] }, '.omc/prd.json'));
      return nodes.needingUser;
    };
    assert.equal(needing('failedThenSkipped'), 1);
    assert.equal(needing('stuckSkipped'), 1);
    assert.equal(needing('severalStories'), 0);
  });

  test('show a broken file as a line of its own, and the folder says so', () => {
    const nodes = new StoryNodes(FOLDER, 'shop');
    nodes.update(facts([{ id: 'A' }], { hasFolderLine: true }));
    assert.equal(nodes.line.summary.state, 'open');
    const file = parseStoryFile(path.join(FOLDER, 'prd.json'), '{');
    const changes = nodes.update(facts([], { file, hasFolderLine: true }));
    assert.deepEqual(outline(nodes.roots), ['problem']);
    assert.equal(nodes.line.summary.state, 'broken');
    assert.equal(changes.isRearranged, true);
  });
});

test('story files are found in usual places, but not in code of others', async () => {
  const folder = await mkdtemp(path.join(tmpdir(), 'ralph-fresh-files-'));
  try {
    for (const place of [
      'prd.json',
      '.omc/prd.json',
      '.omc/archive/old/prd.json',
      'packages/api/prd.json',
      'node_modules/thing/prd.json',
      'a/b/c/d/e/f/g/prd.json',
    ]) {
      await mkdir(path.dirname(path.join(folder, place)), { recursive: true });
      await writeFile(path.join(folder, place), '{"userStories":[{"id":"A","passes":false}]}');
    }
    await writeFile(path.join(folder, 'PLAN.md'), '- [ ] Something\n');
    assert.deepEqual(
      (await findStoryFiles(folder)).map(file => path.relative(folder, file).replaceAll('\\', '/')),
      ['.omc/prd.json', 'prd.json', 'PLAN.md', 'packages/api/prd.json'],
    );
  } finally {
    await rm(folder, { recursive: true });
  }
});
