import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fileOf, filesIn, writeBacklog } from '../support/backlogFolder.ts';
import { type RunningCli, type Step, Workspace } from '../support/ralph.ts';
import { inAll } from '../support/variants.ts';

const TASKS = [
  { id: 'task-1', title: 'Model', criteria: ['It works'] },
  { id: 'task-2', title: 'Prices', dependencies: ['task-1'] },
  { id: 'task-3', title: 'Mails' },
];
const placeOf = (task: { readonly id: string; readonly title: string }) =>
  `backlog/tasks/${fileOf(task)}`;
const [FIRST = '', SECOND = '', THIRD = ''] = TASKS.map(placeOf);

async function backlog(t: TestContext): Promise<Workspace> {
  const workspace = await Workspace.create(t, { stories: undefined });
  await writeBacklog(path.join(workspace.folder, 'backlog'), TASKS);
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'Tasks');
  return workspace;
}

/** An agent that does its task, ticks it in its file, and commits both. */
function work(id: string, place: string): readonly Step[] {
  return [
    { shell: `echo ${id} > ${id}.txt` },
    { replace: [place, 'status: To Do', 'status: Done'] },
    { replace: [place, '- [ ] #1', '- [x] #1'] },
    { commit: `feat: ${id}` },
    { result: ['Done.'] },
  ];
}

const WORKS = {
  'task-1': [work('task-1', FIRST)],
  'task-2': [work('task-2', SECOND)],
  'task-3': [work('task-3', THIRD)],
};

/** One iteration in which the agent of the first task tampers, and does its task. */
async function tampered(t: TestContext, ...steps: readonly Step[]): Promise<Workspace> {
  const workspace = await backlog(t);
  await finish(
    workspace.scriptOf(
      { 'task-1': [[...steps, ...work('task-1', FIRST)]] },
      '--max-iterations',
      '1',
    ),
    1,
  );
  return workspace;
}

async function finish(cli: RunningCli, expected = 0): Promise<string> {
  const { code, stderr, stdout } = await cli.finished;
  assert.equal(code, expected, stdout + stderr);
  return stdout;
}

const kinds = async (workspace: Workspace) =>
  (await workspace.events('guard.found')).map(({ changes, restored }) => ({
    changes: changes.map(({ kind, storyId }) => `${kind} ${storyId}`),
    restored,
  }));

describe('a folder of Backlog.md', { concurrency: 2 }, () => {
  test('a whole run, without --file', async t => {
    const workspace = await backlog(t);

    const stdout = await finish(workspace.scriptOf(WORKS));

    assert.match(stdout, /COMPLETE after 3 iterations/);
    assert.deepEqual(await kinds(workspace), []);
    for (const place of [FIRST, SECOND, THIRD]) {
      assert.match(await workspace.read(place), /^status: Done$/m);
    }
    assert.match(await workspace.read(FIRST), /- \[x\] #1 It works/);
    assert.match(await workspace.prompt(1), new RegExp(`start with .*${path.basename(FIRST)}`));
    assert.equal(workspace.git('status', '--short'), '');
  });

  test('three lanes: each task lands with its own file, and nothing else of the folder', async t => {
    const workspace = await backlog(t);
    const three = [...TASKS, { id: 'task-4', title: 'Search' }, { id: 'task-5', title: 'Help' }];
    await writeBacklog(path.join(workspace.folder, 'backlog'), three);
    workspace.git('add', '-A');
    workspace.git('commit', '--quiet', '-m', 'More tasks');
    const works = three.map(task => [
      task.id,
      [
        [
          // Not the agent's to change: it does not land.
          { replace: ['backlog/config.yml', 'Shop', task.id] },
          { append: [placeOf(task), '\n## Implementation Notes\n\nOf the agent\n'] },
          ...work(task.id, placeOf(task)),
        ] as readonly Step[],
      ],
    ]);

    const stdout = await finish(workspace.scriptOf(Object.fromEntries(works), '--lanes', '3'));

    assert.match(stdout, /COMPLETE after 5 iterations/);
    assert.deepEqual(await workspace.events('landing.returned'), []);
    assert.equal(workspace.git('status', '--short'), '');
    assert.match(await workspace.read('backlog/config.yml'), /"Shop"/);
    assert.match(await workspace.prompt(1), /only the mark that your story is done is taken over/);
    for (const task of three) {
      const place = placeOf(task);
      const text = await workspace.read(place);
      assert.match(text, /^status: Done$/m);
      assert.doesNotMatch(text, /Of the agent/);
      assert.deepEqual(
        workspace
          .git(
            'log',
            '-m',
            '--first-parent',
            '--format=',
            '--name-only',
            '-z',
            `--grep=feat: ${task.id}`,
          )
          .split('\0')
          .filter(name => name !== '' && name !== '\n')
          .map(name => name.trim())
          .sort(),
        [place, `${task.id}.txt`].sort(),
      );
    }
  });

  inAll(test)('lanes with a folder that git does not track', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await writeBacklog(path.join(workspace.folder, 'backlog'), TASKS);
    await workspace.write('.git/info/exclude', 'backlog\n');

    await finish(workspace.scriptOf(WORKS, '--lanes', '2'));

    for (const place of [FIRST, SECOND, THIRD]) {
      assert.match(await workspace.read(place), /^status: Done$/m);
    }
    assert.deepEqual(await workspace.events('landing.returned'), []);
    assert.equal(workspace.git('status', '--short'), '');
  });

  test("a person's uncommitted ticks and notes in other tasks do not keep work from landing", async t => {
    const workspace = await backlog(t);
    await finish(workspace.cli('tick', 'task-3'));

    const stdout = await finish(workspace.scriptOf(WORKS, '--lanes', '2'));

    assert.doesNotMatch(stdout, /held/);
    for (const place of [FIRST, SECOND, THIRD]) {
      assert.match(await workspace.read(place), /^status: Done$/m);
    }
    assert.equal(workspace.git('log', '--oneline').split('\n').length, 4);
  });

  test('ticking and unticking on the command line restores every byte', async t => {
    const workspace = await backlog(t);
    const before = await filesIn(path.join(workspace.folder, 'backlog'));

    for (const { id } of TASKS) {
      await finish(workspace.cli('tick', id));
      const now = await filesIn(path.join(workspace.folder, 'backlog'));
      assert.deepEqual(
        Object.keys(now)
          .filter(file => now[file] !== before[file])
          .map(file => file.split(' ')[0]),
        [`tasks/${id}`],
      );
      await finish(workspace.cli('untick', id));
      assert.deepEqual(await filesIn(path.join(workspace.folder, 'backlog')), before);
    }
  });

  test('stories and doctor name the file of a problem and its line there', async t => {
    const workspace = await backlog(t);
    await workspace.write(THIRD, (await workspace.read(THIRD)).replace('To Do', 'Nearly'));

    const { code, stdout } = await workspace.cli('stories').finished;
    assert.equal(code, 0);
    assert.match(stdout, /tasks\/task-3 - Mails\.md, line 4: The status "Nearly"/);
    const data = JSON.parse(await finish(workspace.cli('stories', '--json')));
    assert.deepEqual([data.format, data.problems[0].file], ['backlog', 'tasks/task-3 - Mails.md']);
    const doctor = await workspace.cli('doctor').finished;
    assert.match(doctor.stdout, /tasks\/task-3 - Mails\.md:4\. The status "Nearly"/);
    assert.match(await finish(workspace.cli('next')), /task-1/);
    assert.match(await finish(workspace.cli('next', '--file', 'backlog/tasks')), /task-1/);
  });

  test('an id that two tasks share cannot be ticked, and the files of both are named', async t => {
    const workspace = await backlog(t);
    const second = await workspace.read(SECOND);
    await workspace.write(SECOND, second.replace('id: task-2', 'id: task-1'));
    const before = await filesIn(path.join(workspace.folder, 'backlog'));

    const { code, stderr } = await workspace.cli('tick', '1').finished;
    assert.equal(code, 1);
    assert.match(
      stderr,
      /2 stories with the id task-1 \(tasks\/task-1 - Model\.md, tasks\/task-2 - Prices\.md\): give each an id/,
    );
    assert.deepEqual(await filesIn(path.join(workspace.folder, 'backlog')), before);
  });

  test('the example for a value that cannot be read keeps its text, or there is none', async t => {
    const workspace = await backlog(t);
    const long = `Prices of ${'all '.repeat(20)}plants`;
    const read =
      'The value of "title" cannot be read, so it does not count. Write it with a quotation mark';
    for (const [title, example] of [
      [`"${long}`, `"${long}"`],
      ['"Say "hi" now"', '"Say \\"hi\\" now"'],
      ['[WIP] Fix', '"[WIP] Fix"'],
      ['"Say "hi"', undefined],
      ["'It's'", undefined],
      ['"Prices # of plants', undefined],
      [`"${long.repeat(3)}`, undefined],
    ] as const) {
      const text = `---\nid: task-1\ntitle: ${title}\nstatus: To Do\n---\n`;
      await workspace.write(FIRST, text);
      const { stdout } = await workspace.cli('stories').finished;
      const told = stdout.split('\n').find(line => line.includes(read)) ?? stdout;
      assert.ok(
        told.endsWith(
          example === undefined ? 'or backslash inside.' : `such as: title: ${example}`,
        ),
        told,
      );
    }
  });

  test('a task whose dependencies cannot be read is named, and no agent gets it', async t => {
    const workspace = await backlog(t);
    const broken = (await workspace.read(FIRST)).replace(
      'dependencies: []',
      'dependencies: [task-3',
    );
    await workspace.write(FIRST, broken);

    const place = /tasks\/task-1 - Model\.md, line 8: The dependencies cannot be read/;
    const stories = await workspace.cli('stories').finished;
    assert.match(stories.stdout, place);
    assert.match((await workspace.cli('doctor').finished).stdout, place);
    assert.match(await finish(workspace.cli('next')), /task-3/);
    await finish(workspace.cli('tick', 'task-3'));
    assert.match(
      await finish(workspace.cli('next')),
      /^No story is ready: all remaining ones wait/,
    );
    assert.equal(await workspace.read(FIRST), broken);
  });

  test('the guard undoes what an agent does to other tasks, and keeps changes to its own', async t => {
    const workspace = await tampered(
      t,
      { replace: [THIRD, 'status: To Do', 'status: Done'] },
      { delete: SECOND },
      { append: [FIRST, '\n## Implementation Notes\n\nMine.\n'] },
    );

    const [found] = await kinds(workspace);
    assert.equal(found?.restored, true);
    assert.deepEqual([...(found?.changes ?? [])].sort(), [
      'storyRemoved task-2',
      'tickedOther task-3',
    ]);
    assert.match(await workspace.read(SECOND), /^status: To Do$/m);
    assert.match(await workspace.read(THIRD), /^status: To Do$/m);
    assert.match(await workspace.read(FIRST), /^status: Done$/m);
    assert.match(await workspace.read(FIRST), /Mine\./);
  });

  for (const [what, steps, kind] of [
    ['the whole folder', [{ rename: ['backlog', 'elsewhere'] }], 'fileGone'],
    ['the folder of the tasks', [{ rename: ['backlog/tasks', 'elsewhere'] }], 'fileBroken'],
    [
      'a file in its place',
      [{ rename: ['backlog', 'elsewhere'] }, { write: ['backlog', 'x'] }],
      'fileReplaced',
    ],
    [
      'a link in its place',
      [{ rename: ['backlog', 'elsewhere'] }, { link: ['backlog', '/tmp'] }],
      'fileReplaced',
    ],
    ['a pipe instead of a task', [{ delete: SECOND }, { pipe: SECOND }], 'storyRemoved'],
    [
      'a link instead of a task',
      [{ delete: SECOND }, { link: [SECOND, '/etc/passwd'] }],
      'storyRemoved',
    ],
    [
      'settings in which everything is done',
      [{ write: ['backlog/config.yml', 'statuses: ["Open", "To Do"]\n'] }],
      'tickedOther',
    ],
  ] as const) {
    test(`the guard restores the tasks: ${what}`, async t => {
      const workspace = await backlog(t);
      const before = await filesIn(path.join(workspace.folder, 'backlog'));
      await finish(
        workspace.scriptOf(
          { 'task-1': [[...steps, { result: ['Done.'] }]] },
          ...['--max-iterations', '1'],
        ),
        1,
      );

      const [found] = await workspace.events('guard.found');
      assert.equal(found?.restored, true);
      assert.ok(
        found?.changes.some(change => change.kind === kind),
        JSON.stringify(found),
      );
      // By the restored settings, the agent has not marked its own task either.
      assert.deepEqual(await filesIn(path.join(workspace.folder, 'backlog')), before);
      const [ended] = await workspace.events('iteration.ended');
      assert.notEqual(ended?.outcome, 'storyDone');
      assert.ok((await lstat(path.join(workspace.folder, 'backlog'))).isDirectory());
      assert.ok(
        (await readdir(path.join(workspace.folder, 'backlog/tasks'))).every(name =>
          name.endsWith('.md'),
        ),
      );
    });
  }

  for (const lanes of [[], ['--lanes', '2']]) {
    test(`a task is reverted: its commit and its tick ${lanes.join(' ')}`, async t => {
      const workspace = await backlog(t);
      await finish(workspace.scriptOf(WORKS, ...lanes));

      await finish(workspace.cli('revert', '3'));

      assert.match(await workspace.read(THIRD), /^status: To Do$/m);
      assert.match(await workspace.read(FIRST), /^status: Done$/m);
      assert.ok(!existsSync(path.join(workspace.folder, 'task-3.txt')));
      assert.equal(workspace.git('status', '--short'), '');
    });
  }

  test('a run is rolled back although a tick is not committed', async t => {
    const workspace = await backlog(t);
    await finish(workspace.scriptOf(WORKS));
    await finish(workspace.cli('untick', 'task-3'));

    await finish(workspace.cli('rollback', '1'));

    for (const place of [FIRST, SECOND, THIRD]) {
      assert.match(await workspace.read(place), /^status: To Do$/m);
    }
    assert.equal(workspace.git('status', '--short'), '');
  });

  test('a claim that the checks refuse is undone in its file', async t => {
    const workspace = await backlog(t);
    await finish(
      workspace.scriptOf(
        { 'task-1': [work('task-1', FIRST)] },
        ...['--max-iterations', '1', '--verify', 'false'],
      ),
      1,
    );

    assert.match(await workspace.read(FIRST), /^status: To Do$/m);
    assert.ok(existsSync(path.join(workspace.folder, 'task-1.txt')));
  });
});
