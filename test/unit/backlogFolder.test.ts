import { strict as assert } from 'node:assert';
import { mkdir, mkdtemp, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach, suite, test } from 'node:test';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { englishOf } from '../../src/base/say.ts';
import { readStoryProblems } from '../../src/orchestrator/stories/diagnosis/readProblems.ts';
import { moveStory, setStoryDone } from '../../src/orchestrator/stories/edit/edit.ts';
import { packFolder, unpackFolder } from '../../src/orchestrator/stories/formats/folderText.ts';
import { findStoryFile, knownSources } from '../../src/orchestrator/stories/knownSources.ts';
import { nextStory } from '../../src/orchestrator/stories/select.ts';
import type { StoryList } from '../../src/orchestrator/stories/story.ts';
import { parseStoryText, readStoryFile } from '../../src/orchestrator/stories/storyFile.ts';
import { folderVersion, readFolder } from '../../src/orchestrator/stories/storyFolder.ts';
import {
  type BacklogTaskText,
  backlogTask,
  filesIn,
  writeBacklog,
} from '../support/backlogFolder.ts';

suite('A folder of Backlog.md', () => {
  let workspace: string;
  let dir: string;

  beforeEach(async () => {
    workspace = await mkdtemp(path.join(tmpdir(), 'ralph-backlog-'));
    dir = path.join(workspace, 'backlog');
  });

  afterEach(async () => {
    await rm(workspace, { recursive: true });
  });

  async function listOf(...tasks: readonly BacklogTaskText[]): Promise<StoryList> {
    await writeBacklog(dir, tasks);
    return list();
  }

  async function list(): Promise<StoryList> {
    const file = await readStoryFile(dir);
    assert.equal(file?.kind, 'stories', JSON.stringify(file?.problems));
    return file as StoryList;
  }

  function nextId(stories: StoryList['stories']): string | undefined {
    const next = nextStory(stories);
    return next.story?.id;
  }

  const problemsOf = ({ problems }: StoryList) =>
    problems.map(
      ({ code, file, line, message }) => `${code} ${file}:${line} ${englishOf(message)}`,
    );

  test('it is found without being named, and each file is a story', async () => {
    const { format, project, stories } = await listOf(
      { id: 'task-1', title: 'Data model', status: 'Done' },
      {
        id: 'task-2',
        title: 'Prices',
        dependencies: ['task-1'],
        criteria: ['Rounds half up', 'Never negative'],
      },
      { id: 'task-10', title: 'Checkout', dependencies: ['TASK-02'], more: ['milestone: Beta'] },
    );

    assert.equal(await findStoryFile(workspace), dir);
    assert.deepEqual([format, project], ['backlog', 'Shop']);
    assert.deepEqual(
      stories.map(({ dependsOn, done, epic, file, id, status, title }) => [
        id,
        title,
        done,
        status,
        dependsOn,
        epic,
        file,
      ]),
      [
        ['task-1', 'Data model', true, 'Done', [], undefined, 'tasks/task-1 - Data-model.md'],
        ['task-2', 'Prices', false, 'To Do', ['task-1'], undefined, 'tasks/task-2 - Prices.md'],
        ['task-10', 'Checkout', false, 'To Do', ['task-2'], 'Beta', 'tasks/task-10 - Checkout.md'],
      ],
    );
    assert.equal(stories[1]?.description, 'What Prices means.');
    assert.deepEqual(stories[1]?.criteria, [
      { text: 'Rounds half up', done: false },
      { text: 'Never negative', done: false },
    ]);
  });

  test('it is found where the settings of the project name it', async () => {
    const settings = (named: string) =>
      writeFile(path.join(workspace, 'backlog.config.yml'), `backlog_directory: ${named}\n`);
    const tracker = path.join(workspace, 'tracker');
    await writeBacklog(dir, [{ id: 'task-1', title: 'Old' }]);
    await writeBacklog(tracker, [{ id: 'task-1', title: 'New' }]);
    await writeBacklog(path.join(workspace, '.backlog'), [{ id: 'task-1', title: 'Hidden' }]);

    await settings("'./tracker/'");
    assert.equal(await findStoryFile(workspace), tracker);
    assert.deepEqual(
      (await knownSources(workspace)).map(({ path: found }) => found),
      [tracker],
    );
    await settings('".backlog"');
    assert.equal(await findStoryFile(workspace), path.join(workspace, '.backlog'));
    await writeFile(path.join(workspace, 'backlog.config.yml'), 'backlogDirectory: tracker\n');
    assert.equal(await findStoryFile(workspace), tracker);
    for (const other of ['../elsewhere', 'nowhere', 'docs/tracker', '/tmp', '1', '[', "''"]) {
      await settings(other);
      assert.equal(await findStoryFile(workspace), dir, other);
    }
  });

  test('a misspelled status is named, and counts as not done', async () => {
    await writeBacklog(dir, [{ id: 'task-1', title: 'A', status: 'Done' }]);
    const file = path.join(dir, 'tasks/task-1 - A.md');
    await writeFile(file, (await readFile(file, 'utf8')).replace('status:', 'staus:'));
    const read = await list();
    assert.equal(read.stories[0]?.done, false);
    assert.match(
      problemsOf(read).join(),
      /^misspelledStatus tasks\/task-1 - A\.md:\d The key "staus" is ignored: rename it to "status"\.$/,
    );
  });

  test('a priority that is no known word is named where it decides', async () => {
    const told = (...more: readonly string[]) =>
      listOf(
        { id: 'task-1', title: 'A', more: ['priority: urgent'] },
        { id: 'task-2', title: 'B', more: ['priority: high'] },
        { id: 'task-3', title: 'C', more: ['priority: urgent'], status: 'Done' },
        { id: 'task-4', title: 'D', more },
      ).then(problemsOf);
    const words =
      'priorityNotNumber tasks/task-1 - A.md:LINE "urgent" is not a priority, so the task runs after all that have one: write high, medium or low.';
    const named = (await told('priority:')).map(text => text.replace(/md:\d+/, 'md:LINE'));
    assert.deepEqual(named, [words]);
    assert.deepEqual(await told('ordinal: 1000'), []);
  });

  test('a misspelled priority is named, unless the task is done', async () => {
    await writeBacklog(dir, [
      { id: 'task-1', title: 'A' },
      { id: 'task-2', title: 'B', status: 'Done' },
    ]);
    for (const name of ['task-1 - A', 'task-2 - B']) {
      const file = path.join(dir, `tasks/${name}.md`);
      const text = (await readFile(file, 'utf8')).replace(/^priority:.*\n/m, '');
      await writeFile(file, text.replace('---\n', '---\nPriority: high\n'));
    }
    assert.deepEqual(problemsOf(await list()), [
      'misspelledKey tasks/task-1 - A.md:2 The key "Priority" is ignored: rename it to "priority".',
    ]);
  });

  test('several ids in one text are to be a list', async () => {
    await writeBacklog(dir, [
      { id: 'task-1', title: 'A' },
      { id: 'task-2', title: 'B' },
      { id: 'task-3', title: 'C' },
    ]);
    const file = path.join(dir, 'tasks/task-3 - C.md');
    const text = (await readFile(file, 'utf8')).replace(/^dependencies:.*\n/m, '');
    for (const ids of ['TASK-1, Task-002', '1; 2']) {
      await writeFile(file, text.replace('---\n', `---\ndependencies: ${ids}\n`));
      assert.match(problemsOf(await list()).join(), /Write a list: \[task-1, task-2\]$/, ids);
    }
    await writeFile(file, text.replace('---\n', '---\ndependencies: task-1, draft-2\n'));
    assert.match(problemsOf(await list()).join(), /which this folder does not have/);
    await writeFile(file, text.replace('---\n', '---\ndependencies: task-1, task-2\n'));
    assert.deepEqual(problemsOf(await list()), [
      'unknownDependency tasks/task-3 - C.md:2 task-3 waits for "task-1, task-2", which is one text with several ids. Write a list: [task-1, task-2]',
    ]);
  });

  test('another key with what a task waits for is reported, and is not read', async () => {
    const read = await listOf(
      { id: 'task-1', title: 'A', more: ['depends_on: [TASK-2]'] },
      { id: 'task-2', title: 'B', more: ['dependancies:', '  - task-1', 'requires: [node]'] },
      { id: 'task-3', title: 'C', dependencies: ['task-1'], more: ['depends_on: [task-2]'] },
      { id: 'task-4', title: 'D', more: ['depends_on: []', 'blocked_by: [x-9]'] },
    );
    assert.deepEqual(problemsOf(read), [
      'misspelledDependency tasks/task-1 - A.md:9 The key "depends_on" is ignored: rename it to "dependencies".',
      'misspelledDependency tasks/task-2 - B.md:9 The key "dependancies" is ignored: rename it to "dependencies".',
    ]);
  });

  test('the last status of the settings that means done decides, and a tick writes it', async () => {
    await writeBacklog(
      dir,
      [
        { id: 'task-1', title: 'A', status: 'Erledigt' },
        { id: 'task-2', title: 'B', status: "'In Arbeit' # since Monday" },
      ],
      'statuses:\n  - "Offen"\n  - "In Arbeit"\n  - "Erledigt"\n',
    );
    const { stories } = await list();
    assert.deepEqual(
      stories.map(({ done }) => done),
      [true, false],
    );

    await setStoryDone(dir, { id: 'task-2' }, true);
    await setStoryDone(dir, { id: 'task-1' }, false);

    const files = await filesIn(dir);
    assert.match(files['tasks/task-2 - B.md'] ?? '', /^status: 'Erledigt' # since Monday$/m);
    assert.match(files['tasks/task-1 - A.md'] ?? '', /^status: Offen$/m);
  });

  test('a word for done that is none of the settings is an unknown status', async () => {
    const tasks = ['Done', 'shipped', 'Merged', 'Doing'].map((status, i) => ({
      ...{ id: `task-${i + 1}`, title: 'A', status },
    }));
    await writeBacklog(dir, tasks, 'statuses: ["To Do", "Doing", "Merged", "Shipped"]\n');
    const found = await list();
    assert.deepEqual(
      found.stories.map(({ done }) => done),
      [false, true, true, false],
    );
    assert.deepEqual(problemsOf(found), [
      'unknownStatus tasks/task-1 - A.md:4 The status "Done" is not one of those in the settings of the backlog (To Do, Doing, Merged, Shipped), so the task counts as not done.',
    ]);
  });

  test('a tick changes one file, and taking it back restores every byte', async () => {
    const { stories } = await listOf(
      { id: 'task-1', title: 'A', status: 'In Progress' },
      { id: 'task-2', title: 'B', status: '"To Do"' },
      { id: 'task-3', title: 'C', status: '' },
    );
    await writeFile(
      path.join(dir, 'tasks', 'task-4 - D.md'),
      '\uFEFF---\r\nid: task-4\r\ntitle: D\r\n---\r\n=== ralph-fresh file tasks/x.md\r\n',
    );
    const before = await filesIn(dir);
    for (const id of [...stories.map(story => story.id), 'task-4']) {
      const { undo } = await setStoryDone(dir, { id }, true);
      const ticked = await filesIn(dir);
      const changed = Object.keys(before).filter(file => before[file] !== ticked[file]);

      assert.equal(changed.length, 1, id);
      assert.match(changed[0] ?? '', new RegExp(`^tasks/${id} `));
      assert.deepEqual(
        (await list()).stories.filter(({ done }) => done).map(story => story.id),
        [id],
      );
      assert.ok(undo !== undefined);
      await setStoryDone(dir, { id }, false, { undos: [undo] });
      assert.deepEqual(await filesIn(dir), before, id);
    }
  });

  test('two writers at once: no tick is lost', async () => {
    const tasks = Array.from({ length: 12 }, (_, i) => ({
      id: `task-${i + 1}`,
      title: `T${i + 1}`,
    }));
    await writeBacklog(dir, tasks);

    await Promise.all(
      tasks.map(async ({ id, title }, i) =>
        i % 3 === 0
          ? writeFile(
              path.join(dir, 'tasks', `${id} - ${title}.md`),
              backlogTask({ id, title, status: 'Done' }),
            )
          : setStoryDone(dir, { id }, true),
      ),
    );

    assert.deepEqual(
      (await list()).stories.filter(({ done }) => !done),
      [],
    );
  });

  test('completed tasks satisfy dependencies and are not listed; drafts and archived tasks are ignored', async () => {
    for (const folder of ['completed', 'drafts', 'archive/tasks']) {
      await mkdir(path.join(dir, folder), { recursive: true });
    }
    await writeFile(
      path.join(dir, 'completed', 'task-1 - Old.md'),
      backlogTask({ id: 'task-1', title: 'Old', status: 'Done' }),
    );
    await writeFile(
      path.join(dir, 'drafts', 'draft-1 - Idea.md'),
      backlogTask({ id: 'draft-1', title: 'Idea' }),
    );
    const { problems, stories } = await listOf({
      id: 'task-2',
      title: 'B',
      dependencies: ['task-1'],
    });

    assert.deepEqual(
      stories.map(({ dependsOn, id }) => [id, dependsOn]),
      [['task-2', []]],
    );
    assert.deepEqual(problems, []);
  });

  test('an id with another prefix is none of a task with the same number', async () => {
    await mkdir(path.join(dir, 'completed'), { recursive: true });
    await writeFile(path.join(dir, 'completed', 'task-3 - Old.md'), '');
    const { problems, stories } = await listOf(
      { id: 'task-1', title: 'A', status: 'Done' },
      { id: 'BUG-1', title: 'B' },
      { id: 'task-2', title: 'C', dependencies: ['draft-1', 'FEAT-1', 'draft-3', 'doc-99'] },
      { id: 'task-4', title: 'D', dependencies: ['bug-01'] },
      { id: 'task-5', title: 'E', dependencies: ['1', 'Task-001', '3'] },
    );

    assert.deepEqual(Object.fromEntries(stories.map(({ dependsOn, id }) => [id, dependsOn])), {
      ...{ 'task-1': [], 'BUG-1': [] },
      'task-2': ['draft-1', 'FEAT-1', 'draft-3', 'doc-99'],
      ...{ 'task-4': ['BUG-1'], 'task-5': ['task-1'] },
    });
    assert.deepEqual(
      problems.map(({ code, file, subject }) => [code, file, subject?.ids]),
      [
        [
          ...['unknownDependency', 'tasks/task-2 - C.md'],
          ['draft-1', 'FEAT-1', 'draft-3', 'doc-99'],
        ],
      ],
    );
  });

  test('where the settings have a prefix, the usual one means it, too', async () => {
    await writeBacklog(
      dir,
      [
        { id: 'SHOP-1', title: 'A', status: 'Done' },
        { id: 'SHOP-2', title: 'B', dependencies: ['task-1', 'shop-01', '1', 'draft-1'] },
      ],
      'task_prefix: shop\n',
    );
    const { stories } = await list();

    assert.deepEqual(stories[1]?.dependsOn, ['SHOP-1', 'draft-1']);
  });

  test('a task waits for its subtasks, and never in a circle', async () => {
    const { problems, stories } = await listOf(
      { id: 'task-1', title: 'Parent' },
      { id: 'task-1.1', title: 'First', more: ['parent_task_id: task-1'] },
      {
        id: 'task-1.2',
        title: 'Second',
        dependencies: ['task-1'],
        more: ['parent_task_id: task-1'],
      },
    );

    assert.deepEqual(stories[0]?.dependsOn, ['task-1.1']);
    assert.deepEqual(
      stories.map(({ epic }) => epic),
      [undefined, 'Parent', 'Parent'],
    );
    assert.deepEqual(problems, []);
    assert.equal(nextId(stories), 'task-1.1');
  });

  test('what is not read is reported with its file and line', async () => {
    await writeBacklog(dir, [
      { id: 'task-1', title: 'A', status: 'Almost' },
      { id: 'task-2', title: 'B', dependencies: ['task-9'] },
      { id: 'task-3', title: 'C' },
    ]);
    await writeFile(path.join(dir, 'tasks', 'notes.md'), 'Just notes.\n');
    await writeFile(path.join(dir, 'tasks', 'readme.md'), 'What this is.\n');
    await writeFile(
      path.join(dir, 'tasks', 'task-4 - Again.md'),
      backlogTask({ id: 'task-3', title: 'D' }),
    );
    await writeFile(path.join(workspace, 'secret.md'), backlogTask({ id: 'task-5', title: 'E' }));
    await symlink(path.join(workspace, 'secret.md'), path.join(dir, 'tasks', 'task-5 - E.md'));

    assert.deepEqual(
      problemsOf(await list()).map(text => text.replace(/^(.{70}).*/, '$1…')),
      [
        'notAStory tasks/notes.md:1 tasks/notes.md is not read as a task: it ha…',
        'unknownStatus tasks/task-1 - A.md:4 The status "Almost" is not one of …',
        'unknownDependency tasks/task-2 - B.md:8 task-2 waits for task-9, which…',
        'duplicateId tasks/task-4 - Again.md:2 The id task-3 is also that of ta…',
        'notAStory tasks/task-5 - E.md:1 tasks/task-5 - E.md is not read: it is…',
      ],
    );
  });

  test('an unknown task is said to be missing in the folder, and not in the file', async () => {
    const said =
      'task-1 waits for gone, which this folder does not have: correct the id, or remove it when that story is done elsewhere.';
    const { problems } = await listOf({ id: 'task-1', title: 'A', dependencies: ['gone'] });
    for (const found of [problems, (await readStoryProblems(dir)).problems]) {
      assert.deepEqual(
        found.map(({ message }) => englishOf(message)),
        [said],
      );
    }
  });

  test('a tag that YAML does not know is no warning on the terminal', async () => {
    const warned: string[] = [];
    const warn = ({ name }: Error) => warned.push(name);
    process.on('warning', warn);
    await listOf({ id: 'task-1', title: 'A', more: ['milestone: !!str {a: b}'] });
    await nextTurn();
    process.off('warning', warn);
    assert.deepEqual(warned, []);
  });

  test('a task is never hidden: an odd name and unclosed front matter are reported', async () => {
    await writeBacklog(dir, [{ id: 'task-1', title: 'A', status: 'Done' }]);
    for (const name of ['task-2 - \u0007bell.md', 'task-3 - two\nlines.md', 'task-4 - a\\b.md']) {
      await writeFile(path.join(dir, 'tasks', name), backlogTask({ id: 'task-2', title: 'B' }));
    }
    await writeFile(path.join(dir, 'tasks', 'task-5.md'), '---\nid: task-5\ntitle: E\n');
    const said = [
      'notAStory tasks/task-2 - \uFFFDbell.md:1 tasks/task-2 - \uFFFDbell.md is not read: its name has a character that a name of a task must not have. Rename it.',
      'notAStory tasks/task-3 - two\uFFFDlines.md:1 tasks/task-3 - two\uFFFDlines.md is not read: its name has a character that a name of a task must not have. Rename it.',
      'notAStory tasks/task-4 - a\uFFFDb.md:1 tasks/task-4 - a\uFFFDb.md is not read: its name has a character that a name of a task must not have. Rename it.',
      'notAStory tasks/task-5.md:1 tasks/task-5.md is not read as a task: its front matter has no end. Write "---" on a line of its own below the last key.',
    ];
    assert.deepEqual(problemsOf(await list()), said);
    // The text of the folder keeps them.
    const bytes = await readFolder(dir, 1_000_000);
    assert.ok(Buffer.isBuffer(bytes));
    assert.ok(packFolder(unpackFolder(bytes)).equals(bytes));

    await rm(path.join(dir, 'tasks', 'task-1 - A.md'));
    const nothing = await readStoryFile(dir);
    assert.deepEqual(
      nothing?.problems.map(({ code, message }) => [code, englishOf(message)]),
      [['noStories', said[3]?.replace(/^.*?:1 /, '')]],
    );
  });

  test('tasks in subfolders are one problem that counts them, and no part of the text', async () => {
    await writeBacklog(dir, [{ id: 'task-1', title: 'A', status: 'Done' }]);
    const bytes = await readFolder(dir, 1_000_000);
    const version = await folderVersion(dir);
    for (const name of ['epics/task-10 - J.md', 'epics/task-2 - B.md', 'epics/more/task-3.md']) {
      const file = path.join(dir, 'tasks', name);
      await mkdir(path.dirname(file), { recursive: true });
      await writeFile(file, backlogTask({ id: 'task-2', title: 'B' }));
    }
    await writeFile(path.join(dir, 'tasks/epics/notes.md'), '# Notes\n');
    await writeFile(path.join(dir, 'tasks/epics/task-epic-11.3-Sort.md'), '# Sort\n');
    const said =
      'Tasks in subfolders that are not read: 4, beginning with tasks/epics/more/task-3.md. Backlog.md does not read them either: move them to tasks/.';
    assert.deepEqual(problemsOf(await list()), [`notAStory tasks/epics/more/task-3.md:1 ${said}`]);
    const told = async () =>
      (await readStoryProblems(dir)).problems.map(({ code, message, severity }) => [
        ...[code, severity, englishOf(message)],
      ]);
    assert.deepEqual(await told(), [['notAStory', 'warning', said]]);
    assert.deepEqual(await readFolder(dir, 1_000_000), bytes);
    assert.notEqual(await folderVersion(dir), version);

    await rm(path.join(dir, 'tasks', 'task-1 - A.md'));
    assert.deepEqual(await told(), [['noStories', 'error', said]]);
  });

  test('tasks whose names end with .markdown are one problem that counts them', async () => {
    await writeBacklog(dir, [{ id: 'task-1', title: 'A', status: 'Done' }]);
    const version = await folderVersion(dir);
    for (const name of ['task-10.markdown', 'task-4 - D.markdown', 'notes.markdown']) {
      await writeFile(path.join(dir, 'tasks', name), backlogTask({ id: 'task-4', title: 'D' }));
    }
    const said =
      'Tasks that are not read because of the end of their name: 2, beginning with tasks/task-4 - D.markdown. Backlog.md does not read them either: let their names end with ".md".';
    assert.deepEqual(problemsOf(await list()), [`notAStory tasks/task-4 - D.markdown:1 ${said}`]);
    assert.notEqual(await folderVersion(dir), version);

    await rm(path.join(dir, 'tasks', 'task-1 - A.md'));
    const { problems } = await readStoryProblems(dir);
    assert.deepEqual(
      problems.map(({ code, message }) => [code, englishOf(message)]),
      [['noStories', said]],
    );
  });

  test('a file that is not UTF-8 hides no other one, and keeps its bytes', async () => {
    await writeBacklog(dir, [{ id: 'task-1', title: 'A' }]);
    const latin = path.join(dir, 'tasks', 'task-2 - B.md');
    const bytes = Buffer.from('---\nid: task-2\ntitle: Café\n---\n', 'latin1');
    await writeFile(latin, bytes);
    const settings = [Buffer.from('# ä\n# '), Buffer.from([0xe4])];
    await writeFile(path.join(dir, 'config.yml'), Buffer.concat(settings));

    const before = await list();
    assert.deepEqual(
      before.stories.map(({ id }) => id),
      ['task-1'],
    );
    assert.deepEqual(problemsOf(before), [
      'invalidYaml config.yml:2 config.yml is not UTF-8 text from here on, so these statuses count: To Do, In Progress, Done. Save it with the encoding UTF-8.',
      'notAStory tasks/task-2 - B.md:3 tasks/task-2 - B.md is not read as a task: it is not UTF-8 text from here on. Save it with the encoding UTF-8.',
    ]);
    const { problems } = await readStoryProblems(dir);
    assert.deepEqual(
      problems.map(({ column, file, line }) => [file, line, column]),
      [
        ['config.yml', 2, 3],
        ['tasks/task-2 - B.md', 3, 11],
      ],
    );

    await setStoryDone(dir, { id: 'task-1' }, true);
    assert.equal((await list()).stories[0]?.done, true);
    assert.ok((await readFile(latin)).equals(bytes));
    const parsed = parseStoryText(dir, (await readFolder(dir, 1_000_000)) as Buffer);
    assert.equal(parsed.nextId?.({ id: 'DISC-1-1-1', title: 'New' }), 'task-3', 'its id is taken');

    await rm(path.join(dir, 'tasks', 'task-1 - A.md'));
    const [nothing] = (await readStoryFile(dir))?.problems ?? [];
    assert.deepEqual(
      [nothing?.code, nothing?.file, nothing?.line],
      ['noStories', 'tasks/task-2 - B.md', 3],
    );
  });

  test('a key that a task has twice is reported where it is repeated', async () => {
    await writeBacklog(dir, [{ id: 'task-1', title: 'A' }]);
    await writeFile(
      path.join(dir, 'tasks', 'task-2.md'),
      '---\nid: task-2\nstatus: To Do\ntitle: B\nstatus: Done\n---\n',
    );
    const found = await list();
    assert.equal(found.stories[1]?.done, false);
    assert.deepEqual(problemsOf(found), [
      'invalidYaml tasks/task-2.md:5 The key "status" is already used above, and that one counts. Remove one of the two: Backlog.md cannot read the file.',
    ]);
  });

  test('a place on the board that is no number is reported, and an empty one is not', async () => {
    await writeBacklog(dir, [
      { id: 'task-1', title: 'A', more: ['ordinal: abc'] },
      { id: 'task-2', title: 'B', more: ['ordinal: null'] },
      { id: 'task-3', title: 'C', more: ['ordinal:'] },
      { id: 'task-4', title: 'D', more: ['ordinal: -1.5'] },
      { id: 'task-5', title: 'E', more: ['ordinal: 9.5e-7'] },
      { id: 'task-6', title: 'F', more: ['ordinal: NULL'] },
    ]);
    assert.deepEqual(
      problemsOf(await list()).map(problem => problem.replace(/^.*?\.md/, '')),
      [
        ':9 The value of "ordinal" is not a number, so it does not count. Write it as a number, such as: ordinal: 1000',
      ],
    );
  });

  test('a value that cannot be read is reported, and a task with such dependencies is not ready', async () => {
    await writeBacklog(dir, [{ id: 'task-2', title: 'Late', more: ['ordinal: 9000'] }]);
    const broken = [
      '---',
      'id: task-1',
      'title: "Prices',
      'status: "In Progress',
      'assignee: @anna',
      'dependencies: [task-2, task-9',
      'priority: high',
      'ordinal: "1000',
      '---',
      '',
    ].join('\n');
    const file = path.join(dir, 'tasks', 'task-1 - A.md');
    await writeFile(file, broken);
    const said = [
      'invalidYaml tasks/task-1 - A.md:3 The value of "title" cannot be read, so it does not count. Write it with a quotation mark at both ends, such as: title: "Prices"',
      'invalidYaml tasks/task-1 - A.md:4 The value of "status" cannot be read, so it does not count. Write it with a quotation mark at both ends, such as: status: "In Progress"',
      'invalidYaml tasks/task-1 - A.md:6 The dependencies cannot be read, so no agent gets the task. Write them with both brackets, such as: dependencies: [task-2, task-9]',
      'invalidYaml tasks/task-1 - A.md:8 The value of "ordinal" is not a number, so it does not count. Write it as a number, such as: ordinal: 1000',
    ];
    const found = await list();
    assert.deepEqual(problemsOf(found), said);
    const told = (await readStoryProblems(dir)).problems;
    assert.deepEqual(
      told.map(({ column, file: name, line, severity }) => `${name}:${line}:${column} ${severity}`),
      [3, 4, 6, 8].map(line => `tasks/task-1 - A.md:${line}:1 warning`),
    );
    assert.equal(nextId(found.stories), 'task-2');

    await setStoryDone(dir, { id: 'task-2' }, true);
    assert.equal(nextId((await list()).stories), undefined);
    await assert.rejects(setStoryDone(dir, { id: 'task-1' }, true), /status of task-1 cannot be/);
    assert.equal(await readFile(file, 'utf8'), broken);

    await writeFile(file, broken.replaceAll(/^dependencies.*$/gm, 'dependencies: [task-2]'));
    assert.equal(nextId((await list()).stories), 'task-1');
  });

  for (const dependencies of ['{task-2: x}', '\n  - task-2: first', '"task-2', '\n  - [task-2]']) {
    test(`dependencies that are no list of ids are not lost: ${JSON.stringify(dependencies)}`, async () => {
      await writeBacklog(dir, [{ id: 'task-2', title: 'B', status: 'Done' }]);
      await writeFile(
        path.join(dir, 'tasks', 'task-1.md'),
        `---\nid: task-1\ndependencies: ${dependencies}\nstatus: To Do\n---\n`,
      );
      const found = await list();
      assert.match(problemsOf(found).join('\n'), /^invalidYaml [^\n]*:3 The dependencies [^\n]*$/);
      assert.equal(nextId(found.stories), undefined);
    });
  }

  test('values in every form that the tool and people write have no problem', async () => {
    const forms = [
      ...['title: >-\n  A long title: that\n  is folded', 'title: "Say \\"hi\\": now"'],
      ...["title: 'It''s #1'", 'title: a: b # c', 'title: "two\n  lines"', 'title:', 'title: - x'],
      ...[
        'dependencies: []',
        'dependencies:',
        'dependencies: task-9',
        'dependencies: [task-9] # x',
      ],
      ...['dependencies:\n- task-9', 'dependencies:\n  - \'task-9\' # x\n  - "TASK-09"'],
      ...['dependencies: [\n  task-9,\n]', 'milestone: m-0', 'ordinal: 1000.5', 'priority: "high"'],
      "assignee: @anna\nreporter: '@ben'\nlabels: [a",
    ];
    await writeBacklog(dir, [{ id: 'task-9', title: 'Z' }]);
    for (const [index, form] of forms.entries()) {
      await writeFile(
        path.join(dir, 'tasks', `task-${index + 20}.md`),
        `---\nid: task-${index + 20}\n${form}\nstatus: To Do\n---\n`.replaceAll(
          '\n',
          index % 2 === 0 ? '\n' : '\r\n',
        ),
      );
    }
    assert.deepEqual(problemsOf(await list()), []);
  });

  test('very many spaces in a line of a task are read and kept quickly', async () => {
    const space = ' '.repeat(300_000);
    const lines = [`a${space}b`, `${space}|`, `"a"${space}b`, `a${space}# b`, `${space}# b`];
    await writeBacklog(dir, []);
    for (const [index, line] of lines.entries()) {
      await writeFile(
        path.join(dir, 'tasks', `task-${index}.md`),
        `---\nid: task-${index}\ntitle: ${line}\nstatus: To Do\n---\n`,
      );
    }
    const { stories } = await list();
    assert.deepEqual(
      stories.map(({ title }) => title),
      ['a b', 'task-1', 'task-2', 'a', 'task-4'],
    );

    const text = (status: string) => `---\nid: task-9\ntitle: x\nstatus:${status}\n---\n`;
    const written = path.join(dir, 'tasks', 'task-9.md');
    for (const [before, after] of [
      [` To Do${space}# b`, ` Done${space}# b`],
      [`${space}To Do${space}`, `${space}Done${space}`],
      [`${space}'To Do'${space}# b`, `${space}'Done'${space}# b`],
      [`${space}# b`, `${space.slice(1)}Done # b`],
    ] as const) {
      await writeFile(written, text(before));
      await setStoryDone(dir, { id: 'task-9' }, true);
      assert.equal(await readFile(written, 'utf8'), text(after));
    }
  });

  test('unreadable settings are reported, and so are two spellings of one id', async () => {
    await writeBacklog(
      dir,
      [
        { id: 'TASK-7', title: 'A' },
        { id: 'task-007', title: 'B' },
      ],
      'statuses: [\n',
    );
    assert.deepEqual(problemsOf(await list()), [
      'invalidYaml config.yml:1 config.yml is not valid YAML with keys, so these statuses count: To Do, In Progress, Done. Correct the file if they are others.',
      'duplicateId tasks/task-007 - B.md:2 The id task-007 is also that of tasks/TASK-7 - A.md: give this task an id of its own.',
    ]);
    await rm(path.join(dir, 'config.yml'));
    await mkdir(path.join(dir, 'config.yml'));
    const [first] = problemsOf(await list());
    assert.match(
      first ?? '',
      /^invalidYaml config\.yml:1 config\.yml is not read: .* These statuses count: To Do, /,
    );
  });

  test('an id of two tasks cannot be ticked, and the refusal names their files', async () => {
    await listOf({ id: 'task-1', title: 'A' }, { id: 'task-1', title: 'B' });
    await assert.rejects(setStoryDone(dir, { id: 'task-1' }, true), {
      message: `${dir} has 2 stories with the id task-1 (tasks/task-1 - A.md, tasks/task-1 - B.md): give each an id of its own.`,
    });
  });

  test('the command line names the part of a file that a problem is about', async () => {
    await listOf(
      { id: 'task-1', title: 'A', status: 'Almost' },
      { id: 'task-2', title: 'B', dependencies: ['gone', 'task-1', 'lost'] },
    );
    await writeFile(path.join(dir, 'tasks', 'empty.md'), '');
    const { problems } = await readStoryProblems(dir);
    assert.deepEqual(
      problems.map(({ code, column, file, line, severity }) => [
        `${code} ${file}:${line}:${column} ${severity}`,
      ]),
      [
        ['notAStory tasks/empty.md:1:1 info'],
        ['unknownStatus tasks/task-1 - A.md:4:1 warning'],
        ['unknownDependency tasks/task-2 - B.md:9:5 warning'],
        ['unknownDependency tasks/task-2 - B.md:11:5 warning'],
      ],
    );
    await rm(path.join(dir, 'tasks', 'task-1 - A.md'));
    await rm(path.join(dir, 'tasks', 'task-2 - B.md'));
    assert.deepEqual(
      (await readStoryProblems(dir)).problems.map(({ code, file, severity }) => [
        ...[code, file, severity],
      ]),
      [['noStories', 'tasks/empty.md', 'error']],
    );
  });

  test('a link in place of the tasks is reported', async () => {
    await writeBacklog(dir, [{ id: 'task-1', title: 'A' }]);
    await rename(path.join(dir, 'tasks'), path.join(dir, 'others'));
    await symlink('others', path.join(dir, 'tasks'));

    assert.match(
      englishOf((await readStoryFile(dir))?.problems[0]?.message ?? ''),
      /tasks is a link, so no task in it is read: put the folder itself there\.$/,
    );
  });

  test('moving writes the position on the board and nothing else', async () => {
    await writeBacklog(dir, [
      { id: 'task-1', title: 'A', more: ['ordinal: 1000'] },
      { id: 'task-2', title: 'B', more: ['ordinal: 2000'] },
      { id: 'task-3', title: 'C', more: ['ordinal: 3000'] },
    ]);
    const before = await filesIn(dir);

    await moveStory(dir, { id: 'task-3' }, { id: 'task-1' }, 'before');

    const after = await filesIn(dir);
    assert.deepEqual(
      Object.keys(before).filter(file => before[file] !== after[file]),
      ['tasks/task-3 - C.md'],
    );
    assert.equal(nextId((await list()).stories), 'task-3');
  });

  test('a long title on several lines, lists in brackets, unquoted @ and numbers as ids are read', async () => {
    await mkdir(path.join(dir, 'tasks'), { recursive: true });
    await writeFile(
      path.join(dir, 'tasks', 'task-1.10 - Long.md'),
      '---\nid: task-1.10\ntitle: >-\n  A title that is\n  longer: than a line\nstatus: To Do\nassignee: @anna\ndependencies: [task-2, "task-3"]\n---\n',
    );
    await writeFile(
      path.join(dir, 'tasks', 'task-2 - B.md'),
      "---\nid: task-2\ntitle: 'It''s'\nstatus: Done\n---\nNo sections.\n",
    );
    await writeFile(
      path.join(dir, 'tasks', 'task-3 - C.md'),
      '---\nid: task-3\ntitle: C\nstatus: Done\n---\n',
    );

    const { stories } = await list();

    assert.deepEqual(
      stories.map(({ dependsOn, description, id, title }) => [id, title, dependsOn, description]),
      [
        ['task-1.10', 'A title that is longer: than a line', ['task-2', 'task-3'], ''],
        ['task-2', "It's", [], 'No sections.'],
        ['task-3', 'C', [], ''],
      ],
    );
  });

  test('a folder that leads out of the repository is not read', async () => {
    const outside = await mkdtemp(path.join(tmpdir(), 'ralph-outside-'));
    try {
      await mkdir(path.join(workspace, '.git'));
      await writeBacklog(outside, [{ id: 'task-1', title: 'A' }]);
      await symlink(outside, dir);

      assert.equal((await readStoryFile(dir))?.kind, 'invalid');
    } finally {
      await rm(outside, { recursive: true });
    }
  });
});
