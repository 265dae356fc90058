import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { doneMark } from '../../src/orchestrator/stories/edit/doneMark.ts';
import { editStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import { packFolder } from '../../src/orchestrator/stories/formats/folderText.ts';
import { parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';

/** What the agent of this story is told to write. */
function markOf(path: string, content: string | Buffer, id: string): string | undefined {
  const parsed = parseStoryText(path, content);
  assert.ok(parsed.file.kind === 'stories', JSON.stringify(parsed.file));
  const story = parsed.file.stories.find(one => one.id === id);
  assert.ok(story, JSON.stringify(parsed.file.stories));
  return doneMark(parsed, story);
}

const TASK_MASTER = JSON.stringify(
  {
    master: {
      tasks: [
        {
          ...{ id: 2, title: 'Plant', status: 'pending', testStrategy: '' },
          subtasks: [{ id: 1, title: 'Beans', status: 'pending', passes: true }],
        },
      ],
    },
  },
  null,
  2,
);
const SPRINT = 'development_status:\n  epic-1: in-progress\n  1-2-log-in: ready-for-dev # soon\n';

describe('what an agent writes when its story is done', () => {
  for (const [name, path, text, id, expected] of [
    ['Task Master', '.taskmaster/tasks/tasks.json', TASK_MASTER, '2.1', '"status": "done"'],
    [
      ...['Beads', '.beads/issues.jsonl'],
      ...['{"id":"b-1","title":"Dig","status":"open","priority":1}\n', 'b-1', '"status": "closed"'],
    ],
    [
      ...['a task graph', '.ralph/tasks.jsonl'],
      ...['{"id":"t-1","title":"Dig","status":"ready"}\n', 't-1', '"status": "done"'],
    ],
    [
      'ralphy',
      'tasks.yaml',
      'tasks:\n  - title: Dig\n    completed: false\n',
      '#1',
      'completed: true',
    ],
    ['prd', 'prd.json', '[{"id": "1", "passes": false}]', '1', '"passes": true'],
    ['prd without a key', 'prd.json', '[{"id": "1", "title": "Dig"}]', '1', '"passes": true'],
    [
      ...['prd with two keys', 'prd.json'],
      ...[
        '[{"id": "1", "passes": false, "status": "open"}]',
        '1',
        '"passes": true, "status": "closed"',
      ],
    ],
    ['a plan', 'PLAN.md', '- [ ] T1: Dig [a]\n', 'T1', '[x]'],
    ['a plan with capitals', 'PLAN.md', '- [X] T0: Do\n- [ ] T1: Dig\n', 'T1', '[X]'],
    [
      ...['an orchestration', '.claude/orchestration/a.yaml'],
      ...['phases:\n  - tasks:\n      - {id: a, status: pending}\n', 'a', 'status: completed'],
    ],
    [
      ...['an orchestration with a word of its own', 'a.yaml'],
      ...[
        'tasks:\n- id: a\n  status: done # ok\n- id: b\n  status: pending # no\n',
        'b',
        'status: done',
      ],
    ],
    ['BMAD', 'sprint-status.yaml', SPRINT, '1-2-log-in', 'done'],
  ] as [string, string, string, string, string][]) {
    test(`in ${name}`, () => {
      assert.equal(markOf(path, text, id), expected);
      const ticked = parseStoryText(path, editStoryDone(text, { id }, true, path));
      assert.ok(ticked.file.kind === 'stories');
      assert.equal(ticked.file.stories.find(one => one.id === id)?.done, true);
    });
  }

  test('in Backlog.md, with the word of its settings', () => {
    const folder = packFolder({
      files: new Map([
        ['config.yml', Buffer.from('statuses: ["To Do", "Erledigt"]\n')],
        [
          'tasks/task-1 - Dig.md',
          Buffer.from('---\nid: task-1\ntitle: Dig\nstatus: To Do\n---\nstatus: no\n'),
        ],
      ]),
      completed: [],
      unread: [],
    });
    assert.equal(markOf('backlog', folder, 'task-1'), 'status: Erledigt');
  });

  test('nothing, if it is done', () => {
    assert.equal(markOf('prd.json', '[{"id": "1", "passes": true}]', '1'), undefined);
  });
});

test('in Task Master, only the status decides, whatever an agent has added', () => {
  const path = '.taskmaster/tasks/tasks.json';
  const { file } = parseStoryText(path, TASK_MASTER);
  assert.ok(file.kind === 'stories');
  assert.deepEqual(
    file.stories.map(({ done }) => done),
    [false, false],
  );
  assert.equal(
    editStoryDone(TASK_MASTER, { id: '2.1' }, true, path),
    TASK_MASTER.replace(/("Beans",\s+"status": )"pending"/, '$1"done"'),
  );
});
