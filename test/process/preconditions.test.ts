import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { mkdir, readdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { englishOf } from '../../src/base/say.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { fakeAgent, openStories, until, Workspace } from '../support/ralph.ts';
import { inAll, variants } from '../support/variants.ts';

const execFileText = promisify(execFile);
const FULL_DISK = pathToFileURL(path.resolve(import.meta.dirname, '../support/fullDisk.mjs')).href;
const FULL = { NODE_OPTIONS: `--import=${FULL_DISK}`, FULL_DISK: 'all' };
const AGENT = ['--agent', 'claude', '--claude-path', fakeAgent('succeeds')];

async function git({ env, folder }: Workspace, ...args: readonly string[]): Promise<string> {
  const { stdout } = await execFileText('git', [...args], { cwd: folder, env });
  return stdout;
}

/** Stories that name a branch. */
function onBranch(branchName: string): string {
  return JSON.stringify({ project: 'Test', branchName, userStories: openStories(2) });
}

interface Lack {
  readonly what: string;
  readonly id: string;
  readonly words: RegExp;
  readonly prd?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly isRepository?: false;
  readonly make: (workspace: Workspace) => Promise<unknown>;
}

/** Every file below the state, to see that a refusal leaves nothing. */
async function filesIn(folder: string): Promise<readonly string[]> {
  const isFolder = statSync(folder, { throwIfNoEntry: false })?.isDirectory() === true;
  return isFolder ? (await readdir(folder, { recursive: true })).sort() : [];
}

const REFUSED: readonly Lack[] = [
  {
    what: 'no repository',
    id: 'git',
    words: /is not in a git repository.*git init/,
    isRepository: false,
    make: async () => undefined,
  },
  {
    what: 'a bare repository',
    id: 'git',
    words: /is a bare git repository.*clone.*worktree/,
    isRepository: false,
    make: workspace => git(workspace, 'init', '--quiet', '--bare', '.'),
  },
  {
    what: 'a bare repository in the folder .git, for worktrees',
    id: 'git',
    words: /is a bare git repository.*clone.*worktree/,
    isRepository: false,
    make: workspace => git(workspace, 'init', '--quiet', '--bare', '.git'),
  },
  {
    what: 'a setting that declares the repository bare',
    id: 'git',
    words: /core\.bare declares that .* has no files.*git config --unset core\.bare/,
    make: workspace => git(workspace, 'config', 'core.bare', 'true'),
  },
  {
    what: 'no commit of the files that are there',
    id: 'git',
    words: /no commit yet, so .* change in a\.txt could not be .*git add -A, then git commit/,
    isRepository: false,
    make: async workspace => {
      await git(workspace, 'init', '--quiet');
      await workspace.write('a.txt', 'mine');
    },
  },
  {
    what: 'a current commit that is missing',
    id: 'git',
    words:
      /is damaged: its current commit [0-9a-f]{10} is missing\. Restore the folder \.git.*clone/,
    make: async ({ folder }) => {
      const objects = path.join(folder, '.git/objects');
      for (const name of (await readdir(objects)).filter(({ length }) => length === 2)) {
        await rm(path.join(objects, name), { recursive: true });
      }
    },
  },
  {
    what: 'a branch whose file names no commit',
    id: 'git',
    words: /git cannot read this repository: .*restore the folder \.git/,
    make: workspace => workspace.write('.git/refs/heads/main', 'nothing\n'),
  },
  {
    what: 'no HEAD',
    id: 'git',
    words: /git cannot read this repository: .*restore the folder \.git/,
    make: ({ folder }) => rm(path.join(folder, '.git/HEAD')),
  },
  {
    what: 'settings of git with a mistake',
    id: 'git',
    words: /git cannot read this repository: .*line 1 .*config\. Correct that line/,
    make: workspace => workspace.write('.git/config', '[core\n'),
  },
  {
    what: 'a worktree whose repository is elsewhere',
    id: 'git',
    words: /not a git repository: .*gone\. The file \.git .*git worktree repair/,
    isRepository: false,
    make: workspace => workspace.write('.git', 'gitdir: /gone\n'),
  },
  {
    what: 'a damaged index',
    id: 'unfinished',
    words: /index file .*\. The index is damaged: remove the file .*git reset/,
    make: workspace => workspace.write('.git/index', 'x'.repeat(100)),
  },
  {
    what: 'uncommitted changes, and stories that name another branch',
    id: 'branch',
    words: /branch ralph\/login, but there are uncommitted changes.*--branch stay/,
    prd: onBranch('ralph/login'),
    make: workspace => workspace.write('.omc/prd.json', `${onBranch('ralph/login')}\n`),
  },
  {
    what: 'a name that no branch can have',
    id: 'branch',
    words: /"HEAD" is not a valid git branch name/,
    prd: onBranch('HEAD'),
    make: async () => undefined,
  },
  {
    what: 'a branch name with a character that nobody sees',
    id: 'branch',
    words: /"ralph\/\\u001blogin" is not a valid git branch name/,
    prd: onBranch('ralph/\u001blogin'),
    make: async () => undefined,
  },
  {
    what: 'a branch name of two lines',
    id: 'branch',
    words: /"ralph\/\\u000alogin" is not a valid git branch name/,
    prd: onBranch('ralph/\nlogin'),
    make: async () => undefined,
  },
  {
    what: 'a branch that another worktree has',
    id: 'branch',
    words: /ralph\/login, which is checked out in .*other; .*ralph-fresh run --cwd ".*other"/,
    prd: onBranch('ralph/login'),
    make: ({ folder, ...workspace }) =>
      git(
        { folder, ...workspace } as Workspace,
        ...['worktree', 'add', '--quiet', '-b', 'ralph/login', path.join(folder, '../other')],
      ),
  },
  {
    what: 'a branch that has no room next to another',
    id: 'branch',
    words: /ralph\/login, .* because the branch ralph exists\. Use another name .*--branch stay/,
    prd: onBranch('ralph/login'),
    make: workspace => git(workspace, 'branch', 'ralph'),
  },
  {
    what: 'an unknown placeholder in the prompt',
    id: 'prompt',
    words: /prompt\.md.*nonsense/s,
    make: workspace => workspace.write('.omc/prompt.md', 'Do {{nonsense}}\n'),
  },
  {
    what: 'a file in the place of the state',
    id: 'state',
    words: /There is a file at .*state, .*Move it out of the way/,
    make: workspace => workspace.write('.omc/state', 'a file'),
  },
  {
    what: 'a file in the place of the runs',
    id: 'state',
    words: /There is a file at .*runs, .*Move it out of the way/,
    make: async ({ files }) => {
      await mkdir(files.stateDir);
      await writeFile(files.runsDir, 'a file');
    },
  },
  {
    what: 'a folder in the place of the handoff',
    id: 'state',
    words: /There is a folder at .*handoff\.json, .*Move it out of the way/,
    make: ({ files }) => mkdir(files.handoffFile, { recursive: true }),
  },
  {
    what: 'a full disk',
    id: 'state',
    words: /No space is left on the disk \(ENOSPC\).*Free some space/,
    env: FULL,
    make: async () => undefined,
  },
  {
    what: 'a folder that this account may not write',
    id: 'state',
    words: /This user account may not use .*\.omc.* Give it the permissions/,
    env: { ...FULL, FULL_DISK_CODE: 'EACCES' },
    make: async () => undefined,
  },
  {
    what: 'nobody as whom an agent could commit',
    id: 'identity',
    words: /does not know who commits.*git config --global user\.name/,
    make: async workspace => {
      await git(workspace, 'config', '--unset', 'user.name');
      await git(workspace, 'config', 'user.useConfigOnly', 'true');
    },
  },
  {
    what: 'a merge that is not finished',
    id: 'unfinished',
    words: /A "git merge" is in progress here.*git merge --abort/,
    make: async workspace => {
      await git(workspace, 'switch', '--quiet', '--create', 'side');
      await workspace.write('a.txt', 'side');
      await git(workspace, 'add', '--all');
      await git(workspace, 'commit', '--quiet', '--message', 'Side');
      await git(workspace, 'switch', '--quiet', 'main');
      await git(workspace, 'merge', '--quiet', '--no-commit', '--no-ff', 'side');
    },
  },
  ...['index.lock', 'HEAD.lock', 'refs/heads/main.lock'].map(name => ({
    what: `${name} of a git process that crashed`,
    id: 'unfinished',
    words: new RegExp(`The lock file .*\\.git/${name} is here, .* remove that file`),
    make: (workspace: Workspace) => workspace.write(`.git/${name}`, ''),
  })),
  {
    what: 'conflicts of a stash',
    id: 'unfinished',
    words: /There are conflicts in a\.txt, .*git add/,
    make: async workspace => {
      const commit = async (text: string) => {
        await workspace.write('a.txt', text);
        await git(workspace, 'add', '--all');
        await git(workspace, 'commit', '--quiet', '--message', text);
      };
      await commit('first');
      await workspace.write('a.txt', 'stashed');
      await git(workspace, 'stash', '--quiet');
      await commit('second');
      await git(workspace, 'stash', 'pop', '--quiet').catch(() => undefined);
    },
  },
  {
    what: 'another mode',
    id: 'otherModes',
    words: /The mode "swarm" .* is active .*cancel/,
    make: workspace => workspace.write('.omc/swarm-state.json', '{"active":true}'),
  },
  ...(
    [
      ['command', /nosuchprogram was not found on PATH .*Install it/, '--command', 'nosuchprogram'],
      ['claude', /"no-such-claude", set as .*--claude-path/, '--claude-path', 'no-such-claude'],
      ['sdk', /Agent SDK/, '--agent', 'sdk'],
    ] as const
  ).map(([id, words, ...flags]) => ({
    what: `no program of the agent ${id}, before a branch is checked out`,
    ...{ id, words, flags },
    prd: onBranch('ralph/login'),
    make: async () => undefined,
  })),
];

describe('preconditions of a run', { concurrency: 3 }, () => {
  for (const [index, refused] of REFUSED.entries()) {
    const { env = {}, flags = [], id, isRepository, make, prd, what, words } = refused;
    const ways = variants([['--dry-run'], [], ['--detach']], 1, index);
    test(`${what}: doctor and ${ways.map(way => ['run', ...way].join(' ')).join(', ')} refuse`, async t => {
      const options = { ...(prd && { prd }), ...(isRepository === false && { git: false }) };
      const workspace = await Workspace.create(t, options);
      await make(workspace);
      const before = await filesIn(workspace.files.stateDir);
      const doctor = await workspace.cliWith(env, 'doctor', '--json', '--only', id, ...flags)
        .finished;
      const [found] = JSON.parse(doctor.stdout).checks;
      assert.deepEqual([doctor.code, found.id, found.level], [1, id, 'error'], doctor.stdout);
      assert.match([found.message, found.fix].join(' '), words);
      const agent = flags.length === 0 ? AGENT : flags;
      for (const way of ways) {
        const { code, stderr } = await workspace.cliWith(env, 'run', ...agent, ...way).finished;
        assert.equal(code, 1, way.join(' '));
        assert.match(stderr, /^ralph-fresh: [^\n]+\n$/);
        assert.match(stderr, words);
      }
      const rest = (await filesIn(workspace.files.stateDir)).filter(name =>
        /probe|\.tmp/.test(name),
      );
      assert.deepEqual(
        rest,
        before.filter(name => /probe|\.tmp/.test(name)),
      );
      assert.equal((await workspace.journal()).length, 0);
      assert.deepEqual(await workspace.agents(), []);
      if (flags.length > 0) {
        assert.equal(workspace.git('branch', '--show-current'), 'main');
      }
    });
  }

  test('on a detached HEAD all three warn, and the run works', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await git(workspace, 'switch', '--quiet', '--detach');
    const words = /No branch is checked out .*git switch -c/;
    const doctor = await workspace.cli('doctor', '--only', 'head').finished;
    assert.deepEqual(doctor.code, 0);
    assert.match(doctor.stdout, /^! No branch is checked out/m);
    assert.match((await workspace.cli('run', ...AGENT, '--dry-run').finished).stdout, words);
    const { code, stdout } = await workspace.run('succeeds').finished;
    assert.equal(code, 0);
    assert.match(stdout, words);
    assert.match(englishOf((await workspace.event('warning')).detail), words);
  });

  test('without a commit, a run starts if only its own files are there, and continues with more', async t => {
    const workspace = await Workspace.create(t, { git: false });
    await git(workspace, 'init', '--quiet');
    await git(workspace, 'config', 'user.name', 'A Person');
    await git(workspace, 'config', 'user.email', 'person@example.com');
    const doctor = await workspace.cli('doctor', '--only', 'git').finished;
    assert.equal(doctor.code, 0);
    assert.match(doctor.stdout, /^! The repository has no commit yet\. Make a first commit/);
    const few = ['--max-iterations', '1'];
    const begun = await workspace.script([[{ result: ['Nothing.'] }]], ...few).finished;
    assert.match(begun.stdout, /no commit yet\. Make a first commit/);
    const codes = (await workspace.events('warning')).map(({ code }) => code);
    assert.deepEqual([...new Set(codes)], ['precondition']);
    await workspace.write('a.txt', 'not committed by the agent');
    const more = ['--resume', '--max-iterations', '2', '--dry-run'];
    const { code, stderr, stdout } = await workspace.script([['work']], ...more).finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Warning: .*no commit yet, so what agents change in a\.txt could not/m);
  });

  test('--dry-run shows what the next run will do after the loop was killed', async t => {
    const workspace = await Workspace.create(t);
    const killed = workspace.script([['breakStories', { wait: 'never' }]]);
    await until('half a story file', async () => {
      const text = await workspace.read('.omc/prd.json');
      return text.startsWith('{ "userStories": [ {');
    });
    process.kill(killed.pid, 'SIGKILL');
    await killed.finished;
    const { code, stderr, stdout } = await workspace.script([['work']], '--dry-run').finished;
    assert.equal(code, 0, stderr);
    assert.match(stdout, /^Judged first: iteration 1, which was cut off$/m);
    assert.match(stdout, /Iteration 2\/20[\s\S]*\*\*US-001:/);
    const run = await workspace.script([['work']]).finished;
    assert.equal(run.code, 0, run.stderr);
  });

  inAll(test)('--dry-run puts a stuck story after the others, like the run', async t => {
    const workspace = await Workspace.create(t);
    const stuck = [[{ result: ['Nothing.'] }]];
    const few = ['--stuck-threshold', '1', '--max-iterations', '3'];
    await workspace.script(stuck, ...few).finished;
    const more = ['--resume', '--max-iterations', '9'];
    const { stdout } = await workspace.script([['work']], ...more, '--dry-run').finished;
    assert.match(stdout, /Iteration 4\/9[\s\S]*\*\*US-002:/);
    await workspace.script([['work']], ...more).finished;
    assert.equal((await workspace.events('iteration.started'))[3]?.storyId, 'US-002');
  });

  test('doctor, --dry-run and run warn of a flaky check that is no check', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const checks = (flaky: string) => ['--verify', 'true', '--flaky-check', flaky];
    const words = /"flase" is to get a second try .*exactly as in "verify", which has: true/;
    const all = await workspace.cli('doctor', ...AGENT, ...checks('flase'), '--json').finished;
    const found = JSON.parse(all.stdout).checks.find(({ id }: { id: string }) => id === 'flaky');
    assert.equal(found?.level, 'warning');
    const dryRun = await workspace.script([['work']], ...checks('flase'), '--dry-run').finished;
    assert.match(dryRun.stdout, words);
    const run = await workspace.script([['work']], ...checks('flase')).finished;
    assert.equal(run.code, 0, run.stderr);
    assert.match(run.stdout, words);
    const right = await workspace.script([['work']], ...checks('true'), '--new').finished;
    assert.doesNotMatch(right.stdout, /second try/);
  });

  test('doctor, --dry-run and run warn of a check that cannot pass', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const broken = ['--verify', 'nosuchprogram', '--verify', 'npm test'];
    const words = [
      'The check "nosuchprogram" cannot pass: there is no program "nosuchprogram" in PATH.',
      'The check "npm test" cannot pass: there is no package.json.',
    ];
    const all = await workspace.cli('doctor', ...AGENT, ...broken, '--only', 'verify').finished;
    for (const line of words) {
      assert.ok(all.stdout.includes(`! ${line}`), all.stdout);
    }
    assert.doesNotMatch(all.stdout, /✓ Checks/);
    const dryRun = await workspace.script([['work']], ...broken, '--dry-run').finished;
    const few = [...broken, '--max-iterations', '1'];
    const run = await workspace.script([['work']], ...few).finished;
    for (const line of words) {
      assert.ok(dryRun.stdout.includes(line), dryRun.stdout);
      assert.ok(run.stdout.split('=== Iteration 1')[0]?.includes(line), run.stdout);
    }
    await workspace.write('package.json', '{"scripts": {"test": "exit 0"}}');
    const flags = [...AGENT, '--verify', 'npm test', '--only', 'verify'];
    const right = await workspace.cli('doctor', ...flags).finished;
    assert.match(right.stdout, /^✓ Checks that must pass before a story is done: npm test$/m);
  });

  test('a run says at its start and at its end that a story waits for one that the file does not have', async t => {
    const [first, second, third] = openStories(3);
    const write = async (...userStories: readonly object[]) => {
      const text = JSON.stringify({ userStories }, null, 1);
      await workspace.write('.omc/prd.json', text);
      return text.slice(0, text.indexOf('US-009')).split('\n').length;
    };
    const waiting = { ...second, dependsOn: ['US-009'] };
    const workspace = await Workspace.create(t);
    const line = await write({ ...first }, waiting);
    const words = `US-002 waits for US-009, which the story file does not have (prd.json:${line}): correct the id, or remove it.`;

    const dryRun = await workspace.script([], '--dry-run').finished;
    assert.ok(dryRun.stdout.includes(words), dryRun.stdout);
    const chosen = await workspace.script([], '--story', 'US-001', '--dry-run').finished;
    assert.ok(!chosen.stdout.includes('US-009'), chosen.stdout);
    const run = await workspace.script([['work']]).finished;
    const [start = '', end = ''] = run.stdout.split('=== Iteration 1');
    assert.ok(start.includes(words), run.stdout);
    assert.ok(end.includes(`No story is ready. Left: US-002. ${words} Fix the cause`), run.stdout);
    const status = await workspace.cli('status').finished;
    assert.ok(status.stdout.includes(words), status.stdout);

    await write({ ...first }, waiting, { ...third, dependsOn: ['US-008'] });
    const more = await workspace.script([], '--new', '--dry-run').finished;
    assert.ok(more.stdout.includes(`${words} More of these: 1 (`), more.stdout);
    await write({ ...first }, { ...waiting, passes: true });
    const done = await workspace.script([], '--new', '--dry-run').finished;
    assert.ok(!done.stdout.includes('US-009'), done.stdout);
  });

  test('doctor, --dry-run and run warn of entries that are not read as stories', async t => {
    const workspace = await Workspace.create(t);
    const of = ['--file', 'tasks.md'];
    await workspace.write('tasks.md', '- [ ] One\n- [] Two\n');
    const words = /No agent works on an entry .* not read as a story: tasks\.md:2\. .*"- \[ \]/;
    const doctor = await workspace.cli('doctor', ...of, '--only', 'unread').finished;
    assert.match(doctor.stdout, /^! No agent works on an entry .*: tasks\.md:2\./m);
    // One that looks at everything tells it once.
    const whole = await workspace.cli('doctor', ...of).finished;
    assert.equal(whole.stdout.match(/"- \[ \]/g)?.length, 1, whole.stdout);
    const stories = await workspace.cli('doctor', ...of, '--only', 'stories').finished;
    assert.match(stories.stdout, /^! .*tasks\.md: 0 of 1 .* Line 2: .*"- \[ \]/m);
    assert.match((await workspace.script([], ...of, '--dry-run').finished).stdout, words);
    // What is not among the chosen stories gets no agent in any case.
    const chosen = await workspace.script([], ...of, '--story', '#1', '--dry-run').finished;
    assert.match(chosen.stdout, /^Stories: only #1$/m);
    assert.doesNotMatch(chosen.stdout, /not read as/);
    const run = await workspace.script([['work']], ...of).finished;
    assert.match(run.stdout, words);
    const warnings = await workspace.events('warning');
    assert.ok(warnings.some(({ detail }) => words.test(englishOf(detail))));
    // Also where no agent is started.
    await workspace.write('tasks.md', '- [x] One\n- [] Two\n-[ ] Three\n');
    const all =
      /nothing to do\..*\nWarning: No agent works on entries .*: tasks\.md:2, tasks\.md:3\. /;
    assert.match((await workspace.script([], ...of, '--new').finished).stdout, all);
    assert.match((await workspace.cli('next', ...of).finished).stdout, all);
    for (const [list, problem] of [
      [
        '[{"id":"A","title":"a","passes":true,"passes":false}]',
        /^! A part of the story file is not/m,
      ],
      [
        '[{"id":"A","title":"a","pases":true}]',
        /^! The state of stories is not read, .*\.json:1\./m,
      ],
      [
        '[{"id":"A","title":"a","prioritiy":1}]',
        /^! The priority or title of stories is not read, .*\.json:1\./m,
      ],
    ] as const) {
      await workspace.write('list.json', list);
      const one = await workspace.cli('doctor', '--file', 'list.json', '--only', 'unread').finished;
      assert.match(one.stdout, problem);
    }
    await workspace.write('tasks.md', '- [x] One\n- [x] Two\n');
    const right = await workspace.script([], ...of, '--new').finished;
    assert.doesNotMatch(right.stdout, /not read as/);
  });

  test('doctor, --dry-run and run warn of each kind of what is not read, and each once', async t => {
    const workspace = await Workspace.create(t);
    const list = [
      '{"userStories":[',
      '{"id":"S1","title":"one","status":"finito","dependson":["S3"]},',
      '{"id":"S2","title":"two","staus":"done"},',
      '"text story",',
      '{"id":"S3","title":"three","passes":false,"Priority":1},',
      '{"id":"S3","title":"four","passes":false,"priority":"urgent"},',
      '{"id":"S4","title":"five","passes":"perhaps"}',
      ']}',
    ].join('\n');
    await workspace.write('list.json', list);
    const of = ['--file', 'list.json'];
    const kinds = [
      'No agent works on an entry of the story file that is not read as a story: list.json:4. ',
      'The state of stories is not read, because its key is not known: list.json:3. ',
      'The state of stories is not known, so they count as not done: list.json:2, list.json:7. Line 2: The status "finito" is not a word that is known here',
      'Stories have the id of another story: list.json:6. The id S3 is already used on line 5',
      'What stories wait for is not read: list.json:2. ',
      'The priority or title of stories is not read, because its key is not known: list.json:5. ',
      'The priority of stories is not known, so they come after others: list.json:6. ',
    ];
    const few = ['--max-iterations', '1'];
    const told = [
      (await workspace.script([], ...of, '--dry-run').finished).stdout,
      (await workspace.cli('doctor', ...of).finished).stdout,
      (await workspace.script([['work']], ...of, ...few).finished).stdout,
    ].map(text => text.split('=== Iteration 1')[0] ?? '');
    for (const text of told) {
      for (const words of kinds) {
        assert.equal(text.split(words).length, 2, `${words}\n${text}`);
      }
    }
    // A plan has its marks, and a fence may hide items.
    await workspace.write('tasks.md', '- [ ] One\n- [!] Two\n\n```\n- [ ] Three\n');
    const plan = await workspace.script([], '--file', 'tasks.md', '--dry-run').finished;
    assert.match(plan.stdout, /^Warning: No agent works on items .* hides: tasks\.md:4\. /m);
  });

  test('doctor leaves nothing behind if there is no problem', async t => {
    const workspace = await Workspace.create(t);
    const all = await workspace.cli('doctor', ...AGENT, '--json').finished;
    const levels = JSON.parse(all.stdout).checks.map(
      ({ id, level }: { id: string; level: string }) => [id, level],
    );
    const ids = ['git', 'state', 'tracked', 'otherModes', 'identity', 'unfinished', 'branch'];
    for (const id of [...ids, 'head', 'prompt', 'progress', 'reviewer', 'disk']) {
      assert.ok(
        levels.some(([found, level]: string[]) => found === id && level === 'ok'),
        id,
      );
    }
    assert.equal(await git(workspace, 'status', '--porcelain', '--ignored'), '');
  });

  test('doctor can check only the settings', async t => {
    const workspace = await Workspace.create(t);
    const { code, stdout } = await workspace.cli('doctor', '--only', 'settings').finished;
    assert.deepEqual([code, stdout], [0, '✓ The settings files are valid.\n']);
  });
});

describe('a full disk', { concurrency: 3 }, () => {
  const words =
    /^ralph-fresh: No space is left on the disk \(ENOSPC\)[^\n]*Free some space[^\n]*\n$/;

  for (const command of ['tick US-001', 'untick US-002', 'hint text', 'cancel']) {
    test(`${command}: fails with the next step in one line and changes nothing`, async t => {
      const workspace = await Workspace.create(t, {
        stories: openStories(2).map(story => ({ ...story, passes: story.id === 'US-002' })),
      });
      await mkdir(workspace.files.stateDir);
      await writeFile(workspace.files.stateFile, '{"active":true}');
      const before = await workspace.read('.omc/prd.json');
      const { code, stderr } = await workspace.cliWith(FULL, ...command.split(' ')).finished;
      assert.equal(code, 1, stderr);
      assert.match(stderr, words);
      assert.equal(await workspace.read('.omc/prd.json'), before);
    });
  }

  test('rollback, skip and plan fail with the same message', async t => {
    const workspace = await Workspace.create(t);
    assert.equal((await workspace.run('succeeds', '--max-iterations', '1').finished).code, 1);
    for (const args of [
      ['rollback', '1'],
      ['skip', 'US-002'],
      ['plan', 'A login page', '--write', ...AGENT],
    ]) {
      const { code, stderr } = await workspace.cliWith(FULL, ...args).finished;
      assert.equal(code, 1, stderr);
      assert.match(stderr, words, args.join(' '));
    }
  });
});

test('a read-only disk is not reported as a permission problem', async t => {
  const workspace = await Workspace.create(t);
  const env = { ...FULL, FULL_DISK_CODE: 'EROFS' };
  for (const args of [
    ['tick', 'US-001'],
    ['plan', 'Login', ...AGENT],
    ['run', ...AGENT],
  ]) {
    const { code, stderr } = await workspace.cliWith(env, ...args).finished;
    assert.equal(code, 1);
    assert.match(
      stderr,
      /^ralph-fresh: .* cannot be written \(EROFS\)\. Make it writable[^\n]*\n$/,
    );
  }
});

test('in a subfolder of the project, the folder with the story file is named', async t => {
  const workspace = await Workspace.create(t);
  const below = path.join(workspace.folder, 'src', 'deep');
  await mkdir(below, { recursive: true });
  for (const command of ['stories', 'run']) {
    const { stderr } = await workspace.cli(command, '--cwd', below).finished;
    assert.ok(stderr.includes(`, but in ${workspace.folder}.`), stderr);
    assert.ok(stderr.includes(`--cwd ${workspace.folder}`), stderr);
  }
});

describe('continuing a run on another branch', { concurrency: 3 }, () => {
  /** A run on `work` that has stopped after its first story; `main` is checked out. */
  async function left(t: TestContext): Promise<Workspace> {
    const workspace = await Workspace.create(t);
    await workspace.write('.git/info/exclude', '/.omc/\n');
    await git(workspace, 'rm', '-r', '--cached', '--quiet', '.omc');
    await git(workspace, 'commit', '--quiet', '--message', 'The stories are not in git');
    await git(workspace, 'switch', '--quiet', '--create', 'work');
    assert.equal((await workspace.run('succeeds', '--max-iterations', '1').finished).code, 1);
    await git(workspace, 'switch', '--quiet', 'main');
    return workspace;
  }
  const args = ['run', '--resume', '--max-iterations', '5', ...AGENT];

  test('names the right branch at once and writes nothing', async t => {
    const workspace = await left(t);
    const runs = await filesIn(workspace.files.stateDir);
    for (const flags of [[], ['--dry-run'], ['--detach'], ['--file', '.omc/prd.json']]) {
      const { code, stderr } = await workspace.cli(...args, ...flags).finished;
      assert.equal(code, 1);
      assert.match(
        stderr,
        /worked on the branch work, .*git switch --no-overwrite-ignore work.*--new\.\n$/,
      );
      assert.deepEqual(await filesIn(workspace.files.stateDir), runs);
    }
    await git(workspace, 'switch', '--quiet', 'work');
    assert.equal((await workspace.cli(...args).finished).code, 0);
  });

  test('names the commit with the work on a detached HEAD', async t => {
    const workspace = await Workspace.create(t);
    await git(workspace, 'switch', '--quiet', '--detach');
    assert.equal((await workspace.run('succeeds', '--max-iterations', '1').finished).code, 1);
    const { hash } = await workspace.event('commit.recorded');
    await git(workspace, 'switch', '--quiet', '--detach', 'main');
    const { code, stderr } = await workspace.cli(...args).finished;
    assert.equal(code, 1);
    assert.ok(
      stderr.includes(`"git switch --no-overwrite-ignore --detach ${hash.slice(0, 10)}"`),
      stderr,
    );
    await git(workspace, 'switch', '--quiet', '--detach', hash);
    assert.equal((await workspace.cli(...args).finished).code, 0);
  });

  test('names another worktree that has the branch checked out', async t => {
    const workspace = await left(t);
    await using other = await tempDir('ralph-fresh-worktree-');
    const folder = path.join(other.path, 'elsewhere');
    await git(workspace, 'worktree', 'add', '--quiet', folder, 'work');
    const { stderr } = await workspace.cli(...args).finished;
    assert.match(stderr, /It is checked out in .*elsewhere\. Work there: ralph-fresh run --cwd/);
    assert.doesNotMatch(stderr, /git switch/);
  });

  test('a new run here warns that a story is done only there', async t => {
    const workspace = await left(t);
    const words =
      /1 of these stories is done, but its commits are on the branch work\. .*git merge --no-overwrite-ignore "?work"?/;
    const doctor = await workspace.cli('doctor', '--only', 'doneElsewhere').finished;
    assert.match(doctor.stdout, words);
    const own = path.join(workspace.folder, 'US-001.txt');
    await writeFile(own, 'mine\n');
    const risky = await workspace.cli('doctor', '--only', 'doneElsewhere').finished;
    assert.match(
      risky.stdout,
      /Move these files away first, because a merge would overwrite them: US-001\.txt\. To have them here/,
    );
    await rm(own);
    assert.match((await workspace.cli('run', ...AGENT, '--dry-run').finished).stdout, words);
    const { code, stdout } = await workspace.cli('run', ...AGENT).finished;
    assert.equal(code, 0);
    assert.match(stdout, words);
    await git(workspace, 'merge', '--quiet', '--no-edit', 'work');
    const merged = await workspace.cli('doctor').finished;
    assert.doesNotMatch(merged.stdout, /its commits are on/);
  });

  test('continues here once the commits are merged', async t => {
    const workspace = await left(t);
    await git(workspace, 'merge', '--quiet', '--ff-only', 'work');
    const { code, stderr } = await workspace.cli(...args).finished;
    assert.equal(code, 0, stderr);
  });
});

test('--dry-run shows pending hints and leaves them pending', async t => {
  const workspace = await Workspace.create(t);
  assert.equal((await workspace.cli('hint', 'Use tabs everywhere').finished).code, 0);
  for (let time = 1; time <= 2; time++) {
    const { code, stdout } = await workspace.cli('run', ...AGENT, '--dry-run').finished;
    assert.equal(code, 0);
    assert.match(stdout, /^Workspace: [\s\S]*Use tabs everywhere/);
  }
  assert.equal(existsSync(workspace.files.hintsFile), true);
});

describe('a one-word task', { concurrency: 3 }, () => {
  for (const args of [
    ['Fix'],
    ['Fix', '--verify', 'true'],
    ['--verify', 'npm test', 'Fix'],
    ['--verify', 'true', '--', 'Fix'],
    ['--verify', 'true', 'Fix it'],
    ['--max-iterations', '2', 'Fix'],
  ]) {
    test(`run ${args.join(' ')}`, async t => {
      const workspace = await Workspace.create(t);
      const { code, stderr } = await workspace.cli('run', ...AGENT, '--dry-run', ...args).finished;
      assert.equal(code, 0, stderr);
    });
  }
});

describe('stories that depend on each other', { concurrency: 3 }, () => {
  const [first, second, third] = openStories(3);
  const stories = [
    { ...first, id: 'A', title: 'First', passes: false, dependencies: ['B'] },
    { ...second, id: 'B', title: 'Second', passes: false, dependencies: ['A'] },
    { ...third, id: 'C', title: 'Third', passes: true },
  ];

  test('the cycle is named with the next step', async t => {
    const workspace = await Workspace.create(t, { stories });
    const circle = /A → B → A.*Remove one of these dependencies/;
    for (const command of [
      'stories',
      'next',
      'doctor --only stories',
      'run --agent demo --dry-run',
    ]) {
      assert.match((await workspace.cli(...command.split(' ')).finished).stdout, circle, command);
    }
    const doctor = await workspace.cli('doctor', '--only', 'stories').finished;
    assert.equal(doctor.code, 1);
    assert.match(
      doctor.stdout,
      /^✗ \S+prd\.json: 1 of 3 stories complete\. No story is ready, because/,
    );
    const { stdout } = await workspace.cli('next', '--json').finished;
    assert.deepEqual(JSON.parse(stdout), { id: null, reason: 'waiting', circle: ['A', 'B', 'A'] });
    const run = await workspace.run('succeeds').finished;
    assert.equal(run.code, 1);
    assert.match(run.stdout, circle);
    assert.doesNotMatch(run.stdout, /has failed, is blocked/);
    assert.match((await workspace.cli('status').finished).stdout, circle);
  });

  test('if another story is ready, doctor only warns', async t => {
    const workspace = await Workspace.create(t, {
      stories: [...stories, { id: 'D', title: 'Fourth', passes: false }],
    });
    const { code, stdout } = await workspace.cli('doctor', '--only', 'stories').finished;
    assert.equal(code, 0);
    assert.match(stdout, /^! .*A → B → A\. Remove one of these dependencies\.$/m);
  });

  test('skipped stories are listed by id, even ids with commas', async t => {
    const workspace = await Workspace.create(t, {
      stories: ['login, first', 'search'].map(id => ({ id, title: id, passes: false })),
    });
    const started = await workspace.script([[{ text: 'Nothing yet' }]], '--max-iterations', '1')
      .finished;
    assert.equal(started.code, 1, started.stderr);
    for (const id of ['login, first', 'search']) {
      assert.equal((await workspace.cli('skip', id).finished).code, 0);
    }
    const again = ['--resume', '--max-iterations', '9'];
    const { stdout } = await workspace.run('succeeds', ...again).finished;
    assert.match(stdout, /login, first, search are skipped; .*--undo" .* Then run with --resume/);
    assert.match(
      (await workspace.cli('status').finished).stdout,
      /login, first, search are skipped; .* Then run with --resume/,
    );
  });
});
