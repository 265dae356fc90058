import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { TARGETS, type Target } from '../../src/orchestrator/stories/convert/conversion.ts';
import { convertStories } from '../../src/orchestrator/stories/convert/convertStories.ts';
import { packFolder } from '../../src/orchestrator/stories/formats/folderText.ts';
import { parseStoryText } from '../../src/orchestrator/stories/storyFile.ts';
import { lossLines } from '../../src/presentation/conversionLosses.ts';
import { english } from '../../src/presentation/translate.ts';

/** The keys that a conversion names as lost, as people read them. */
function lostKeys(path: string, source: unknown, target: Target): string[] {
  const text = typeof source === 'string' ? source : JSON.stringify(source);
  const parsed = parseStoryText(path, text);
  const { file } = parsed;
  assert.ok(file.kind === 'stories', JSON.stringify(file.problems));
  const { losses } = convertStories({ ...parsed, file }, target, new Date(0));
  return lossLines(
    losses.filter(loss => loss.kind === 'fileKeys' || ('fact' in loss && loss.fact === 'keys')),
    english,
  );
}

function everywhere(path: string, source: unknown, lines: readonly string[]): void {
  for (const target of TARGETS) {
    assert.deepEqual(lostKeys(path, source, target), lines, target);
  }
}

describe('keys of phases', () => {
  test('that its tasks do not say are named, and so is a second list', () => {
    const yaml = `phases:
  - id: P1
    name: One
    number: 1
    status: pending
    gate: All tests pass
    owner: bob
    notes: ''
    tasks:
      - {id: a, name: A, status: pending}
    review:
      - {id: RV, name: Review, status: pending}
  - phase: P2
    description: |
      Words.
    depends_on: [P1]
    status: in_progress
    tasks:
      - {id: b, name: B, status: pending}
`;
    everywhere('p.yaml', yaml, [
      'keys of the file: phases.gate, phases.owner, phases.review, phases.description, phases.status',
    ]);
  });

  test('are none if the tasks say them', () => {
    const yaml = `phases:
  - id: P1
    name: One
    number: 1
    status: completed
    tasks:
      - {id: a, name: A, status: completed}
  - id: P2
    name: Two
    depends_on: P1
    status: pending
    tasks:
      - {id: b, name: B, status: pending}
`;
    everywhere('p.yaml', yaml, []);
    everywhere('p.yaml', 'tasks:\n  - {id: b, name: B, status: pending}\n', []);
  });

  test('are all named if nothing of the phase is left', () => {
    const yaml = `phases:
  - name: One
    tasks:
      - {id: a, name: A, status: pending}
  - name: Later
    tasks: []
`;
    everywhere('p.yaml', yaml, ['keys of the file: phases.name']);
  });
});

describe('a value that is not read', () => {
  test('is named with its key in a prd.json', () => {
    const story = {
      ...{ id: 'A', title: 'A', acceptanceCriteria: ['x'], priority: 'urgent', effort: 'S' },
      ...{ model: 'gpt 4', maxTurns: 'many', passes: 'yes' },
    };
    everywhere('prd.json', { userStories: [story] }, [
      'other keys (priority, effort, model, maxTurns, passes): A',
    ]);
    const others = { dependsOn: [{ name: 'B' }], discoveredFrom: ['B'], parked: 'true', id: true };
    everywhere(
      'prd.json',
      [{ title: 'A', passes: false, ...others }],
      ['other keys (dependsOn, discoveredFrom, parked, id): #1'],
    );
  });

  test('is named with its key in YAML', () => {
    const yaml = `phases:
  - name: One
    tasks:
      - id: T1
        name: A
        priority: urgent
        model: "gpt 4"
        effort: 3
        passes: yes
        blocked_by: [{task: T2}]
      - {id: T2, name: B, status: pending}
`;
    everywhere('p.yaml', yaml, ['other keys (priority, model, effort, passes, blocked_by): T1']);
  });

  test('is none if it was read, or says nothing', () => {
    const read = {
      ...{ id: 'A', title: 'A', priority: 'P1', effort: ' High', model: 'opus', maxTurns: 4 },
      ...{ passes: false, status: 'pending', dependsOn: ['B', null], discoveredFrom: 'B' },
    };
    const empty = {
      ...{ id: 'B', title: 'B', priority: null, effort: '', model: ' ', maxTurns: null },
      ...{ passes: null, status: 'in_progress', dependsOn: [], discoveredFrom: '', notes: ' ' },
    };
    const done = { id: 'C', title: 'C', passes: true, status: 'done', parked: true, priority: 2 };
    everywhere('prd.json', { userStories: [read, empty, done] }, []);
    const yaml = `tasks:
  - {id: "1.10", name: 1.10, priority: high, effort: low, max_turns: 5, completed: false}
  - {id: 2.0, name: B, priority: 3, model: ~, status: blocked, depends_on: 1.10}
`;
    everywhere('p.yaml', yaml, []);
  });

  test('is the second one of keys that decide alone', () => {
    const story = { id: 'A', title: 'A', passes: false, tested: true, maxTurns: 3, max_turns: 4 };
    everywhere('prd.json', [story], ['other keys (tested, max_turns): A']);
  });

  test('is the priority of Backlog.md where the place on the board is read', () => {
    const folder = (ordinal: string) =>
      packFolder({
        files: new Map([
          [
            'tasks/task-1 - T.md',
            Buffer.from(
              `---\nid: task-1\ntitle: T\nstatus: To Do\npriority: high\n${ordinal}dependencies: []\n---\n`,
            ),
          ],
        ]),
        ...{ completed: [], unread: [] },
      }).toString();
    assert.deepEqual(lostKeys('backlog', folder(''), 'prd'), []);
    assert.deepEqual(lostKeys('backlog', folder('ordinal: 1000\n'), 'prd'), [
      'other keys (priority): task-1',
    ]);
  });
});

test('what a task in YAML has from an anchor elsewhere hides no other key of it', () => {
  const task = 'owner: bob\n        commits: ["abc1234567"]\n';
  const yaml = `defaults: &d {model: opus, team: red}
phases:
  - name: One
    tasks:
      - id: T1
        name: A
        <<: *d
        ${task}      - id: T2
        name: B
        model: opus
        ${task}`;
  everywhere('p.yaml', yaml, [
    'other keys (team, owner, commits): T1, T2',
    'keys of the file: defaults',
  ]);
});

test('a task of Task Master has its description from two keys, and its other keys are named also above subtasks', () => {
  const subtask = {
    ...{ id: 1, title: 'Draw', status: 'pending', description: 'Why.', details: 'How.' },
    ...{ testStrategy: 'Look', dependencies: [], owner: 'bob', acceptanceCriteria: ['x'] },
  };
  const task = {
    ...{ id: 1, title: 'Shop', status: 'pending', priority: 'high', description: 'What.' },
    ...{ details: 'So.', testStrategy: 'Try', dependencies: [], passes: false },
  };
  const path = '.taskmaster/tasks/tasks.json';
  everywhere(path, { tasks: [{ ...task, subtasks: [subtask] }] }, [
    'other keys (owner, acceptanceCriteria): 1.1',
  ]);
  const rated = { complexityScore: 7, recommendedSubtasks: 4, expansionPrompt: '' };
  everywhere(path, { tasks: [{ ...task, ...rated, subtasks: [{ id: 1, title: 'Draw' }] }] }, [
    'other keys (complexityScore, recommendedSubtasks): 1',
  ]);
});

describe('keys of criteria', () => {
  const lost = (...acceptanceCriteria: unknown[]) =>
    lostKeys('prd.json', [{ id: 'A', title: 'A', acceptanceCriteria, passes: false }], 'yaml');

  test('besides the text and the state are named', () => {
    assert.deepEqual(lost('s', { text: 't', verify: 'npm run e2e', done: true }), [
      'other keys (acceptanceCriteria.verify): A',
    ]);
    assert.deepEqual(lost({ id: 'AC-7', text: 't', status: 'in_progress' }), [
      'other keys (acceptanceCriteria.id, acceptanceCriteria.status): A',
    ]);
    assert.deepEqual(lost('s', { given: null }), ['other keys (acceptanceCriteria): A']);
  });

  test('are none if they say nothing more', () => {
    assert.deepEqual(
      lost(
        { step: 1, description: 's', passes: null },
        { id: 'AC-2', text: 't', done: false, status: 'pending', verify: '' },
        { criterion: 'u', status: 'done' },
        { given: 'a', result: ['b', 1] },
        null,
      ),
      [],
    );
  });
});
