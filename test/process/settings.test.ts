import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import {
  type GivenSettings,
  PLANNER_SETTINGS,
  settingArguments,
} from '../../src/orchestrator/settings/settingTable.ts';
import { fakeAgent, openStories, type RunningCli, Workspace } from '../support/ralph.ts';

/** A value for each setting that a planner uses, besides the agent itself. */
const PLANNED: GivenSettings = {
  agent: 'demo',
  ...{ model: 'opus', fallbackModel: 'sonnet', effort: 'high', maxTurnsPerIteration: 9 },
  ...{ retryAttempts: 1, retryDelaySeconds: 1, timeLimitMinutes: 9, idleLimitMinutes: 9 },
  ...{ budgetUsd: 9, iterationBudgetUsd: 9, permissionMode: 'plan', skipPermissions: true },
  ...{ claudePath: '/x', sdkPath: '/x', extraArgs: ['-x'], apiKey: 'remove' },
};

/** Environment in which this folder holds the person's own settings. */
async function ownSettings(
  workspace: Workspace,
  settings: object,
): Promise<Readonly<Record<string, string>>> {
  const folder = path.join(workspace.notesDir, 'config');
  await mkdir(path.join(folder, 'ralph-fresh'), { recursive: true });
  await writeFile(
    path.join(folder, 'ralph-fresh', 'config.json'),
    `// mine\n${JSON.stringify(settings, null, 2)}\n`,
  );
  return { XDG_CONFIG_HOME: folder, APPDATA: folder };
}

async function refused(t: TestContext, args: readonly string[], pattern: RegExp): Promise<void> {
  const workspace = await Workspace.create(t);
  const { code, stderr, stdout } = await workspace.cli(...args).finished;
  assert.deepEqual([code, stdout], [64, '']);
  assert.match(stderr, /^ralph-fresh: [^\n]+\n$/);
  assert.match(stderr, pattern);
  assert.deepEqual(await workspace.runIds(), []);
}

describe('flags', { concurrency: 4 }, () => {
  const wrong: readonly [readonly string[], RegExp][] = [
    [
      ['run', '--budget', 'much'],
      /"--budget" is "much"\. It must be an amount of US dollars above 0/,
    ],
    [['run', '--on-stuck=panic'], /It must be one of "warn", "skip", "ask", "stop"\./],
    [['run', '--max-iterations', '0'], /whole number from 1/],
    [['run', '--model=--yolo'], /does not begin with a dash/],
    [['run', '--tasks', ' | '], /at least one task/],
    [['run', '--prd'], /--prd needs a task/],
    [['run', '--prd', '--tasks', 'a|b', 'task'], /cannot be used with option '--tasks/],
    [['run', '--resume', 'do this'], /not a run id/],
    [['run', '--verifi', 'npm test'], /unknown option '--verifi'/],
    [['plan', '--max-iterations', '3', 'x'], /--max-iterations controls a run, .* Leave it out/],
    [['plan', '--no-reviewer', 'x'], /reviewer controls a run/],
    [['split', '--verify=npm test', 'US-001'], /--verify controls a run, and "split" starts none/],
  ];
  for (const [args, pattern] of wrong) {
    test(`${args.join(' ')}: exit code 64 and one line`, async t => {
      await refused(t, args, pattern);
    });
  }

  test('docs/settings.md describes every flag of run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const { stdout } = await workspace.cli('run', '--help').finished;
    const flags = (stdout.match(/(?<=^ +)--[a-z-]+/gm) ?? []).filter(flag => flag !== '--help');
    assert.ok(flags.length > 40);
    const text = await readFile(new URL('../../docs/settings.md', import.meta.url), 'utf8');
    assert.deepEqual(
      flags.filter(flag => !new RegExp(`\`${flag}\\b`).test(text)),
      [],
    );
  });

  test('plan and split list the flags they use and accept each of them', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const flagsOf = async (command: string) =>
      new Set(
        (await workspace.cli(command, '--help').finished).stdout.match(/(?<=^ +)--[a-z-]+/gm),
      );
    const run = await flagsOf('run');
    for (const [command, argument] of [
      ['plan', 'x'],
      ['split', 'US-001'],
    ] as const) {
      const listed = await flagsOf(command);
      for (const flag of [
        '--verify',
        '--reviewer',
        '--no-reviewer',
        '--branch',
        '--allowed-tools',
      ]) {
        assert.deepEqual([flag, run.has(flag), listed.has(flag)], [flag, true, false]);
      }
      const { agent: _, ...given } = PLANNED;
      const { code, stderr } = await workspace.cli(
        ...[command, argument, '--agent=demo', ...settingArguments(given, PLANNER_SETTINGS)],
      ).finished;
      assert.equal(code, 1);
      assert.match(stderr, /The demo agent/);
      for (const flag of settingArguments(PLANNED, PLANNER_SETTINGS)) {
        assert.ok(listed.has(flag.replace(/=.*/, '')), flag);
      }
    }
  });

  test('lists are passed by repeated flags, and switches can be turned on and off', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write('.omc/config.json', '{ "verify": ["not-this"], "reviewer": true }');
    const { code, stderr, stdout } = await workspace.run(
      'succeeds',
      ...['--verify', 'git --version', '--verify=git status'],
      ...['--no-reviewer', '--dry-run'],
    ).finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(stdout, /git --version.*git status/);
    assert.doesNotMatch(stdout, /not-this/);
    assert.match(stdout, /Reviewer: no/);
  });
});

describe('settings files', { concurrency: 4 }, () => {
  test("flags override the workspace file, which overrides the person's own", async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.write('.omc/config.json', '{ "maxIterations": 2, "model": "theirs" } // ours');
    const env = await ownSettings(workspace, {
      maxIterations: 9,
      model: 'mine',
      claudePath: fakeAgent('noCommit'),
    });
    const { code, stderr } = await workspace.cliWith(env, 'run', '--model', 'given').finished;
    assert.deepEqual([code, stderr], [1, '']);
    const [started] = await workspace.events('run.started');
    assert.deepEqual([started?.maxIterations, started?.model], [2, 'given']);
    assert.equal((await workspace.agents()).length, 2);
  });

  test('a program that is named but not chosen as the agent is told by doctor, --dry-run and run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const settings = { command: '/bin/mine', claudePath: fakeAgent('succeeds') };
    const env = await ownSettings(workspace, settings);
    const words =
      /Claude Code does the work, and not \/bin\/mine: .*config\.json has "command", .* Add "agent": "command" there/;
    for (const args of [['doctor', '--only', 'command'], ['run', '--dry-run'], ['run']]) {
      const { code, stderr, stdout } = await workspace.cliWith(env, ...args).finished;
      assert.equal(code, 0, stderr);
      assert.match(stdout.replaceAll('\n', ' '), words, args.join(' '));
    }
    const chosen = ['run', '--new', '--dry-run', '--agent', 'claude'];
    await workspace.cli('untick', 'US-001').finished;
    const { stdout } = await workspace.cliWith(env, ...chosen).finished;
    assert.match(stdout, /Agent: claude/);
    assert.doesNotMatch(stdout, /does the work/);
  });

  test('a program that cannot be run is told with the name that its setting has in the file, as a flag and in VS Code', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const env = await ownSettings(workspace, { claudePath: '/nowhere/claude' });
    const { code, stderr } = await workspace.cliWith(env, 'run').finished;
    assert.equal(code, 1);
    assert.match(
      stderr,
      /"\/nowhere\/claude", set as claudePath \(--claude-path, in VS Code ralphFresh\.claudePath\), cannot be run\./,
    );
  });

  test('two flags that name different agents are told by doctor, --dry-run and run', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const claude = ['--agent', 'claude', '--claude-path', fakeAgent('succeeds')];
    const words = (flag: string, name: string) =>
      new RegExp(
        `The agent claude does the work, and not ${name}: --agent claude and --${flag} contradict each other\\. (Next: )?Leave out one of the two`,
      );
    const both: readonly (readonly [readonly string[], readonly [string, string]])[] = [
      [
        ['doctor', '--only', 'command', '--preset', 'amp'],
        ['preset', 'amp'],
      ],
      [
        ['run', '--dry-run', '--command', '/bin/other'],
        ['command', '/bin/other'],
      ],
      [
        ['run', '--command', '/bin/other'],
        ['command', '/bin/other'],
      ],
    ];
    for (const [args, [flag, name]] of both) {
      const { code, stderr, stdout } = await workspace.cli(...args, ...claude).finished;
      assert.equal(code, 0, stderr);
      assert.match(stdout.replaceAll(/\s+/g, ' '), words(flag, name), args.join(' '));
    }
  });

  test('settings that only a person may set are refused from the workspace before any agent starts', async t => {
    const workspace = await Workspace.create(t);
    const env = await ownSettings(workspace, {});
    await workspace.write(
      '.omc/config.json',
      `{\n  "claudePath": ${JSON.stringify(fakeAgent('succeeds'))}\n}`,
    );
    const { code, stderr } = await workspace.cliWith(env, 'run').finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ralph-fresh: [^\n]+\n$/);
    assert.match(stderr, /config\.json, line 2: "claudePath" is not taken from a workspace/);
    assert.ok(stderr.includes(path.join(env['XDG_CONFIG_HOME'] ?? '', 'ralph-fresh')));
    assert.deepEqual([await workspace.agents(), await workspace.runIds()], [[], []]);
  });

  test('a mistake is reported with its line, even for a detached run', async t => {
    const workspace = await Workspace.create(t);
    await workspace.write('.omc/config.json', '{\n  "maxIteratons": 2\n}');
    const { code, stderr } = await workspace.run('succeeds', '--detach').finished;
    assert.equal(code, 1);
    assert.match(
      stderr,
      /line 2: There is no setting "maxIteratons"\. Did you mean "maxIterations"\?\n$/,
    );
    assert.deepEqual(await workspace.runIds(), []);
  });
});

test('a detached run gets every given flag', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  const { code, stderr } = await workspace.run(
    'succeeds',
    ...['--detach', '--model', 'given', '--max-iterations=4', '--stuck-threshold', '2'],
    ...['--verify', 'git --version', '--verify', 'git rev-parse HEAD'],
    ...['--budget', '7.5', '--no-reviewer', '--', '--not-an-option'],
  ).finished;
  assert.deepEqual([code, stderr], [0, '']);
  const started = await workspace.event('run.started');
  assert.deepEqual(
    [
      started.model,
      started.maxIterations,
      started.stuckThreshold,
      started.verify,
      started.budgetUsd,
      started.task,
    ],
    ['given', 4, 2, ['git --version', 'git rev-parse HEAD'], 7.5, '--not-an-option'],
  );
  const { outcome } = await workspace.event('run.ended');
  assert.equal(outcome, 'completed');
});

test('a dry run prints the first prompt and leaves nothing behind', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(2) });
  const { code, stderr, stdout } = await workspace.run('succeeds', '--dry-run').finished;
  assert.deepEqual([code, stderr], [0, '']);
  assert.match(stdout, /US-001/);
  assert.deepEqual(await workspace.agents(), []);
  assert.equal(existsSync(workspace.files.stateDir), false);
  assert.deepEqual(await readdir(path.join(workspace.folder, '.omc')), ['prd.json']);
});

test('tasks become stories in the given order', async t => {
  const workspace = await Workspace.create(t, { stories: undefined });
  const { code, stderr } = await workspace.run('succeeds', '--tasks', 'first | second').finished;
  assert.deepEqual([code, stderr], [0, '']);
  const prd = JSON.parse(await readFile(path.join(workspace.folder, '.omc/prd.json'), 'utf8'));
  assert.deepEqual(
    prd.userStories.map(({ title }: { title: string }) => title),
    ['first', 'second'],
  );
});

describe('a resumed run', { concurrency: 3 }, () => {
  /** A run that was stopped in its first iteration. */
  async function stopped(
    t: TestContext,
    ...args: readonly string[]
  ): Promise<{ readonly workspace: Workspace; readonly runId: string }> {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    await stopOne(workspace, workspace.script([['stay']], ...args));
    return { workspace, runId: (await workspace.runIds())[0] ?? '' };
  }

  async function stopOne(workspace: Workspace, cli: RunningCli): Promise<void> {
    await workspace.agent();
    cli.child.kill('SIGINT');
    assert.equal((await cli.finished).code, 130);
  }

  test('keeps its stories: a changed list starts a new run, or is refused with --resume', async t => {
    const { runId, workspace } = await stopped(t);
    await workspace.write('other.json', JSON.stringify({ userStories: openStories(1) }));
    const other = ['--file', 'other.json'];
    const refusal = await workspace.run('succeeds', '--resume', ...other).finished;
    assert.equal(refusal.code, 64);
    assert.match(refusal.stderr, /^ralph-fresh: The last run works on \.omc\/prd\.json\..*--new/);
    const tasks = await workspace.run('succeeds', '--resume', '--tasks', 'a|b').finished;
    assert.equal(tasks.code, 64);
    assert.match(tasks.stderr, /other stories.*--new/);
    assert.deepEqual(await workspace.runIds(), [runId]);
    assert.equal((await workspace.run('succeeds', ...other).finished).code, 0);
    assert.equal((await workspace.runIds()).length, 2);
  });

  test('is replaced by a new one if none of its stories is left in the file', async t => {
    const { runId, workspace } = await stopped(t);
    const stories = [{ ...openStories(1)[0], id: 'NEW-1' }];
    await workspace.write('.omc/prd.json', JSON.stringify({ userStories: stories }));
    assert.equal((await workspace.run('succeeds').finished).code, 0);
    const runIds = await workspace.runIds();
    assert.deepEqual([runIds.length, runIds[0]], [2, runId]);
  });

  test('continues with the same tasks; other tasks start a new run', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    await stopOne(workspace, workspace.script([['stay']], '--tasks', 'first|second'));
    assert.equal((await workspace.event('run.started')).task, 'first; second');
    const same = await workspace.run('succeeds', '--tasks', 'first|second', '--dry-run').finished;
    assert.deepEqual([same.code, same.stderr], [0, '']);
    assert.equal((await workspace.run('succeeds', '--tasks', 'first|second').finished).code, 0);
    assert.equal((await workspace.runIds()).length, 1);
    assert.equal((await workspace.run('succeeds', '--tasks', 'third').finished).code, 0);
    assert.equal((await workspace.runIds()).length, 2);
  });

  test('withholds API keys from its agents and uses the smallest budget that is set', async t => {
    const { workspace } = await stopped(t, '--api-key', 'remove', '--budget', '7');
    const own = await ownSettings(workspace, { budgetUsd: 3 });
    const { code, stdout } = await workspace.cliWith(
      { ...own, ANTHROPIC_API_KEY: 'key' },
      ...['run', '--agent', 'claude', '--claude-path', fakeAgent('succeeds')],
    ).finished;
    assert.equal(code, 0);
    assert.doesNotMatch(stdout, /Billing: the API key/);
    const [resumed] = await workspace.events('run.resumed');
    assert.deepEqual([resumed?.payer, resumed?.budgetUsd], ['login', 3]);
    assert.deepEqual(resumed?.settings?.['apiKey'], 'remove');
  });

  test('lets flags override its saved settings, but not files', async t => {
    const { workspace } = await stopped(t, '--budget', '7', '--max-iterations', '9');
    await workspace.write('.omc/config.json', '{ "maxIterations": 1, "budgetUsd": 20 }');
    const { code, stdout } = await workspace.run('succeeds', '--dry-run').finished;
    assert.equal(code, 0);
    assert.match(stdout, /at most 9\n/);
    assert.match(stdout, /Budget: \$7\.00/);
    // The iteration that was stopped was the first.
    assert.match(stdout, /iteration 2\b/i);
    const flag = await workspace.run('succeeds', '--dry-run', '--budget', '50').finished;
    assert.match(flag.stdout, /Budget: \$50\.00/);
  });

  test('does not switch its agent silently', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const command = ['--command', fakeAgent('scripted')];
    await stopOne(
      workspace,
      workspace.cliWith({ FAKE_AGENT_SCRIPT: JSON.stringify([['stay']]) }, 'run', ...command),
    );
    const other = await workspace.cli('run').finished;
    assert.equal(other.code, 1);
    assert.match(other.stderr, /^ralph-fresh: The run was started with another program.*--command/);
    const chosen = await workspace.run('succeeds', '--resume').finished;
    assert.equal(chosen.code, 0, chosen.stderr);
    assert.equal((await workspace.runIds()).length, 1);
  });

  test('does not lose its checks when a settings file changes', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await workspace.write('.omc/config.json', '{ "verify": ["git --version"] }');
    await stopOne(workspace, workspace.script([['stay']]));
    await workspace.write('.omc/config.json', '{ "verify": ["exit 0"] }');
    for (const args of [[], ['--resume']]) {
      const { code, stderr } = await workspace.run('succeeds', ...args).finished;
      assert.equal(code, 1);
      assert.match(stderr, /^ralph-fresh: .*config\.json.*--verify "git --version".*--new/);
    }
    assert.deepEqual(await workspace.done(), []);
    const { code, stderr } = await workspace.run('succeeds', '--verify', 'exit 0').finished;
    assert.equal(code, 0, stderr);
    assert.equal((await workspace.runIds()).length, 1);
  });

  test('cannot be led out of the folder by a journal', async t => {
    const { runId, workspace } = await stopped(t);
    const file = workspace.files.journalFile(runId);
    const [begin = '', ...rest] = (await readFile(file, 'utf8')).split('\n');
    const forged = JSON.stringify({ ...JSON.parse(begin), storyFile: '../../elsewhere.json' });
    await writeFile(file, [forged, ...rest].join('\n'));
    const { code, stderr } = await workspace.run('succeeds', '--resume').finished;
    assert.equal(code, 1);
    assert.match(stderr, /elsewhere\.json, which is outside this folder.*--file/);
  });
});
