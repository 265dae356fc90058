import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { fakeAgent, openStories, type Step, Workspace } from '../support/ralph.ts';
import { messagesIn, storedSentences } from '../support/storedSentences.ts';
import { Terminal } from '../support/terminal.ts';

const outcomes = async (workspace: Workspace) =>
  (await workspace.events('iteration.ended')).map(({ outcome }) => outcome);
const git = (workspace: Workspace, ...args: string[]) =>
  execFileSync('git', args, { cwd: workspace.folder, env: workspace.env, encoding: 'utf8' });
const says = (words: string): Step => ({ result: [words] });

/** What a planning agent answers. */
function draft(stories: readonly object[]): Step {
  const prd = {
    project: 'Planned',
    branchName: 'main',
    description: 'What was asked',
    userStories: stories,
  };
  return says(`Here is the plan.\n\n\`\`\`json\n${JSON.stringify(prd, null, 2)}\n\`\`\``);
}
const story = (id: string, more: object = {}) => ({
  ...{ id, title: `Title of ${id}`, description: 'As a user I want it', priority: 1 },
  ...{ acceptanceCriteria: ['It works'], passes: false, dependsOn: [] },
  ...more,
});

describe('free form: a task without stories', { concurrency: 3 }, () => {
  test('is done on a promise with passing checks', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const promise = says('<promise>TASK_COMPLETE</promise>');
    const cli = workspace.script(
      [
        [{ commit: 'half' }, promise],
        [{ write: ['green', ''] }, { commit: 'whole' }, promise],
      ],
      ...['--verify', 'test -f green', 'Write the file'],
    );
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(await outcomes(workspace), ['rejected', 'progress']);
    const promises = await workspace.events('promise.seen');
    assert.deepEqual(
      promises.map(({ accepted }) => accepted),
      [false, true],
    );
    assert.match(await workspace.prompt(2), /test -f green/);
  });

  test('status shows the task', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const run = workspace.script([[says('Not yet.')]], '--max-iterations', '1', 'Make it blue');
    assert.equal((await run.finished).code, 1);
    const { stdout } = await workspace.cli('status').finished;
    assert.match(stdout, /\nTask: Make it blue/);
    assert.doesNotMatch(stdout, /stories/);
  });

  test('without checks the promise alone ends it, with a warning', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const cli = workspace.run('succeeds', 'Do it');
    assert.equal((await cli.finished).code, 0);
    assert.deepEqual(
      (await workspace.events('warning')).map(({ code }) => code),
      ['noChecks'],
    );
  });

  test('repeatedly failing calls end it', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const cli = workspace.run('fails', 'Do it');
    assert.equal((await cli.finished).code, 1);
    assert.equal((await workspace.events('iteration.ended')).length, 3);
    assert.equal((await workspace.event('run.ended')).outcome, 'error');
  });
});

describe('--tasks', () => {
  test('creates one story per task; the same command continues with them', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const args = ['--tasks', 'Write a|Write b|Write c'] as const;
    const first = workspace.run('succeeds', ...args, '--max-iterations', '1');
    assert.equal((await first.finished).code, 1, (await first.finished).stderr);
    assert.deepEqual(
      (await workspace.stories()).map(({ title, passes }) => [title, passes]),
      [
        ['Write a', true],
        ['Write b', false],
        ['Write c', false],
      ],
    );
    const second = workspace.run('succeeds', ...args);
    assert.equal((await second.finished).code, 0, (await second.finished).stderr);
    assert.equal((await workspace.done()).length, 3);
  });
});

describe('--prd: a planning agent writes the stories', { concurrency: 3 }, () => {
  test('the plan is validated, written, then worked on', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const cli = workspace.script(
      [[draft([story('US-001'), story('US-002')])], ['work']],
      '--prd',
      'Build it',
    );
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    const planned = await workspace.event('plan.written');
    assert.deepEqual([planned.stories, planned.attempts], [2, 1]);
    assert.ok(existsSync(path.join(workspace.folder, '.omc/progress.txt')));
    const first = (await workspace.events('agent.ended'))[0];
    assert.deepEqual([first?.iteration, first?.purpose], [0, 'plan']);
  });

  test('only agents that plan can be asked: the demo agent has a plan, another command has none', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const dry = (...args: readonly string[]) =>
      workspace.cli('run', '--prd', 'Build it', '--dry-run', ...args).finished;
    assert.match((await dry('--agent', 'demo')).stdout, /written first \(by a planning agent\)/);
    assert.match((await dry('--command', 'node')).stderr, /the agent command cannot be limited/);
  });

  test('after two failed repairs it gives up and writes nothing', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const bad = draft([story('US-001', { acceptanceCriteria: [] })]);
    const cli = workspace.script([[bad]], '--prd', 'Build it');
    assert.equal((await cli.finished).code, 1);
    assert.equal((await workspace.agents()).length, 3);
    assert.equal((await workspace.events('plan.refused')).length, 3);
    const journal = await workspace.journal();
    assert.deepEqual(storedSentences(journal), []);
    // The problem of each draft, and all of it at the end.
    assert.equal(messagesIn(journal).length, 4);
    assert.equal(existsSync(path.join(workspace.folder, '.omc/prd.json')), false);
    const [runId = ''] = await workspace.runIds();
    const prompts = path.join(workspace.files.iterationDir(runId, 0));
    const second = await readFile(path.join(prompts, 'plan-2.md'), 'utf8');
    assert.match(second, /acceptanceCriteria/);
  });

  test('an existing PRD is archived byte for byte; the same task does not plan again', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const before = await workspace.read('.omc/prd.json');
    const script = [[draft([story('US-001'), story('US-002')])], ['work']];
    const first = workspace.script(script, '--prd', 'Build it', '--max-iterations', '1');
    assert.equal((await first.finished).code, 1, (await first.finished).stderr);
    const { archived } = await workspace.event('plan.written');
    assert.ok(archived);
    assert.equal(await workspace.read(path.join(archived, 'prd.json')), before);
    const second = workspace.script(script, '--prd', 'Build it');
    assert.equal((await second.finished).code, 0, (await second.finished).stderr);
    assert.deepEqual(await workspace.events('plan.written'), []);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  });

  /** A plan that wants another branch. */
  const onBranch: Step = says(
    JSON.stringify({
      ...{ project: 'Planned', branchName: 'ralph/planned', description: 'What was asked' },
      userStories: [story('US-001')],
    }),
  );

  test('a PRD tracked by git is replaced, and the new stories go to the new branch', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([[onBranch], ['work']], '--prd', 'Build it');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.equal(git(workspace, 'branch', '--show-current').trim(), 'ralph/planned');
    assert.deepEqual(await workspace.done(), ['US-001']);
  });

  test('uncommitted changes are refused before planning', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await workspace.write('file.txt', 'one\n');
    git(workspace, 'add', '-A');
    git(workspace, 'commit', '-qm', 'file');
    await workspace.write('file.txt', 'two\n');
    const { code, stderr } = await workspace.script([[onBranch]], '--prd', 'Build it').finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ralph-fresh: [^\n]*file\.txt[^\n]*--branch stay[^\n]*\n$/);
    assert.deepEqual(await workspace.agents(), []);
  });

  test('interrupted planning is repeated with --resume', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const first = workspace.script([['stay']], '--prd', 'Build it');
    await workspace.agent();
    first.child.kill('SIGINT');
    await first.finished;
    const script = [['stay'], [draft([story('US-001')])], ['work']];
    const second = workspace.script(script, '--resume');
    assert.equal((await second.finished).code, 0, (await second.finished).stderr);
    assert.equal((await workspace.runIds()).length, 1);
    assert.deepEqual(await workspace.done(), ['US-001']);
  });
});

describe('go N: the pure loop', { concurrency: 3 }, () => {
  async function withPlan(t: Parameters<typeof Workspace.create>[0]): Promise<Workspace> {
    const workspace = await Workspace.create(t, { stories: undefined });
    const dir = path.join(workspace.folder, '.ralph/ralph-1');
    await mkdir(dir, { recursive: true });
    await writeFile(path.join(dir, 'plan.md'), '# Goal\n\n- [ ] It works\n');
    return workspace;
  }
  const go = (workspace: Workspace, calls: readonly (readonly Step[])[], ...args: string[]) =>
    workspace.cliWith(
      { FAKE_AGENT_SCRIPT: JSON.stringify(calls) },
      ...['go', '1', '--agent', 'claude', '--claude-path', fakeAgent('scripted'), ...args],
    );

  test('COMPLETE: exit code 0', async t => {
    const workspace = await withPlan(t);
    const cli = go(workspace, [
      [
        { append: ['.ralph/ralph-1/progress.md', '## Iteration 1 - Began\n'] },
        { commit: 'one' },
        says('Continued.'),
      ],
      [says('<promise>COMPLETE: all of it</promise>')],
    ]);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    const prompt = await workspace.prompt(1);
    for (const name of ['plan.md', 'progress.md', 'errors.log']) {
      assert.match(prompt, new RegExp(`\\.ralph/ralph-1/${name.replace('.', '\\.')}`));
    }
    assert.equal((await workspace.events('iteration.ended')).length, 2);
  });

  test('status shows the plan instead of stories', async t => {
    const workspace = await withPlan(t);
    // Of a file that this run has nothing to do with.
    await workspace.write('.omc/prd.json', JSON.stringify({ userStories: openStories(3) }));
    const plan = '.ralph/ralph-1/plan.md';
    const file = path.join(workspace.folder, plan);
    const status = async (...args: string[]) =>
      (await workspace.cli('status', ...args).finished).stdout;
    const script = [
      [{ write: [plan, '# Goal\n\n- [x] Store\n- [ ] List\n'] }, { commit: 'one' }, says('On.')],
      [{ wait: 'go' }, says('More to do.')],
    ];
    const cli = go(workspace, script, '--max-iterations', '2');
    await workspace.agent(2);
    assert.match(
      await status(),
      /^Iteration 2\/2 · 1\/2 steps of \.ralph.ralph-1.plan\.md complete/,
    );
    await workspace.note('go');
    await cli.finished;
    assert.match(await status(), /\n1\/2 steps of \.ralph.ralph-1.plan\.md complete/);
    const { stories, plan: told } = JSON.parse(await status('--json'));
    assert.deepEqual(
      [stories, told],
      [
        { done: 0, total: 0 },
        { file, steps: { done: 1, total: 2 } },
      ],
    );
    await writeFile(file, '# Goal\n\nMake it work.\n');
    assert.match(await status(), /\n\.ralph.ralph-1.plan\.md · \$/);
    assert.deepEqual(JSON.parse(await status('--json')).plan, { file, steps: null });
  });

  test('NEEDS_HUMAN: exit code 2', async t => {
    const workspace = await withPlan(t);
    const cli = go(workspace, [[says('<promise>NEEDS_HUMAN: Which key?</promise>')]]);
    assert.equal((await cli.finished).code, 2);
    assert.match((await cli.finished).stdout, /Which key\?/);
  });

  test('no signal: exit code 1 after the maximum of iterations; failures go to errors.log', async t => {
    const workspace = await withPlan(t);
    const cli = go(
      workspace,
      [
        [{ commit: 'x' }, says('More to do.')],
        [{ result: ['No.', { is_error: true, api_error_status: 400 }] }, { exit: 1 }],
      ],
      ...['--max-iterations', '2'],
    );
    assert.equal((await cli.finished).code, 1);
    assert.match(
      await workspace.read('.ralph/ralph-1/errors.log'),
      /Iteration 2: The agent failed: No\./,
    );
  });

  test('a missing plan and an invalid number are refused', async t => {
    const workspace = await withPlan(t);
    const none = await workspace.cli('go', '7').finished;
    assert.equal(none.code, 1);
    assert.match(none.stderr, /^ralph-fresh: [^\n]*ralph-7[^\n]*plan\.md[^\n]*\n$/);
    assert.equal((await workspace.cli('go', 'x').finished).code, 64);
  });
});

describe('stuck', { concurrency: 3 }, () => {
  const idle = [[says('I thought about it.')]];

  test('the third iteration without progress raises an alert, the fourth gets a warning in its prompt', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script(idle, '--max-iterations', '4');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(
      (await workspace.events('story.stuck')).map(({ storyId, iterations, action }) => [
        storyId,
        iterations,
        action,
      ]),
      [['US-001', 3, 'warn']],
    );
    assert.doesNotMatch(await workspace.prompt(3), /Stuck/);
    assert.match(await workspace.prompt(4), /Stuck/);
  });

  test('skip: continues with the next story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script([...Array(4).fill(idle[0]), ['work']], '--on-stuck', 'skip');
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.done(), ['US-002']);
    assert.deepEqual(
      (await workspace.events('story.skipped')).map(({ storyId, by }) => [storyId, by]),
      [['US-001', 'stuck']],
    );
    assert.equal((await workspace.event('run.ended')).outcome, 'noReadyStory');
  });

  test('stop: ends the run and names the story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script(idle, '--on-stuck', 'stop');
    assert.equal((await cli.finished).code, 1);
    const end = await workspace.event('run.ended');
    assert.deepEqual([end.outcome, end.detail, end.iterations], ['stuck', 'US-001', 4]);
  });

  test('ask: waits for a person, who may skip the story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const cli = workspace.script([...Array(4).fill(idle[0]), ['work']], '--on-stuck', 'ask');
    const pause = await workspace.event('pause.started');
    assert.deepEqual([pause.reason, pause.storyId], ['stuck', 'US-001']);
    assert.equal((await workspace.cli('skip', 'US-001').finished).code, 0);
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await workspace.done(), ['US-002']);
  });

  test('ask: a quiet run says once that it waits, in the words of status', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const calls = [...Array(4).fill(idle[0]), ['work']];
    const cli = workspace.script(calls, '--on-stuck', 'ask', '--quiet');
    await workspace.event('pause.started');
    const waits = /Stuck: no progress on US-001 for 4 iterations\. Help with .*skip US-001$/m;
    const { stdout: status } = await workspace.cli('status').finished;
    assert.match(status, waits);
    assert.equal((await workspace.cli('resume').finished).code, 0);
    const { code, stderr, stdout } = await cli.finished;
    assert.deepEqual([code, stdout, stderr], [0, '', `ralph-fresh: ${waits.exec(status)?.[0]}\n`]);
  });

  test('ask: a hint also ends the wait', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.script([...Array(4).fill(idle[0]), ['work']], '--on-stuck', 'ask');
    await workspace.event('pause.started');
    assert.equal((await workspace.cli('hint', 'Look at the README.').finished).code, 0);
    assert.equal((await cli.finished).code, 0, (await cli.finished).stdout);
    assert.match(await workspace.prompt(5), /Look at the README\./);
  });

  test('a commit or a newly met criterion counts as progress', async t => {
    const stories = [{ ...openStories(1)[0], acceptanceCriteria: [{ text: 'a', done: false }] }];
    const workspace = await Workspace.create(t, { stories: stories as never });
    const cli = workspace.script(
      [
        idle[0] ?? [],
        [{ commit: 'x' }, says('A commit.')],
        [{ criteria: ['US-001', [{ text: 'a', done: true }]] }, says('A criterion.')],
      ],
      ...['--max-iterations', '3'],
    );
    assert.equal((await cli.finished).code, 1);
    assert.deepEqual(await outcomes(workspace), ['noProgress', 'progress', 'progress']);
  });
});

describe('budgets', { concurrency: 3 }, () => {
  test('the run ends when its budget is used up', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(5) });
    const cli = workspace.run('succeeds', '--budget', '0.5');
    assert.equal((await cli.finished).code, 1);
    const end = await workspace.event('run.ended');
    assert.deepEqual([end.outcome, end.iterations], ['budget', 2]);
    const status = JSON.parse((await workspace.cli('status', '--json').finished).stdout);
    assert.deepEqual([status.cost.usd, status.cost.budgetUsd], [0.5, 0.5]);
  });

  test('the reviewer is not called when the budget of the iteration is used up', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.run('succeeds', '--reviewer', '--iteration-budget', '0.25');
    assert.equal((await cli.finished).code, 1);
    assert.equal((await workspace.agents()).length, 1);
    assert.equal((await workspace.event('run.ended')).outcome, 'budget');
    assert.match(
      (await cli.finished).stdout,
      /The budget of one iteration is used up, so US-001 was not reviewed\. Raise the limit with --iteration-budget and /,
    );
    assert.deepEqual(await outcomes(workspace), [], 'it is judged when the run continues');
  });

  test('each call is limited to the remaining budget', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const out = (
      await workspace.cli(
        'run',
        '--dry-run',
        '--budget',
        '2',
        '--iteration-budget',
        '0.75',
        '--claude-path',
        fakeAgent('succeeds'),
      ).finished
    ).stdout;
    assert.match(out, /Budget: \$2\.00/);
    assert.match(out, /--max-budget-usd 0\.75/);
  });
});

describe('the branch named in the story file', { concurrency: 3 }, () => {
  const prd = (branchName: string) =>
    JSON.stringify({ project: 'Test', branchName, description: 'x', userStories: openStories(1) });

  test('is created and worked on', async t => {
    const workspace = await Workspace.create(t, { prd: prd('ralph/todo') });
    const cli = workspace.run('succeeds');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    assert.equal(git(workspace, 'branch', '--show-current').trim(), 'ralph/todo');
    assert.equal((await workspace.event('run.started')).branch, 'ralph/todo');
    assert.match(git(workspace, 'log', '-1', '--format=%s', 'ralph/todo'), /US-001/);
  });

  test('is what the run begins with if it has commits of its own', async t => {
    const workspace = await Workspace.create(t, { prd: prd('ralph/todo') });
    git(workspace, 'switch', '-qc', 'ralph/todo');
    git(workspace, 'commit', '-qm', 'of the branch', '--allow-empty');
    git(workspace, 'switch', '-q', 'main');
    const cli = workspace.run('succeeds');
    assert.equal((await cli.finished).code, 0, (await cli.finished).stderr);
    const { branch, startCommit } = await workspace.event('run.started');
    assert.equal(branch, 'ralph/todo');
    assert.equal(startCommit, git(workspace, 'rev-parse', 'ralph/todo~1').trim());
    assert.deepEqual(
      (await workspace.events('commit.recorded')).map(({ subject }) => /US-001/.test(subject)),
      [true],
    );
  });

  test('may bring the program of the agent along', async t => {
    const workspace = await Workspace.create(t, { prd: prd('ralph/todo') });
    git(workspace, 'switch', '-qc', 'ralph/todo');
    await workspace.write('agent.sh', '#!/bin/sh\necho "Nothing yet"\n');
    git(workspace, 'add', 'agent.sh');
    git(workspace, 'update-index', '--chmod=+x', 'agent.sh');
    git(workspace, 'commit', '-qm', 'agent');
    git(workspace, 'switch', '-qf', 'main');
    const run = (...args: readonly string[]) =>
      workspace.cli('run', '--max-iterations', '1', '--command', ...args).finished;
    assert.match((await run('./other.sh')).stderr, /other\.sh/);
    assert.match((await run('./agent.sh', '--branch', 'stay')).stderr, /agent\.sh/);
    assert.deepEqual(await workspace.runIds(), []);
    const tried = await run('./agent.sh', '--dry-run');
    assert.match(
      tried.stdout,
      /^Command: .*agent\.sh.*, which comes with the branch$/m,
      tried.stderr,
    );
    const { stderr } = await run('./agent.sh');
    assert.equal((await workspace.events('agent.started')).length, 1, stderr);
    assert.equal(git(workspace, 'branch', '--show-current').trim(), 'ralph/todo');
    git(workspace, 'switch', '-q', 'main');
    const claude = ['--agent', 'claude', '--new', '--claude-path', './agent.sh'];
    const second = await workspace.cli('run', '--max-iterations', '1', ...claude).finished;
    assert.equal(second.stderr, '');
    assert.equal(git(workspace, 'branch', '--show-current').trim(), 'ralph/todo');
  });

  test('uncommitted changes block the switch, unless --branch stay is set', async t => {
    const workspace = await Workspace.create(t, { prd: prd('ralph/todo') });
    await workspace.write('file.txt', 'one\n');
    git(workspace, 'add', '-A');
    git(workspace, 'commit', '-qm', 'file');
    await workspace.write('file.txt', 'two\n');
    const refused = await workspace.run('succeeds').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, /^ralph-fresh: [^\n]*ralph\/todo[^\n]*--branch stay[^\n]*\n$/);
    assert.doesNotMatch(refused.stderr, /git switch/, 'a run would create the branch');
    git(workspace, 'branch', 'ralph/todo');
    const there = await workspace.run('succeeds').finished;
    assert.match(
      there.stderr,
      /take them along with git switch --no-overwrite-ignore --merge "ralph\/todo", or/,
    );
    assert.deepEqual(await workspace.runIds(), []);
    assert.equal((await workspace.run('succeeds', '--branch', 'stay').finished).code, 0);
    assert.equal(git(workspace, 'branch', '--show-current').trim(), 'main');
  });

  /** `script` of other systems takes other arguments; on Linux it must be there. */
  const onLinux = { skip: process.platform === 'linux' ? false : 'needs script of util-linux' };
  const asks = /Your choice \(1, 2 or 3\): $/;

  async function dirtyWorkspace(t: TestContext): Promise<Workspace> {
    const workspace = await Workspace.create(t, { prd: prd('ralph/todo') });
    await workspace.write('file.txt', 'one\n');
    git(workspace, 'add', '-A');
    git(workspace, 'commit', '-qm', 'file');
    await workspace.write('file.txt', 'two\n');
    return workspace;
  }

  test('in a terminal it asks: 1 stays, for the whole run', onLinux, async t => {
    const workspace = await dirtyWorkspace(t);
    const terminal = Terminal.run(t, workspace, 'hangs');
    await terminal.shows(asks);
    terminal.type('7\r');
    await terminal.shows(/: 7\s+Your choice/);
    assert.deepEqual(await workspace.agents(), [], 'no number, no run');
    terminal.type('1\r');
    await workspace.agent();
    assert.equal((await workspace.event('run.started')).settings?.['branch'], 'stay');
    terminal.type('\x03');
    assert.equal(await terminal.finished, 130, terminal.output);
    assert.equal(git(workspace, 'branch', '--show-current').trim(), 'main');
    git(workspace, 'commit', '-qam', 'mine');
    const resumed = await workspace.run('succeeds', '--resume').finished;
    assert.equal(resumed.code, 0, resumed.stderr);
    assert.equal(git(workspace, 'branch', '--show-current').trim(), 'main');
  });

  test('in a terminal it asks: 2 takes the changes along', onLinux, async t => {
    const workspace = await dirtyWorkspace(t);
    git(workspace, 'branch', 'ralph/todo');
    const terminal = Terminal.run(t, workspace, 'succeeds');
    await terminal.shows(asks);
    terminal.type('2\r');
    assert.equal(await terminal.finished, 0, terminal.output);
    assert.equal(git(workspace, 'branch', '--show-current').trim(), 'ralph/todo');
    assert.equal(await workspace.read('file.txt'), 'two\n');
  });

  test('it refuses to take changes along that git would lose', onLinux, async t => {
    const workspace = await dirtyWorkspace(t);
    git(workspace, 'stash', '-q');
    git(workspace, 'switch', '-qc', 'ralph/todo');
    await workspace.write('file.txt', 'three\n');
    git(workspace, 'commit', '-qam', 'other');
    git(workspace, 'switch', '-q', 'main');
    git(workspace, 'stash', 'pop', '-q');
    const terminal = Terminal.run(t, workspace, 'succeeds');
    await terminal.shows(asks);
    terminal.type('2\r');
    assert.equal(await terminal.finished, 1, terminal.output);
    assert.match(terminal.output, /ralph-fresh: git cannot check out the branch ralph\/todo/);
    assert.equal(await workspace.read('file.txt'), 'two\n');
    assert.deepEqual(await workspace.agents(), []);
  });

  for (const [how, answer] of [
    ['3', (terminal: Terminal) => terminal.type('3\r')],
    ['Ctrl-C', (terminal: Terminal) => terminal.type('\x03')],
    ['Ctrl-D', (terminal: Terminal) => terminal.type('\x04')],
    ['the end of the input', (terminal: Terminal) => terminal.hangUp()],
  ] as const) {
    test(`in a terminal it asks: ${how} cancels`, onLinux, async t => {
      const workspace = await dirtyWorkspace(t);
      const terminal = Terminal.run(t, workspace, 'succeeds');
      await terminal.shows(asks);
      answer(terminal);
      assert.equal(await terminal.finished, 1, terminal.output);
      assert.match(terminal.output, /\nralph-fresh: [^\n]*ralph\/todo[^\n]*--branch stay/);
      assert.deepEqual([await workspace.runIds(), await workspace.agents()], [[], []]);
      assert.equal(git(workspace, 'branch', '--show-current').trim(), 'main');
    });
  }

  test('a CI terminal is not asked', onLinux, async t => {
    const workspace = await dirtyWorkspace(t);
    const terminal = Terminal.run(t, workspace, 'succeeds', { CI: 'true' });
    assert.equal(await terminal.finished, 1, terminal.output);
    assert.doesNotMatch(terminal.output, /Your choice/);
  });
});

describe('--dry-run', () => {
  test('prints the first prompt and what would run, and leaves nothing behind', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const before = git(workspace, 'status', '--porcelain', '--ignored');
    const cli = workspace.run('succeeds', '--dry-run', '--verify', 'npm test');
    const { code, stderr, stdout } = await cli.finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /Ralph Fresh Context - Iteration 1\/20/);
    assert.match(stdout, /Story number 1/);
    assert.match(stdout, /npm test/);
    assert.equal(git(workspace, 'status', '--porcelain', '--ignored'), before);
    assert.deepEqual(await workspace.agents(), []);
    assert.equal(existsSync(workspace.files.stateDir), false);
  });

  test('explains why no agent would start', async t => {
    const [story] = openStories(1);
    assert.ok(story);
    const done = await Workspace.create(t, { stories: [{ ...story, passes: true }] });
    assert.match(
      (await done.run('succeeds', '--dry-run').finished).stdout,
      /^No agent would be started\. All stories are complete; there is nothing to do$/m,
    );
    const waiting = await Workspace.create(t, { stories: [{ ...story, dependsOn: ['US-9'] }] });
    assert.match(
      (await waiting.run('succeeds', '--dry-run').finished).stdout,
      /^No agent would be started\. No story is ready: all remaining ones wait for others\. "ralph-fresh stories" shows which\.$/m,
    );
    const aside = await Workspace.create(t, {
      stories: [
        { ...story, status: 'cancelled' },
        { ...story, id: 'US-002', dependsOn: ['US-001'] },
        { ...story, id: 'US-003', dependsOn: ['US-004'] },
        { ...story, id: 'US-004', dependsOn: ['US-003'] },
      ],
    });
    assert.match(
      (await aside.run('succeeds', '--dry-run').finished).stdout,
      /^No agent would be started\. No story is ready, because these wait for each other: US-003 /m,
    );
    for (const [ids, words] of [
      [['US-002'], 'US-002 waits for US-001, which is put aside (cancelled).'],
      [
        ['US-001', 'US-002'],
        'No agent works on US-001, because the story file has put it aside (cancelled).',
      ],
    ] as const) {
      const flags = ids.flatMap(id => ['--story', id]);
      const { code, stderr } = await aside.run('succeeds', '--dry-run', ...flags).finished;
      assert.equal(code, 1);
      assert.ok(stderr.includes(words), stderr);
    }
  });
});
