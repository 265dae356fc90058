import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { addToText } from '../../src/orchestrator/stories/edit/addStory.ts';
import { packFolder } from '../../src/orchestrator/stories/formats/folderText.ts';
import { backlogTask, fileOf } from '../support/backlogFolder.ts';

const NEW = { id: 'DISC-12345678-3-1', title: 'Limit the log in', why: 'five tries', from: 'x-1' };

describe('the number of a new story is none', () => {
  test('that a task of Task Master waits for, in its own tag', () => {
    const task = (id: number, dependencies: readonly unknown[], rest: object = {}) => ({
      ...{ id, title: `Task ${id}`, status: 'pending', dependencies, subtasks: [], ...rest },
    });
    const path = '.taskmaster/tasks/tasks.json';
    const subtasks = [{ id: 1, title: 'Part', status: 'pending', dependencies: [2, '5.1'] }];
    for (const [tags, id] of [
      [{ master: { tasks: [task(1, []), task(2, [1, 3])] } }, '4'],
      [{ master: { tasks: [task(1, []), task(2, [1], { subtasks })] } }, '6'],
      [{ master: { tasks: [task(1, [])] }, shop: { tasks: [task(1, [7])] } }, '2'],
      [
        { master: { tasks: [task(1, [9], { status: 'done' })] }, shop: { tasks: [task(1, [7])] } },
        'shop/8',
      ],
    ] as const) {
      assert.equal(addToText(path, JSON.stringify(tags), NEW).storyId, id);
    }
  });

  test('that a task of Backlog.md waits for, or is a part of', () => {
    const folder = (more: object) => {
      const task = { id: 'task-2', title: 'Cart', ...more };
      const files = new Map([[`tasks/${fileOf(task)}`, Buffer.from(backlogTask(task))]]);
      return packFolder({ files, completed: [], unread: [] });
    };
    for (const [more, id] of [
      [{ dependencies: ['task-3'] }, 'task-4'],
      [{ dependencies: ['TASK-007.2'] }, 'task-8'],
      [{ more: ['parent_task_id: task-5'] }, 'task-6'],
      [{ more: ['references: [task-9]'] }, 'task-3'],
    ] as const) {
      assert.equal(addToText('/w/backlog', folder(more), NEW).storyId, id);
    }
  });

  test('that a plan names anywhere, or has struck through', () => {
    const specKit = 'specs/001/tasks.md';
    for (const [text, id] of [
      ['- [ ] T001 Cart (after T012)\n', 'T013'],
      ['- [ ] T001 Cart\n\nRun T003 and T004 together.\n<!-- T007 was dropped -->\n', 'T008'],
      ['- [ ] T001 Cart\n- [ ] ~~T012 [US1] Dropped~~\n', 'T013'],
      ['- [ ] T001 Show T-2024, T1 and XT0099\n', 'T002'],
    ] as const) {
      assert.equal(addToText(specKit, text, NEW).storyId, id, text);
    }
    const change = 'openspec/changes/a/tasks.md';
    assert.equal(
      addToText(change, '## 2. Cart\n\n- [ ] 2.1 Show 2.9\n- ~~2.4 Old~~\n', NEW).storyId,
      '2.5',
    );
    const kiro = '.kiro/specs/a/tasks.md';
    const numbered = '- [ ] 1. Cart\n  - _Requirements: 7.1_\n- [ ] ~~2. Old~~\n';
    assert.equal(addToText(kiro, numbered, NEW).storyId, '3');
  });

  test('that a story without an id waits for by its place', () => {
    for (const need of [2, '#2']) {
      const list = JSON.stringify([{ title: 'A', dependsOn: [need], passes: false }]);
      assert.equal(addToText('prd.json', list, { ...NEW, from: undefined }).storyId, NEW.id);
    }
  });
});
