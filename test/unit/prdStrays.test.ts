import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { parseStoryFile } from '../../src/orchestrator/stories/storyFile.ts';

const story = (id: string | number, more: object = {}) => ({
  ...{ id, title: `Do ${id}`, passes: false },
  ...more,
});
const read = [story('B', { passes: true })];

/** The line and the first sentence of each problem. */
function told(root: object): string[] {
  const file = parseStoryFile('prd.json', JSON.stringify(root, null, 1));
  assert.ok(file.kind === 'stories', JSON.stringify(file));
  return file.problems.map(
    ({ line, message }) => `${line} ${englishOf(message).replace(/\. (?:Only|Write) .*/s, '')}`,
  );
}

describe('stories of a prd.json next to the list that is read are problems with their lines', () => {
  test('in a list of an object, before it and after it', () => {
    for (const [key, inner] of [
      ['project', 'userStories'],
      ['prd', 'tasks'],
      ['feature', 'backlog'],
      ['ui', 'forms'],
    ] as const) {
      const value = { [inner]: [story('B'), story('A')] };
      const words = `Entries in "${key}.${inner}" that are not read: 1`;
      const own = { [inner]: [story('A'), ...read] };
      assert.deepEqual(told({ [key]: own, userStories: read }), [`4 ${words}`]);
      assert.deepEqual(told({ userStories: read, [key]: value }), [`16 ${words}`]);
    }
    const bare = [{ id: 'A', title: 'a' }];
    assert.deepEqual(told({ userStories: read, project: { userStories: bare } }), [
      '11 Entries in "project.userStories" that are not read: 1',
    ]);
    const phases = [{ stories: [story('A')] }, { name: 'Two', stories: [story('C')] }];
    assert.deepEqual(told({ userStories: read, prd: { project: { phases } } }), [
      '14 Entries in "prd.project.phases" that are not read: 2',
    ]);
    assert.deepEqual(told({ userStories: read, phases: { one: { tasks: [story('A')] } } }), [
      '12 Entries in "phases.one.tasks" that are not read: 1',
    ]);
  });

  test('as the values of an object, or as an object', () => {
    for (const [key, value] of [
      ['moreStories', { A: { title: 'a', passes: false } }],
      ['more_tasks', { A: { description: 'a', status: 'open' }, C: { status: 'x' } }],
      ['ui', { A: { title: 'a', dependsOn: ['B'] }, B: { title: 'b', status: 'open' } }],
      ['A', { title: 'a', passes: false, steps: ['x'] }],
    ] as const) {
      assert.deepEqual(told({ userStories: read, [key]: value }), [
        `9 Stories in "${key}" that are not read, because it is an object: 1`,
      ]);
    }
  });

  test('in groups of groups, and as children of epics', () => {
    const features = [{ id: 'F', name: 'f', stories: [story('A')] }];
    for (const epic of [{ features }, { children: [story('B'), story('A')] }]) {
      const [only, ...others] = told({ userStories: read, epics: [{ id: 'E', ...epic }] });
      assert.match(only ?? '', /^\d+ Entries in "epics" that are not read: 1$/);
      assert.deepEqual(others, []);
    }
  });

  test('with the number of another story', () => {
    const userStories = [story(1)];
    assert.deepEqual(told({ userStories, bugs: [story(1), story(1, { title: 'Crash' })] }), [
      '15 Entries in "bugs" that are not read: 1',
    ]);
    assert.deepEqual(
      told({ userStories, order: { 1: story(1), 2: { id: 1, passes: false } } }),
      [],
    );
  });

  test('without a state below a key of stories, unless they are finished', () => {
    const bare = [{ id: 'X', title: 'x' }, { id: 'Y', title: 'y', done: false }, { title: 'z' }];
    for (const key of ['backlog', 'nextTasks', 'open_bugs']) {
      assert.deepEqual(told({ userStories: read, [key]: bare }), [
        `10 Entries in "${key}" that are not read: 2`,
      ]);
    }
    for (const key of ['completedTasks', 'notes']) {
      assert.deepEqual(told({ userStories: read, [key]: bare }), []);
    }
    // Of the product, but for the one that says that it is open.
    assert.deepEqual(told({ userStories: read, coreFeatures: bare }), [
      '14 Entries in "coreFeatures" that are not read: 1',
    ]);
  });

  test('in lists "items" and "features" of a story', () => {
    for (const key of ['items', 'features']) {
      assert.deepEqual(told({ userStories: [story('B', { [key]: [story('B1')] })] }), [
        `8 Entries in "${key}" of B that are not read: 1`,
      ]);
    }
  });

  test('but settings, agents, counts, groups and archives are none', () => {
    const check = { name: 'lint', status: 'pending' };
    for (const other of [
      {
        metadata: { status: 'draft', title: 't', agents: [{ name: 'a', status: 'active' }] },
        project: { name: 'Shop', status: 'active' },
        config: { tasks: [{ id: 'build', name: 'Build' }], features: [{ id: 'f', title: 'x' }] },
        checks: { lint: check, all: { list: [check] } },
      },
      {
        summary: { total: 3, completed: 1, phase1: { name: 'P', status: 'pending' } },
        statistics: { stories: { total: 3, passed: 1 } },
        dependencies: { react: { name: 'react', status: 'installed' } },
        agents: { coder: { name: 'c', status: 'active', tasks: ['B'] } },
      },
      { archive: { userStories: [story('A', { passes: true })] } },
      { gates: { g: { title: 'Gate', status: 'pending' } } },
    ]) {
      const userStories = [story('B', { passes: true, gate: 'g' })];
      assert.deepEqual(told({ userStories, ...other }), []);
    }
  });
});

test('a prd.json whose only list of stories is in an object says in which one', () => {
  const file = parseStoryFile('prd.json', JSON.stringify({ project: { userStories: read } }));
  assert.ok(file.kind === 'invalid');
  assert.match(englishOf(file.problems[0].message), /^The stories are nested in "project", which /);
});
