import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { placesFolder } from '../../src/orchestrator/places/placesFolder.ts';
import { identify } from '../../src/orchestrator/process/processIdentity.ts';
import { clearWorkRefs } from '../../src/orchestrator/workspace/discardedWork.ts';
import { workRefsOf } from '../../src/orchestrator/workspace/workRefs.ts';
import { gitThat, openStories, type Step, until, Workspace } from '../support/ralph.ts';
import { Terminal } from '../support/terminal.ts';
import { inAll } from '../support/variants.ts';

const posix = { skip: process.platform === 'win32' && 'Windows has no signals' };
/** Of a stop; then git has this long for anything that changes nothing. */
const HURRIED_MS = 2_000;

/** Commits first; ticks and notes afterwards, and commits neither. */
const commitsFirst = (id: string, file = `${id}.txt`): readonly Step[] => [
  { write: [file, `${id}\n`] },
  { commit: `feat: ${id}` },
  { tick: id },
  { append: ['.omc/progress.txt', `## ${id}\n- Learned by ${id}\n`] },
  { result: [`${id} is done.`] },
];
/** Leaves this file, and does not end. */
const leaves = (file: string): readonly Step[] => [{ write: [file, `${file}\n`] }, 'stay'];
const finishes = (id: string, ...steps: readonly Step[]): readonly Step[] => [
  ...steps,
  { tick: id },
  { commit: `feat: ${id}` },
  { result: [`${id} is done.`] },
];

/** What a command prints; fails if it ends with another code. */
async function told(workspace: Workspace, code: number, ...args: readonly string[]) {
  const finished = await workspace.cli(...args).finished;
  assert.equal(finished.code, code, `${args.join(' ')}: ${finished.stdout}${finished.stderr}`);
  return finished.stdout + finished.stderr;
}

interface PlacesData {
  readonly places: readonly { readonly name: string; readonly unsafe: string | null }[];
  readonly kept: readonly {
    readonly story: string;
    readonly landed: boolean;
    readonly commits: readonly { readonly subject: string }[];
    readonly refs: readonly { readonly ref: string }[];
  }[];
}

const placesOf = async (workspace: Workspace): Promise<PlacesData> =>
  JSON.parse(await told(workspace, 0, 'places', '--json'));
const openOf = ({ kept }: PlacesData) =>
  kept.flatMap(({ commits, landed, story }) =>
    landed ? [] : [[story, ...commits.map(({ subject }) => subject)]],
  );
const refsOf = (workspace: Workspace, prefix: string) =>
  workspace.git('for-each-ref', '--format=%(refname)', prefix).split('\n').filter(Boolean);
const stays = (workspace: Workspace, count = 1) =>
  until('the agents stay', async () => {
    const notes = await workspace.notes();
    return notes.filter(note => 'step' in note && note.step === 'stay').length === count;
  });

function start(
  workspace: Workspace,
  env: Readonly<Record<string, string>>,
  calls: Readonly<Record<string, readonly (readonly Step[])[]>>,
  ...args: readonly string[]
) {
  return workspace.cliWith(
    { ...env, FAKE_AGENT_SCRIPT: JSON.stringify(calls) },
    ...['run', '--agent', 'claude', '--retry-delay', '0.01'],
    ...['--claude-path', path.join(import.meta.dirname, '../support/fakeAgents/scripted.mjs')],
    ...args,
  );
}

test('earlier work that conflicts with what others have committed can be looked at', async t => {
  const workspace = await Workspace.create(t, { stories: openStories(1) });
  const others = `cd '${workspace.folder}' && echo theirs > a.txt && git add a.txt && git commit -qm theirs`;
  const calls = {
    'US-001': [
      [{ write: ['a.txt', 'a\n'] }, { commit: 'wip: a' }, { shell: others }] as Step[],
      finishes('US-001', { write: ['b.txt', 'b\n'] }),
    ],
  };
  const { code, stdout } = await start(workspace, {}, calls, '--isolate').finished;
  assert.equal(code, 0, stdout);
  const [, range = ''] =
    /without the earlier work on its story.*: git log (\w+\.\.\w+) shows it\. In conflict: a\.txt\n/.exec(
      stdout,
    ) ?? [];
  assert.equal(workspace.git('log', '--format=%s', range), 'wip: a', stdout);
});

describe('stopping', posix, () => {
  for (const mode of [['stop', '--now'], ['stop']]) {
    test(`${mode.join(' ')} waits until the commits of an agent are safe`, async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const go = path.join(workspace.notesDir, 'fetch');
      const env = await gitThat(
        workspace,
        `case "$*" in *" fetch "*) echo > '${go}.waits'; while test ! -e '${go}'; do sleep 0.05; done;; esac`,
      );
      const calls = {
        'US-001': [
          [{ write: ['a.txt', 'a\n'] }, { commit: 'wip: a' }, 'stay'] as Step[],
          finishes('US-001', { shell: 'test -f a.txt' }),
        ],
      };
      const run = start(workspace, env, calls, '--isolate');
      await stays(workspace);
      const stop = workspace.cli(...mode).finished;
      await until('the fetch', () => existsSync(`${go}.waits`));
      // Longer than a git that only reads would have had.
      await delay(HURRIED_MS * 1.5);
      await workspace.note('fetch');
      assert.equal((await stop).code, 0);
      assert.equal((await run.finished).code, 130);
      const [kept] = await workspace.events('work.kept');
      assert.deepEqual([kept?.commits, kept?.problem], [1, undefined]);
      assert.doesNotMatch(run.stdout, /no new commits/);
      assert.deepEqual(openOf(await placesOf(workspace)), [['US-001', 'wip: a']]);
      const again = await start(workspace, {}, calls, '--isolate').finished;
      assert.equal(again.code, 0, again.stderr);
      assert.equal(await workspace.read('a.txt'), 'a\n');
      assert.deepEqual(openOf(await placesOf(workspace)), []);
    });
  }

  test('leaves the iteration open if git cannot keep the work, and the next start collects it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const broken = path.join(workspace.notesDir, 'broken');
    const env = await gitThat(
      workspace,
      `case "$*" in *" fetch "*) if test -e '${broken}'; then echo 'fatal: broken' >&2; exit 128; fi;; esac`,
    );
    const calls = {
      'US-001': [
        [{ write: ['a.txt', 'a\n'] }, { commit: 'wip: a' }, 'stay'] as Step[],
        finishes('US-001', { shell: 'test -f a.txt' }),
      ],
    };
    const run = start(workspace, env, calls, '--isolate');
    await stays(workspace);
    await workspace.note('broken');
    await told(workspace, 0, 'stop');
    const { code, stdout } = await run.finished;
    assert.equal(code, 130);
    assert.match(
      stdout,
      /Not all work on US-001 could be kept: .*broken\n.*still in its place: ralph-fresh places\. Copy/,
    );
    assert.doesNotMatch(stdout, /no new commits/);
    assert.deepEqual(await workspace.events('iteration.ended'), []);
    const again = await start(workspace, {}, calls, '--isolate').finished;
    assert.equal(again.code, 0, again.stderr);
    const ended = await workspace.events('iteration.ended');
    assert.deepEqual(
      ended.map(({ iteration, outcome }) => [iteration, outcome]),
      [
        [1, 'stopped'],
        [2, 'storyDone'],
      ],
    );
    assert.equal(await workspace.read('a.txt'), 'a\n');
  });

  test('keeps uncommitted changes for the next agent of the story', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const calls = {
      'US-001': [
        leaves('a.txt'),
        // Still not committed, and stopped once more.
        [{ shell: 'test -f a.txt' }, ...leaves('b.txt')],
        finishes('US-001', { shell: 'test -f a.txt && test -f b.txt' }),
      ],
    };
    const run = workspace.scriptOf(calls, '--isolate', '--verify', 'test -f a.txt');
    for (const count of [1, 2]) {
      await stays(workspace, count);
      await told(workspace, 0, 'stop', 'US-001');
      await until(
        'the pause',
        async () => (await workspace.events('pause.started')).length === count,
      );
      await told(workspace, 0, 'resume', 'US-001');
    }
    const { code, stderr } = await run.finished;
    assert.equal(code, 0, stderr);
    assert.match(await workspace.prompt(2), /There are uncommitted changes.*: `?a\.txt/);
    assert.match(
      await workspace.prompt(3),
      /There are uncommitted changes.*: `?a\.txt`?, `?b\.txt/,
    );
    assert.doesNotMatch(await workspace.prompt(3), /prd\.json`?\. A previous iteration/);
    assert.equal(await workspace.read('b.txt'), 'b.txt\n');
    assert.equal(
      workspace.git('log', '--format=%s %an'),
      'feat: US-001 Test Person\nFirst commit Test Person',
    );
    // What was continued has landed with it.
    assert.deepEqual(openOf(await placesOf(workspace)), []);
  });
});

describe('agent work that has landed', () => {
  inAll(test)('is not listed as pending, and files left by checks belong to nobody', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(3) });
    await workspace.write('.omc/progress.txt', '# Progress\n');
    workspace.git('add', '-A');
    workspace.git('commit', '--quiet', '-m', 'A log');
    const run = workspace.scriptOf(
      Object.fromEntries(['US-001', 'US-002', 'US-003'].map(id => [id, [commitsFirst(id)]])),
      ...['--lanes', '2', '--verify', 'echo report >> report.txt && echo fixed >> .omc/notes.txt'],
    );
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout, /uncommitted changes/);
    assert.match(await workspace.read('.omc/progress.txt'), /Learned by US-003/);
    const data = await placesOf(workspace);
    assert.deepEqual(openOf(data), []);
    assert.deepEqual(
      data.places.map(({ name, unsafe }) => [name, unsafe]),
      [
        ['lane-1', null],
        ['lane-2', null],
        ['queue', null],
      ],
    );
    assert.equal(refsOf(workspace, workRefsOf(workspace.folder)).length, 3);
    assert.deepEqual(
      refsOf(workspace, 'refs/ralph-fresh/places/').map(ref => path.posix.basename(ref)),
      ['lane-1', 'lane-2', 'queue'],
    );
    await clearWorkRefs(workspace.files, []);
    assert.deepEqual(refsOf(workspace, workRefsOf(workspace.folder)), []);
    assert.match(await told(workspace, 0, 'places', 'clean'), /^queue is removed\.$/m);
    assert.deepEqual(
      refsOf(workspace, 'refs/ralph-fresh/places/').filter(ref => ref.endsWith('queue')),
      [],
    );
  });

  test('gets the title of the story and the person as author if the agent did not commit', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const calls = [
      [{ write: ['new.txt', 'new\n'] }, { tick: 'US-001' }, { result: ['Done.'] }] as Step[],
    ];
    const run = workspace.scriptOf({ 'US-001': calls }, '--isolate', '--verify', 'test -f new.txt');
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stderr);
    assert.equal(
      workspace.git('log', '-1', '--format=%s, %an <%ae>, %cn'),
      workspace.git('log', '-1', '--format=US-001: Story number 1, %an <%ae>, %cn', 'HEAD~1'),
    );
    assert.doesNotMatch(stdout, /uncommitted changes/);
    assert.deepEqual(openOf(await placesOf(workspace)), []);
  });
});

describe('agent work that has not landed', () => {
  const half: readonly Step[] = [
    { write: ['half.txt', 'half\n'] },
    { commit: 'wip: half' },
    { result: ['More is to be done.'] },
  ];

  test('is listed without the history of a renamed or deleted branch', posix, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    for (let commit = 0; commit < 30; commit += 1) {
      workspace.git('commit', '--quiet', '--allow-empty', '-m', `Earlier ${commit}`);
    }
    const args = ['--isolate', '--max-iterations', '1'];
    assert.equal((await workspace.scriptOf({ 'US-001': [half] }, ...args).finished).code, 1);
    const count = path.join(workspace.notesDir, 'calls');
    const env = await gitThat(workspace, `echo x >> '${count}'`);
    const listed = async () => {
      await writeFile(count, '');
      const { code, stderr, stdout } = await workspace.cliWith(env, 'places', '--json').finished;
      assert.equal(code, 0, stderr);
      const calls = (await readFile(count, 'utf8')).length / 2;
      assert.ok(calls < 40, `${calls} git processes`);
      return openOf(JSON.parse(stdout));
    };
    assert.deepEqual(await listed(), [['US-001', 'wip: half']]);
    workspace.git('branch', '--move', 'main', 'trunk');
    workspace.git('commit', '--quiet', '--allow-empty', '-m', 'Mine');
    assert.deepEqual(await listed(), [['US-001', 'wip: half']]);
    workspace.git('switch', '--quiet', '--detach');
    workspace.git('branch', '--delete', '--force', 'trunk');
    assert.deepEqual(await listed(), [['US-001', 'wip: half']]);
    const asked = await told(workspace, 1, 'places', 'discard', 'US-001');
    assert.match(asked, /wip: half/);
    assert.doesNotMatch(asked, /Earlier/);
    // A branch of the person's own that has it: it is rescued, and has still not landed.
    const [work] = (await placesOf(workspace)).kept;
    workspace.git('branch', 'rescued', work?.refs[0]?.ref ?? '');
    assert.deepEqual(await listed(), [['US-001', 'wip: half']]);
  });

  inAll(test)(
    'is kept with its story when another run uses the place of a killed one',
    posix,
    async t => {
      const workspace = await Workspace.create(t, { stories: openStories(1) });
      const run = workspace.scriptOf(
        { 'US-001': [[...half.slice(0, 2), ...leaves('left.txt')]] },
        '--isolate',
      );
      await stays(workspace);
      run.child.kill('SIGKILL');
      await run.finished;
      const next = await workspace.scriptOf(
        { 'US-001': [[], finishes('US-001', { write: ['b.txt', 'b\n'] })] },
        ...['--isolate', '--new'],
      ).finished;
      assert.equal(next.code, 0, next.stderr);
      assert.deepEqual(openOf(await placesOf(workspace)), [
        ['US-001', 'Uncommitted work of US-001 (kept by Ralph Fresh)', 'wip: half'],
      ]);
      assert.deepEqual(refsOf(workspace, 'refs/ralph-fresh/places/**/kept/**'), []);
      assert.match(
        await told(workspace, 0, 'places', 'discard', 'us-001', '--yes'),
        /is discarded/,
      );
      assert.deepEqual(openOf(await placesOf(workspace)), []);
    },
  );

  test('is discarded during an active run only while its story is held back', posix, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(2) });
    const calls = {
      'US-001': [[{ wait: 'first' }, ...half], finishes('US-001', { shell: 'test ! -e half.txt' })],
      'US-002': [[{ wait: 'go' }, ...finishes('US-002')]],
    };
    const run = workspace.scriptOf(calls, '--lanes', '2');
    await workspace.agent(2);
    const started = await workspace.events('iteration.started');
    const lane = String(started.find(({ storyId }) => storyId === 'US-001')?.lane);
    await told(workspace, 0, 'pause', '--lane', lane);
    await until('the pause', async () => (await workspace.events('lane.paused')).length > 0);
    await workspace.note('first');
    await until('its end', async () => (await workspace.events('iteration.ended')).length === 1);
    // Resuming the lane starts its next agent.
    const discard = ['places', 'discard', 'US-001', '--yes'];
    const refused = await told(workspace, 1, ...discard);
    assert.match(refused, /would continue this work\. .*"ralph-fresh pause US-001"/);
    assert.deepEqual(openOf(await placesOf(workspace)), [['US-001', 'wip: half']]);
    await told(workspace, 0, 'pause', 'US-001');
    await until('the pause', async () => (await workspace.events('story.paused')).length > 0);
    assert.match(await told(workspace, 0, ...discard), /is discarded/);
    await told(workspace, 0, 'resume', 'US-001');
    await told(workspace, 0, 'resume', '--lane', lane);
    await workspace.agent(3);
    await workspace.note('go');
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 0, stdout + stderr);
    assert.deepEqual(openOf(await placesOf(workspace)), []);
  });

  test('is not discarded if an agent started on it during the confirmation', posix, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const args = ['--isolate', '--max-iterations', '1'];
    assert.equal((await workspace.scriptOf({ 'US-001': [half] }, ...args).finished).code, 1);
    const before = refsOf(workspace, workRefsOf(workspace.folder));
    const terminal = Terminal.cli(t, workspace, 'places', 'discard', 'US-001');
    await terminal.shows(/Discard it\?/);
    const run = workspace.scriptOf(
      {
        'US-001': [half, [{ wait: 'go' }, ...finishes('US-001', { shell: 'test -f half.txt' })]],
      },
      ...['--isolate', '--resume', '--max-iterations', '2'],
    );
    await workspace.agent(2);
    terminal.type('y\n');
    assert.equal(await terminal.finished, 1);
    assert.match(terminal.output, /An agent works on US-001 now/);
    assert.deepEqual(refsOf(workspace, workRefsOf(workspace.folder)), before);
    await workspace.note('go');
    assert.equal((await run.finished).code, 0);
  });

  test('stays with its iteration while another process has the place', posix, async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const calls = { 'US-001': [[{ wait: 'go' }, ...finishes('US-001')]] };
    const run = workspace.scriptOf(calls, '--isolate');
    await workspace.agent();
    run.child.kill('SIGKILL');
    await run.finished;
    await workspace.note('go');
    const folder = placesFolder(workspace.env, process.platform, workspace.folder);
    const lock = path.join(folder, 'lane-1.own', 'lock.json');
    await writeFile(lock, JSON.stringify(await identify(process.pid)));
    const refused = await workspace.scriptOf(calls, '--isolate').finished;
    assert.equal(refused.code, 1);
    assert.match(refused.stdout + refused.stderr, /Process \d+ works in .*lane-1\. Wait until/);
    assert.deepEqual(await workspace.events('iteration.ended'), []);
    await writeFile(lock, '');
    const { code, stderr } = await workspace.scriptOf(calls, '--isolate').finished;
    assert.equal(code, 0, stderr);
  });
});
