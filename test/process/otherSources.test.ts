import assert from 'node:assert/strict';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { shellWord } from '../../src/base/shellWord.ts';
import { Workspace } from '../support/ralph.ts';

const SECOND = path.join('specs', '002-b', 'tasks.md');
const OTHERS = `Also found, and not used: PLAN.md, ${SECOND}; choose with --file`;

async function withFiles(t: TestContext, files: Readonly<Record<string, string>>) {
  const workspace = await Workspace.create(t, { stories: undefined });
  for (const [file, text] of Object.entries(files)) {
    await mkdir(path.dirname(path.join(workspace.folder, file)), { recursive: true });
    await workspace.write(file, text);
  }
  return workspace;
}

describe('several lists of stories in one folder', { concurrency: 2 }, () => {
  test('those that are not used are named by the doctor and at the start, unless a person has chosen', async t => {
    const workspace = await withFiles(t, {
      'IMPLEMENTATION_PLAN.md': '- [ ] T001 First\n',
      'fix_plan.md': '- [x] T102 Finished\n',
      'PLAN.md': '- [ ] T101 Other\n',
      'specs/001-a/tasks.md': '- [x] T201 Finished\n',
      'specs/002-b/tasks.md': '- [ ] T202 Open\n',
    });

    const doctor = await workspace.cli('doctor', '--only', 'stories').finished;
    assert.ok(doctor.stdout.split('\n').includes(`✓ ${OTHERS}`), doctor.stdout);
    const dry = await workspace.run('scripted', '--dry-run').finished;
    assert.equal(dry.code, 0, dry.stderr);
    assert.equal(dry.stderr, `ralph-fresh: ${OTHERS}\n`);

    const named = ['--file', 'PLAN.md'] as const;
    const chosen = await workspace.cli('doctor', '--only', 'stories', ...named).finished;
    assert.doesNotMatch(chosen.stdout, /Also found/);
    assert.equal((await workspace.run('scripted', '--dry-run', ...named).finished).stderr, '');
  });

  test('a list with a slip that would come first is named with its line, and no document is', async t => {
    const workspace = await withFiles(t, {
      '.taskmaster/tasks/tasks.json':
        '{"master":\n{"task":[{"id":1,"title":"a","status":"pending"}]}}\n',
      'feature_list.json':
        '{"project":"x",\n"featurs":[{"id":1,"description":"x","passes":false}]}\n',
      'IMPLEMENTATION_PLAN.md': '# Plan\n- [] T1 First\n',
      'PLAN.md': '# Plan\n\nWe begin with the tests.\n',
      '.ralphy/tasks.yaml': '# ralphy\ntask:\n  - title: a\n',
      'tasks.yaml': 'version: 3\nplays:\n  - name: a\n',
      '.claude/orchestration/a.yaml': 'name: a\nphase:\n  - {name: a, tasks: [{id: 1}]}\n',
      'sprint-status.yaml': 'project: x\ndevelopment_statu:\n  1-1-a: backlog\n',
      'specs/001-a/tasks.md': '- [ ] T201 Open\n',
      'specs/002-b/tasks.md': '- [] T301 Open\n',
      // After the one that is used.
      '.kiro/specs/a/tasks.md': '# Tasks\n- [] T1 First\n',
    });
    const named = (file: string) => path.normalize(file);
    const starts = [
      `${named('.taskmaster/tasks/tasks.json')} is not used, line 2: Entries in "master.task" that `,
      'feature_list.json is not used, line 2: The list "featurs" of this feature list ',
      'IMPLEMENTATION_PLAN.md is not used, line 2: This looks like a checkbox, but ',
      `${named('.ralphy/tasks.yaml')} is not used, line 2: The list "task" is not read: `,
      `${named('.claude/orchestration/a.yaml')} is not used, line 2: The list "phase" is not read: `,
      'sprint-status.yaml is not used, line 2: This is the list of BMAD, but it has no key ',
      `${named('specs/002-b/tasks.md')} is not used, line 1: This looks like a checkbox, but `,
    ];
    const doctor = await workspace.cli('doctor', '--only', 'stories').finished;
    const told = doctor.stdout.split('\n').filter(line => line.includes(' is not used'));
    assert.deepEqual(
      told.map((line, at) => line.startsWith(`! ${starts[at]}`)),
      starts.map(() => true),
      doctor.stdout,
    );
    const dry = await workspace.run('scripted', '--dry-run').finished;
    assert.deepEqual(
      dry.stderr.split('\n').map(line => line.replace(/^ralph-fresh: /, '! ')),
      [...told, ''],
    );
    const chosen = ['--file', named('specs/001-a/tasks.md')];
    assert.equal((await workspace.run('scripted', '--dry-run', ...chosen).finished).stderr, '');
  });

  test('of several specifications, the only open one is used, and no finished one is suggested', async t => {
    const workspace = await withFiles(t, {
      'specs/001-a/tasks.md': '- [x] T201 Finished\n',
      'specs/002-b/tasks.md': '- [ ] T202 Open\n',
      'specs/003-c/tasks.md': '',
    });
    const next = await workspace.cli('next').finished;
    assert.match(next.stdout, /T202/);

    await workspace.write('specs/003-c/tasks.md', '- [ ] T301 Open\n');
    const several = await workspace.cli('next').finished;
    assert.equal(several.code, 1);
    assert.match(several.stderr, /several story files .*001-a/);
    assert.ok(several.stderr.includes(`such as --file ${shellWord(SECOND)}.`), several.stderr);

    for (const name of ['002-b', '003-c']) {
      await workspace.write(`specs/${name}/tasks.md`, '- [x] T202 Finished\n');
    }
    const words = /All of their stories are done\. Add one, or name a file with --file\./;
    for (const command of ['next', 'stories']) {
      const { code, stdout } = await workspace.cli(command).finished;
      assert.equal(code, 0, command);
      assert.match(stdout, words);
    }
    for (const flags of [[], ['--dry-run'], ['--detach']]) {
      const { code, stderr, stdout } = await workspace.script([['work']], ...flags).finished;
      assert.equal(code, 0, stderr);
      assert.match(stdout, words);
    }
    assert.equal((await workspace.script([['work']], '--quiet').finished).stdout, '');
    assert.deepEqual(await workspace.runIds(), []);
    const files = ['001-a', '002-b', '003-c'].map(name =>
      path.join(workspace.folder, 'specs', name, 'tasks.md'),
    );
    const { stdout } = await workspace.cli('next', '--json').finished;
    assert.deepEqual(JSON.parse(stdout), { id: null, reason: 'allDone', files });
    const listed = await workspace.cli('stories', '--json').finished;
    assert.equal(listed.code, 0);
    assert.deepEqual(JSON.parse(listed.stdout), {
      ...{ source: null, format: null, stories: [], problems: [], moreProblems: 0, discovered: [] },
      ...{ allDone: true, files },
    });
    const doctor = await workspace.cli('doctor', '--only', 'stories').finished;
    assert.match(
      doctor.stdout,
      /^✓ There are several story files .*All of their stories are done/m,
    );
  });

  test('once all are done, a tick is taken back in the only list that has the story', async t => {
    const workspace = await withFiles(t, {
      'openspec/changes/a/tasks.md': '- [x] 1.1 One\n- [x] 2.1 Two\n',
      'openspec/changes/b/tasks.md': '- [x] 1.1 One\n- [ ] 1.2 Two\n',
    });
    assert.equal((await workspace.cli('tick', '1.2').finished).code, 0);
    const back = await workspace.cli('untick', '1.2').finished;
    assert.equal(back.code, 0, back.stderr);
    assert.match(await workspace.read('openspec/changes/b/tasks.md'), /- \[ \] 1\.2 Two/);
    await workspace.cli('tick', '1.2').finished;
    const several = await workspace.cli('untick', '1.1').finished;
    assert.equal(several.code, 64);
    const file = path.join('openspec', 'changes', 'a', 'tasks.md');
    assert.ok(several.stderr.includes(`such as --file ${shellWord(file)}.`), several.stderr);
    const unknown = await workspace.cli('untick', '9.9').finished;
    assert.equal(unknown.code, 1);
    assert.match(unknown.stderr, /All of their stories are done/);
  });

  test('once all are done, a run judges what is left of the last one', async t => {
    const workspace = await withFiles(t, {
      'specs/001-a/tasks.md': '- [x] T201 Finished\n',
      'specs/002-b/tasks.md': '- [ ] T202 Open\n',
      'specs/003-c/tasks.md': '- [x] T301 Finished\n',
    });
    const work = [{ write: [SECOND, '- [x] T202 Open\n'] }, { commit: 'feat: T202' }];
    await workspace.script([[...work, { result: ['Done.'] }]]).finished;
    const again = await workspace.script([['work']]).finished;
    assert.equal(again.code, 0, again.stderr);
    assert.match(again.stdout, /^All stories are complete; there is nothing to do\./m);
  });

  test('once all are done, commands that start no run use that of the last run', async t => {
    const workspace = await withFiles(t, {
      'specs/001-a/tasks.md': '- [x] T201 Finished\n',
      'specs/002-b/tasks.md': '- [ ] T202 Open\n',
      'specs/003-c/tasks.md': '- [x] T301 Finished\n',
    });
    const work = [{ write: [SECOND, '- [x] T202 Open\n'] }, { commit: 'feat: T202' }];
    const result = '<discovered>Limit the log in</discovered>';
    const run = await workspace.script([[...work, { result: [result, {}] }]]).finished;
    assert.equal(run.code, 0, run.stderr);

    const told = async (...args: readonly string[]) => {
      const { code, stderr, stdout } = await workspace.cli(...args).finished;
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const listed = await told('stories');
    assert.match(listed, /T202/);
    assert.doesNotMatch(listed, /T201/);
    const { discovered } = JSON.parse(await told('discovered', '--json'));
    await told('discovered', 'accept', discovered[0].id);
    assert.match(await workspace.read(SECOND), /\[ \] .*Limit the log in/);
    await told('tick', 'T203');
    assert.match(await workspace.read(SECOND), /\[x\] .*Limit the log in/);
    assert.match(await told('untick', 'T202'), /T202/);

    // Which of two unfinished lists a person means, the finished one of the last run does not say.
    await told('tick', 'T202');
    for (const name of ['001-a', '003-c']) {
      await workspace.write(`specs/${name}/tasks.md`, '- [ ] T201 Open\n');
    }
    const asks = await workspace.cli('next').finished;
    assert.match(asks.stderr, /several story files .*001-a/);
  });

  test('a broken list is told with its line, and no other one is worked on instead', async t => {
    const change = path.join('openspec', 'changes', 'c', 'tasks.md');
    for (const [file, text, words] of [
      ['tasks.yaml', 'tasks:\n  - title: A\n\t- title: B\n', /tasks\.yaml.* [Ll]ine 3\b/],
      [
        'tasks.yaml',
        'tasks:\n  - id: T1\n    passed: false\n    passed: true\n',
        /tasks\.yaml.* [Ll]ine 4\b/,
      ],
      [
        'tasks.yml',
        'tasks:\n  - id: T1\n    name: a: b\n    status: pending\n',
        /tasks\.yml.* [Ll]ine 3\b/,
      ],
      [
        'tasks/tasks.json',
        '{\n  "master": {\n    "tasks": [\n      {"id": 1, "title": "A"',
        /tasks\.json.* [Ll]ine 4\b/,
      ],
    ] as const) {
      const workspace = await withFiles(t, { [file]: text, [change]: '- [ ] 1.1 Other\n' });
      for (const command of [['next'], ['run', '--agent', 'demo']]) {
        const refused = await workspace.cli(...command).finished;
        assert.deepEqual([refused.code, refused.stdout], [1, ''], refused.stderr);
        assert.match(refused.stderr, words);
      }
      const doctor = await workspace.cli('doctor', '--only', 'stories').finished;
      assert.match(doctor.stdout, words);

      await rm(path.join(workspace.folder, change));
      assert.match((await workspace.cli('stories').finished).stderr, words);

      await workspace.write('prd.json', '[{"id":"A","title":"First"}]');
      const first = await workspace.cli('next').finished;
      assert.match(first.stdout, /First/);
      const also = await workspace.cli('doctor', '--only', 'stories').finished;
      assert.ok(also.stdout.includes(`Also found, and not used: ${path.normalize(file)};`));
    }
  });

  test('a broken file of another program with such a name is none of them', async t => {
    const workspace = await withFiles(t, {
      'tasks.yaml': 'tasks:\n  - name: Install\n    apt: {name: git\n',
      'tasks.yml': "version: '3'\ntasks:\n  build:\n    cmds:\n\t- make\n",
      'tasks/tasks.json': '{"tasks":[{"label":"build"',
    });
    const none = await workspace.cli('next').finished;
    assert.match(none.stderr, /No story file was found in /);
    await workspace.write('plan.md', '- [ ] T001 Open\n');
    assert.match((await workspace.cli('next').finished).stdout, /T001/);
  });
});
