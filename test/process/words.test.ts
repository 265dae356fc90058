import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { englishOf } from '../../src/base/say.ts';
import { fakeAgent, openStories, type Step, Workspace } from '../support/ralph.ts';

const execFileText = promisify(execFile);

/** Runs a command that works. @returns what it printed */
async function printed(workspace: Workspace, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await workspace.cli(...args).finished;
  assert.equal(code, 0, `${args.join(' ')}: ${stderr}`);
  return stdout;
}

/** Runs a command that refuses with one line. @returns that line */
async function refusal(workspace: Workspace, ...args: readonly string[]): Promise<string> {
  const { code, stdout, stderr } = await workspace.cli(...args).finished;
  assert.notEqual(code, 0);
  assert.equal(stdout, '');
  assert.match(stderr, /^ralph-fresh: [^\n]+\n$/);
  return stderr;
}

/** A run with an agent that prints plain text and tells no cost. */
function runCommand(workspace: Workspace, ...args: readonly string[]) {
  return workspace.cli(
    ...['run', '--agent', 'command', '--command', fakeAgent('plainText')],
    ...args,
  );
}

const stories = (workspace: Workspace): Step => ({
  result: [
    `\`\`\`json\n${JSON.stringify({
      ...{ project: 'Planned', branchName: 'ralph/planned', description: workspace.folder },
      userStories: openStories(2),
    })}\n\`\`\``,
  ],
});

/** Windows does not read the first line of a script. */
const interpreters = { skip: process.platform === 'win32' && 'no interpreters there' };

describe('an unknown cost', { concurrency: 3 }, () => {
  test('is never shown as zero in the run, status or receipt', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const dry = await runCommand(workspace, '--budget', '20', '--dry-run').finished;
    assert.match(dry.stdout, /^Budget: \$20\.00, not enforced$/m);
    const { code, stdout, stderr } = await runCommand(workspace, '--budget', '20').finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /Budget: \$20\.00, not enforced/);
    assert.match(stdout, /The budget cannot be enforced.*--max-iterations and --time-limit/);
    assert.match(stdout, /Iteration 1: story done · .*1 commit · cost unknown/);
    assert.match(
      await printed(workspace, 'status'),
      /1\/1 stories complete · cost unknown, so the budget of \$20\.00 is not enforced/,
    );
    const { cost } = JSON.parse(await printed(workspace, 'status', '--json'));
    assert.deepEqual([cost.usd, cost.unknown, cost.budgetUsd], [0, true, 20]);
    const receipt = await printed(workspace, 'receipt');
    assert.match(receipt, /^1 +US-001 +story done +\d+\.\d s +– +– +– +unknown +1$/m);
    const one = await printed(workspace, 'receipt', '1');
    assert.match(one, / s · cost unknown\nTokens: not reported by the agent\n/);
    const { total } = JSON.parse(await printed(workspace, 'receipt', '--json'));
    assert.equal(total.costUnknown, true);
    assert.doesNotMatch(
      stdout + receipt + one + (await printed(workspace, 'status')),
      /\$0\.00|0 turns/,
    );
  });

  test(
    'is unknown in the receipt, too, if the agent could not be started',
    interpreters,
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const agent = path.join(workspace.folder, 'agent');
      await writeFile(agent, '#!/no/such/interpreter\n', { mode: 0o755 });
      const run = await workspace.cli('run', '--agent', 'command', '--command', agent).finished;
      assert.match(run.stdout, /Iteration 1: failed · .* · cost unknown/);
      assert.match(await printed(workspace, 'status'), / · cost unknown$/m);
      const receipt = await printed(workspace, 'receipt');
      assert.match(receipt, /^1 +US-001 +failed .* unknown +0$/m);
      assert.doesNotMatch(receipt, /\$0\.00/);
    },
  );

  test('is not shown as zero while the first agent works either', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const cli = workspace.cliWith(
      { FAKE_AGENT_SCRIPT: JSON.stringify([[{ wait: 'go' }, 'work']]) },
      ...['run', '--agent', 'command', '--command', fakeAgent('scripted')],
    );
    await workspace.agent();
    const receipt = await printed(workspace, 'receipt');
    assert.match(receipt, /^1 +US-001 +not ended +\d+\.\d s +– +– +– +unknown +0$/m);
    assert.doesNotMatch(receipt + (await printed(workspace, 'receipt', '1')), /\$0\.00/);
    await workspace.note('go');
    assert.equal((await cli.finished).code, 0);
  });

  test('is reported by doctor if there is a budget', async t => {
    const workspace = await Workspace.create(t);
    const { stdout } = await workspace.cli(
      ...['doctor', '--agent', 'command', '--command', fakeAgent('plainText'), '--budget', '20'],
    ).finished;
    assert.match(stdout, /^! .*does not report its cost.*--max-iterations/m);
  });

  test('is not mentioned for an agent that reports its cost or costs nothing', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { stdout } = await workspace.run('succeeds', '--budget', '20').finished;
    assert.match(stdout, /Budget: \$20\.00\n/);
    assert.doesNotMatch(stdout, /unknown|not enforced/);
    assert.match(await printed(workspace, 'status'), / · \$\d+\.\d\d of \$20\.00$/m);
  });
});

describe('the state of a run', { concurrency: 3 }, () => {
  test('shows that stories are being planned', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const cli = workspace.script([[{ wait: 'go' }, stories(workspace)]], '--prd', 'Build a shop');
    await workspace.agent();
    await workspace.event('agent.started');
    assert.match(
      await printed(workspace, 'status'),
      /^Planning the stories · no stories yet, to be planned from: Build a shop/,
    );
    assert.equal(JSON.parse(await printed(workspace, 'status', '--json')).planning, true);
    await printed(workspace, 'stop', '--now');
    await cli.finished;
    assert.doesNotMatch(await printed(workspace, 'status'), /0\/0/);
  });

  test('shows a rollback and the stories that are open again', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    assert.match(await printed(workspace, 'status'), /^COMPLETE after 3 iterations\n3\/3 stories/);
    await printed(workspace, 'rollback', '2');
    const [event] = await workspace.events('run.rolledBack');
    const hash = event?.commit.slice(0, 7);
    const [end, back, open, count] = (await printed(workspace, 'status')).split('\n');
    assert.equal(end, 'COMPLETE after 3 iterations');
    assert.equal(back, `Rolled back to before iteration 2, by commit ${hash}.`);
    assert.equal(open, 'Open now: US-002, US-003. Work on them with "ralph-fresh run".');
    assert.match(count ?? '', /^1\/3 stories complete/);
    const { rolledBack, stories: counts } = JSON.parse(
      await printed(workspace, 'status', '--json'),
    );
    assert.deepEqual([rolledBack.iteration, counts], [2, { done: 1, total: 3 }]);
    assert.match(await printed(workspace, 'logs'), /Rolled back to before iteration 2/);
    await printed(workspace, 'tick', 'US-003');
    assert.match(await printed(workspace, 'status'), /^Open now: US-002\. Work on it with "/m);
    // The next run begins with a clean slate.
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    assert.doesNotMatch(await printed(workspace, 'status'), /Rolled back|Open now/);
  });

  test('shows one story count after a rollback of a run that ended at its limit', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.run('succeeds', '--max-iterations', '2').finished;
    await printed(workspace, 'rollback', '2');
    const status = await printed(workspace, 'status');
    assert.match(status, /with 1 of 3 stories complete/);
    assert.match(status, /Rolled back to before iteration 2/);
    assert.match(status, /^1\/3 stories complete/m);
  });
});

test('a run without checks says so in one line and how to set one', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  const { stdout } = await workspace.run('succeeds').finished;
  assert.match(stdout, /Checks: none, so the agents' claims are trusted\. .*--verify "<command>"/);
  assert.equal(stdout.match(/Checks: none/g)?.length, 1);
  // Where there are no stories, a warning says it, and nothing else says it again.
  const bare = await Workspace.create(t, { stories: undefined });
  const task = await bare.cli('run', 'Do it', '--agent', 'demo').finished;
  assert.match(task.stdout, /There are no checks, so the agent's promise alone ends this run/);
  assert.doesNotMatch(task.stdout, /Checks: none/);
});

test('ids, branches and folders of a repository never reach the terminal as control characters', {
  skip: process.platform === 'win32' && 'no such names there',
}, async t => {
  const userStories = [
    { id: '\u001b[31mA', title: 'One', passes: false, dependsOn: ['B'] },
    { id: 'B\u0007', title: 'Two', passes: false, dependsOn: ['unknown'] },
  ];
  const workspace = await Workspace.create(t, {
    prd: JSON.stringify({ branchName: '\u202eevil', userStories }),
  });
  const list = 'specs/\u001b]0;pwn\u0007\u001b[31mx/tasks.md';
  await mkdir(path.dirname(path.join(workspace.folder, list)), { recursive: true });
  await workspace.write(list, '- [ ] T001 One\n');
  for (const args of [
    ['run', '--dry-run'],
    ['stories'],
    ['next'],
    ['doctor'],
    ['stories', '--file', list],
    ['run', '--dry-run', '--file', list],
  ]) {
    const { stderr, stdout } = await workspace.cli(...args).finished;
    assert.notEqual(stdout + stderr, '');
    assert.equal(/(?!\n)[\p{Cc}\p{Bidi_Control}]/u.test(stdout + stderr), false, stdout + stderr);
  }
});

test('a displayed plan says that nothing is written yet and how to write it', async t => {
  const workspace = await Workspace.create(t, { stories: undefined });
  const args = ['--agent', 'claude', '--claude-path', fakeAgent('scripted')];
  const { code, stderr, stdout } = await workspace.cliWith(
    { FAKE_AGENT_SCRIPT: JSON.stringify([[stories(workspace)]]) },
    ...['plan', ...args, 'Build it'],
  ).finished;
  assert.equal(code, 0, stderr);
  assert.equal(JSON.parse(stdout).project, 'Planned');
  assert.match(stderr, /nothing is written yet\. Save it as .*prd\.json, or add --write/);
});

test('a single lost commit is reported in the singular', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(2) });
  const git = (...args: string[]) =>
    execFileText('git', args, { cwd: workspace.folder, env: workspace.env });
  await writeFile(path.join(workspace.folder, 'mine.txt'), 'mine');
  await git('add', '-A');
  await git('commit', '--quiet', '-m', 'Mine');
  const hook = path.join(workspace.notesDir, 'reset.mjs');
  await writeFile(
    hook,
    `#!/usr/bin/env node
import { execFileSync } from 'node:child_process';
execFileSync('git', ['reset', '--hard', '--quiet', 'HEAD~1']);
console.log('Done.');
`,
    { mode: 0o755 },
  );
  const { stdout } = await workspace.cli(
    ...['run', '--agent', 'command', '--command', hook, '--max-iterations', '1'],
  ).finished;
  assert.match(stdout, /1 earlier commit is no longer on the branch/);
});

describe('a run that is over', { concurrency: 3 }, () => {
  const blocked: readonly Step[] = [{ result: ['<promise>TASK BLOCKED: no key</promise>'] }];
  const idle: readonly Step[] = [{ result: ['I thought about it.'] }];

  test('does not advise what a person has done since, and says what holds now', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.script([blocked, blocked]).finished;
    assert.match(
      await printed(workspace, 'status'),
      /^No story is ready\. Left: .*run with --resume\.$/m,
    );
    await printed(workspace, 'tick', 'US-001');
    assert.match(
      await printed(workspace, 'status'),
      /^No story is ready\. Left: .* US-002 is blocked/m,
    );
    await printed(workspace, 'untick', 'US-001');
    assert.match(
      await printed(workspace, 'status'),
      /^No story was ready\. Left: US-001, US-002\.\nOpen now: US-001, US-002\. Work on them with "/,
    );
    await printed(workspace, 'tick', 'US-001');
    await printed(workspace, 'tick', 'US-002');
    assert.match(
      await printed(workspace, 'status'),
      /^No story was ready\. Left: US-001, US-002\.\nAll stories are done now\.\n2\/2 stories complete/,
    );
  });

  test('names the story that used up its iterations without progress', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { stdout } = await workspace.script([idle, idle], '--max-iterations', '2').finished;
    const words =
      /^.*Max iterations reached \(2\) .*complete\. No progress on US-001 for 2 iterations;/m;
    assert.match(stdout, words);
    assert.match(await printed(workspace, 'status'), words);
  });

  test('names the story whose agents commit and never mark it as done, also to the next of them', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const commits: readonly Step[] = [
      { append: ['work.txt', 'more\n'] },
      { commit: 'feat: US-001' },
      { result: ['Done.'] },
    ];
    const limit = ['--max-iterations', '3'];
    const { stdout } = await workspace.script([commits, commits, commits], ...limit).finished;
    assert.match(
      stdout,
      /complete\. No agent has marked US-001 as done, although the last 3 iterations brought progress\. If it is done, run "ralph-fresh tick US-001"\. Raise the limit with --max-iterations/,
    );
    const told = /\*\*Not marked as done\*\*: the last 2 iterations on US-001/;
    assert.doesNotMatch(await workspace.prompt(2), /Not marked as done/);
    assert.match(await workspace.prompt(3), told);
  });

  for (const lanes of [[], ['--lanes', '2']]) {
    test(`a word for the state that is not known is told to the person and the next agent ${lanes.join(' ')}`, async t => {
      const list = (status: string) =>
        `{"userStories":[\n{"id":"S1","title":"one","status":"${status}"}]}\n`;
      const workspace = await Workspace.create(t, { stories: undefined });
      await workspace.write('.omc/prd.json', list('pending'));
      workspace.git('add', '-f', '.omc/prd.json');
      workspace.git('commit', '--quiet', '-m', 'stories');
      const wrong: readonly Step[] = [
        { append: ['work.txt', 'more\n'] },
        { write: ['.omc/prd.json', list('finito')] },
        { commit: 'feat: S1' },
        { result: ['Done.'] },
      ];
      const nothing: readonly Step[] = [{ result: ['Nothing.'] }];
      const limit = ['--max-iterations', '2', ...lanes];
      const { stdout } = await workspace.script([wrong, nothing], ...limit).finished;
      const words = 'prd.json:2. The status "finito" is not a word that is known here';
      assert.equal(stdout.split(words).length, 2, stdout);
      const told =
        /prd\.json is not read as it was meant\*\*: .*"finito".* Only `"status": "\w+"` marks your story/;
      assert.doesNotMatch(await workspace.prompt(1), told);
      assert.match(await workspace.prompt(2), told);
    });
  }

  test('an id that an agent gives to a second story is told to the person and the next agents', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const story = (id: string, title: string) => ({ id, title, passes: false });
    const list = (...userStories: readonly object[]) => JSON.stringify({ userStories }, null, 1);
    const old = [story('S1', 'one'), story('S2', 'two')];
    await workspace.write('.omc/prd.json', list(...old));
    const adds: readonly Step[] = [
      { write: ['.omc/prd.json', list(story('S2', 'new'), ...old)] },
      { commit: 'feat: more' },
      { result: ['Added.'] },
    ];
    const commits: readonly Step[] = [
      { append: ['work.txt', 'more\n'] },
      { commit: 'feat: S2' },
      { result: ['Done.'] },
    ];
    const limit = ['--max-iterations', '4'];
    const script = [adds, commits, commits, commits];
    const { stdout } = await workspace.script(script, ...limit).finished;
    const words = 'The id S2 is already used on line 4: give this story an id of its own.';
    assert.equal(stdout.split(words).length, 2, stdout);
    assert.match(
      stdout,
      /marked S2 as done, although the last 3 .* progress\. Several stories have this id: give each an id of its own\. Raise/,
    );
    assert.doesNotMatch(stdout, /ralph-fresh tick S2/);
    assert.match(
      await workspace.prompt(2),
      /\*\*Several stories have the same id\*\*: S2\. Yours is “new” \(line 3\): mark only that one\./,
    );
    const next = await workspace.script([], '--new', '--dry-run').finished;
    assert.ok(next.stdout.includes(words), next.stdout);
  });

  test('does not name a story that is done by now as one without progress', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const other: readonly Step[] = [{ tick: 'US-001' }, { result: ['I ticked US-001.'] }];
    const limits = ['--stuck-threshold', '1', '--max-iterations', '4', '--guard', 'off'];
    const { stdout } = await workspace.script([idle, idle, idle, other], ...limits).finished;
    assert.match(stdout, /Iteration 4\/4 ===\n.*\n.*US-002: /);
    assert.match(stdout, /Max iterations reached \(4\) with 1 of 3 stories complete\./);
    assert.doesNotMatch(stdout, /No progress on US-001 for/);
  });

  test('does not name a story without progress that has left its file or is done there since', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await workspace.script([idle, idle], '--max-iterations', '2').finished;
    const text = await workspace.read('.omc/prd.json');
    assert.match(await printed(workspace, 'status'), /No progress on US-001 for 2 iterations;/);
    for (const now of [
      text.replace('"passes": false', '"passes": true'),
      text.replaceAll('US-001', 'US-009'),
    ]) {
      await workspace.write('.omc/prd.json', now);
      const status = await printed(workspace, 'status');
      assert.match(status, /^Max iterations reached \(2\)/);
      assert.doesNotMatch(status, /No progress on/);
    }
  });

  test('says how to answer what is still asked when all stories are done', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const doneAndAsks: readonly Step[] = [
      ...[{ write: ['US-001.txt', 'One.'] }, { tick: 'US-001' }, { commit: 'feat: US-001' }],
      { result: ['<promise>NEEDS_HUMAN: Blue?</promise>'] },
    ];
    assert.equal((await workspace.script([doneAndAsks]).finished).code, 2);
    await printed(workspace, 'tick', 'US-002');
    assert.match(
      await printed(workspace, 'status'),
      /^Needs you: US-001 asks: Blue\? Answer with .*ralph-fresh answer.*\nAll stories are done now\.$/m,
    );
  });

  test('names the check that refused the story until the iterations were used up', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const limits = ['--verify', 'exit 3', '--max-iterations', '2'];
    await workspace.script([['work'], ['work']], ...limits).finished;
    assert.match(
      await printed(workspace, 'status'),
      /^Max iterations reached .* US-001 has failed 2 times in a row: its check "exit 3" failed\. Raise/m,
    );
  });
});

describe('output of others', { concurrency: 3 }, () => {
  test('the exit code of an agent is told next to its only words', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const fails: readonly Step[] = [{ stderr: 'hi' }, { exit: 3 }];
    const { stdout } = await workspace.script([fails], '--max-iterations', '1').finished;
    assert.match(stdout, /The agent failed \(exit code 3\): hi$/m);
  });

  test('the last of fifty error lines are shown, with the file that has all of them', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const words = Array.from({ length: 50 }, (_, at) => `complaint ${at + 1}`).join('\n');
    const { stdout } = await workspace.script(
      [[{ stderr: words }, { exit: 3 }]],
      ...['--max-iterations', '1'],
    ).finished;
    assert.doesNotMatch(stdout, /complaint 44\n/);
    assert.match(stdout, /The agent failed \(exit code 3\)\. Its last output:\n {2}complaint 45\n/);
    assert.match(stdout, /complaint 50\n/);
    const [, file = ''] = /Its full error output is in (\S+)/.exec(stdout) ?? [];
    assert.equal(await readFile(path.join(workspace.folder, file), 'utf8'), `${words}\n`);
    const status = await printed(workspace, 'status');
    assert.ok(status.split('\n').length < 6, status);
  });

  test('a warning does not include the class name of an error', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    // No restore point can be kept in the place of a file.
    await writeFile(path.join(workspace.folder, '.git', 'refs', 'ralph-fresh'), '');
    const { stdout } = await workspace.run('succeeds').finished;
    const [warning] = await workspace.events('warning');
    assert.equal(warning?.code, 'restorePointNotKept');
    assert.doesNotMatch(stdout + englishOf(warning?.detail ?? ''), /\b\w*Error:/);
  });
});

test('an oversized story file names the limit and the next step', async t => {
  const workspace = await Workspace.create(t, { prd: `[${' '.repeat(9 * 1024 * 1024)}]` });
  assert.match(await refusal(workspace, 'stories'), /larger than 8 MB.*another file/);
});

describe('suggested next steps work', { concurrency: 3 }, () => {
  test('--resume is not suggested after a complete run, which would refuse it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    await printed(workspace, 'untick', 'US-002');
    for (const args of [['skip', 'US-002'], ['skip', '--undo'], ['pause'], ['resume']]) {
      const said = await refusal(workspace, ...args);
      assert.doesNotMatch(said, /--resume/);
      assert.match(said, /"ralph-fresh run( --detach)?"/);
    }
  });

  test('the demo agent says that it cannot split stories and names an agent that can', async t => {
    const workspace = await Workspace.create(t);
    assert.match(
      await refusal(workspace, 'split', 'US-001', '--agent', 'demo'),
      /^ralph-fresh: The demo agent .*cannot split a story\. Choose the agent claude or sdk/,
    );
    assert.equal(existsSync(path.join(workspace.files.stateDir, 'plan')), false);
  });

  test('all kinds of story files are named if there are no stories', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const said = await refusal(workspace, 'run');
    for (const place of [
      'prd.json',
      'Markdown plan',
      'Task Master',
      'Backlog.md',
      'BMAD',
      'Beads',
    ]) {
      assert.ok(said.includes(place), said);
    }
  });

  test('a missing file is named once', async t => {
    const workspace = await Workspace.create(t);
    const said = await refusal(workspace, 'run', '--file', 'nope.json');
    assert.equal(said.split('nope.json').length, 2, said);
  });

  test('the flag that raises a used-up budget is named', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    const { stdout } = await workspace.run('succeeds', '--budget', '0.01').finished;
    assert.match(stdout, /is used up .*--budget .*--resume/);
    assert.doesNotMatch(stdout, /budgetUsd/);
  });

  test('an incomplete or conflicting flag refers to the help', async t => {
    const workspace = await Workspace.create(t);
    for (const args of [
      ['run', '--budget'],
      ['run', '--new', '--resume'],
      ['run', '--detach', '--dry-run'],
    ]) {
      assert.match(await refusal(workspace, ...args), /See "ralph-fresh run --help"\.$/m);
    }
    for (const command of ['hint', 'answer']) {
      assert.match(await refusal(workspace, command, ' '), /The text is empty\. Write it in one/);
    }
  });

  test('a command in a subfolder names the folder that has the run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    const below = path.join(workspace.folder, 'below');
    await mkdir(below);
    const named = `No run in this folder yet, but in ${workspace.folder}. Go there, or name it: --cwd`;
    assert.ok((await printed(workspace, 'status', '--cwd', below)).startsWith(named));
    for (const command of [['logs'], ['hint', 'Use blue'], ['discovered'], ['places']]) {
      assert.ok((await refusal(workspace, ...command, '--cwd', below)).includes(named));
    }
    // A tool's own folder has the tool's list, but is not the project.
    await mkdir(path.join(workspace.folder, '.kiro/specs/search'), { recursive: true });
    await workspace.write('.kiro/specs/search/tasks.md', '- [ ] 1. Search\n');
    const inTool = path.join(workspace.folder, '.kiro/specs');
    assert.ok(
      (await refusal(workspace, 'next', '--cwd', inTool)).includes(
        `but in ${workspace.folder}. Go there, or name it: --cwd`,
      ),
    );
  });

  test('no ids are suggested for an empty list', async t => {
    const workspace = await Workspace.create(t, { stories: [] });
    assert.match(
      await refusal(workspace, 'tick', 'A'),
      /contains no stories yet\. Add at least one/,
    );
  });

  test('plan --help lists no flags that only run has', async t => {
    const workspace = await Workspace.create(t);
    assert.doesNotMatch(
      await printed(workspace, 'plan', '--help'),
      /--verify|--max-iterations|--on-stuck|--guard|--reviewer/,
    );
  });

  test('go --help lists no flags that only runs with stories have, and pin says what its agent does', async t => {
    const workspace = await Workspace.create(t);
    const help = await printed(workspace, 'go', '--help');
    assert.match(help, /--verify/);
    assert.doesNotMatch(help, /--branch|--lanes|--accept-discovered|--github/);
    assert.match(await printed(workspace, 'pin', '--help'), /--agent.* who writes the words:/);
  });
});

test('output that a full disk cuts off does not pass for the whole', {
  skip: existsSync('/dev/full') ? false : 'needs /dev/full',
}, async t => {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  const { code, stderr } = await refusedOutput(workspace.folder);
  assert.equal(code, 1);
  assert.match(stderr, /^ralph-fresh: No space is left on the disk \(ENOSPC\)\. Free some space/);
});

async function refusedOutput(folder: string): Promise<{ code: unknown; stderr: string }> {
  const cli = path.resolve(import.meta.dirname, '../../dist/cli.js');
  const command = `"${process.execPath}" "${cli}" stories --cwd "${folder}" > /dev/full`;
  const env = { PATH: process.env['PATH'], HOME: folder };
  return execFileText('sh', ['-c', command], { env }).then(
    ({ stderr }) => ({ code: 0, stderr }),
    (error: { code: unknown; stderr: string }) => error,
  );
}
