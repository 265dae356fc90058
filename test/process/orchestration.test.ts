import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fakeAgent, type RunningCli, Workspace } from '../support/ralph.ts';

const FILE = '.claude/orchestration/plan.yaml';
const LIST = `name: Login
phases:
  - name: "Implementation"
    tasks:
      - id: "T1.1"
        description: "Validate the form" # as the customer asked
        done_criteria: "Tests pass"
        status: pending
        commits: []
      - id: "T1.2"
        description: "Show the errors"
        done_criteria: "Errors are shown"
        status: pending
        commits:
        depends_on: ["T1.1"]
`;

async function orchestration(t: TestContext): Promise<Workspace> {
  const workspace = await Workspace.create(t, { stories: undefined });
  await mkdir(path.dirname(path.join(workspace.folder, FILE)), { recursive: true });
  await workspace.write(FILE, LIST);
  workspace.git('add', '-A');
  workspace.git('commit', '--quiet', '-m', 'List');
  return workspace;
}

/** Runs agents that do one task each, tick it and commit both. */
function run(workspace: Workspace, ...args: string[]): RunningCli {
  const work = (id: string) => [
    [
      { shell: `echo ${id} > ${id}.txt` },
      { tickAny: [FILE] },
      { commit: `[fresh-context] ${id} - done` },
      { result: ['Done.'] },
    ],
  ];
  return workspace.scriptOf(
    { 'T1.1': work('T1.1'), 'T1.2': work('T1.2') },
    ...['--file', FILE, ...args],
  );
}

describe('an orchestration', { concurrency: 2 }, () => {
  for (const lanes of [[], ['--lanes', '3']]) {
    test(`lists the commits of each task that is done ${lanes.join(' ')}`, async t => {
      const workspace = await orchestration(t);
      const { code, stderr, stdout } = await run(workspace, ...lanes).finished;
      assert.equal(code, 0, stdout + stderr);
      assert.doesNotMatch(stdout + stderr, /could not be listed/);
      const commits = await workspace.events('commit.recorded');
      const hashOf = (id: string) =>
        commits.findLast(({ storyId }) => storyId === id)?.hash.slice(0, 10);
      assert.equal(
        await workspace.read(FILE),
        LIST.replaceAll('status: pending', 'status: completed')
          .replace('commits: []', `commits: ["${hashOf('T1.1')}"]`)
          .replace('commits:\n', `commits: ["${hashOf('T1.2')}"]\n`),
      );
      for (const id of ['T1.1', 'T1.2']) {
        assert.match(workspace.git('show', '--stat', hashOf(id) ?? ''), RegExp(`${id}\\.txt`));
      }

      // A person takes the tick back, and the commits go with it.
      const undone = await workspace.cli('untick', 'T1.2', '--file', FILE).finished;
      assert.equal(undone.code, 0, undone.stderr);
      assert.match(
        await workspace.read(FILE),
        /status: pending\n {8}commits: \[\]\n {8}depends_on/,
      );
    });
  }

  test('keeps the commits of tasks that stay done in a rollback', async t => {
    const workspace = await orchestration(t);
    const { code, stderr } = await run(workspace).finished;
    assert.equal(code, 0, stderr);
    const [first] = await workspace.events('commit.recorded');
    const rolled = await workspace.cli('rollback', '2').finished;
    assert.equal(rolled.code, 0, rolled.stderr);
    assert.equal(
      await workspace.read(FILE),
      LIST.replace('status: pending', 'status: completed').replace(
        'commits: []',
        `commits: ["${first?.hash.slice(0, 10)}"]`,
      ),
    );
    assert.equal(workspace.git('status', '--porcelain'), '');
    const again = await workspace.cli('rollback', '2').finished;
    assert.match(again.stdout, /^Nothing to do/);
    workspace.git('revert', '--no-edit', 'HEAD');
    assert.match(await workspace.read('T1.2.txt'), /T1\.2/);
  });

  test('has the limits of its documents, unless something else is set', async t => {
    const workspace = await orchestration(t);
    const shown = async (...args: string[]) => {
      const { code, stderr, stdout } = await workspace.cli(
        ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted')],
        ...['--dry-run', '--file', FILE, ...args],
      ).finished;
      assert.equal(code, 0, stderr);
      return stdout;
    };
    const own = await shown();
    assert.match(own, /Iterations: at most 10$/m);
    assert.match(own, /^Budget: \$5\.00 for each iteration$/m);
    assert.match(own, /--max-turns 15\b/);
    assert.match(own, /--max-budget-usd 5\b/);

    await writeFile(
      path.join(workspace.folder, '.omc', 'config.json'),
      '{ "maxTurnsPerIteration": 60, "iterationBudgetUsd": 9 }',
    );
    const set = await shown('--max-iterations', '30', '--budget', '20');
    assert.match(set, /Iterations: at most 30$/m);
    assert.match(set, /^Budget: \$20\.00, \$9\.00 for each iteration$/m);
    assert.match(set, /--max-turns 60\b/);
    assert.match(set, /--max-budget-usd 9\b/);
  });
});
