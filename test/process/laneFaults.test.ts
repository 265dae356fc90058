import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { placesFolder } from '../../src/orchestrator/places/placesFolder.ts';
import { identify } from '../../src/orchestrator/process/processIdentity.ts';
import {
  fakeAgent,
  isAlive,
  openStories,
  type RunningCli,
  until,
  Workspace,
} from '../support/ralph.ts';
import { inAll } from '../support/variants.ts';

const run = promisify(execFile);
const posix = { skip: process.platform === 'win32' && 'Windows has no signals' };

/** A run with lanes and the fake agent `diligent`, with its options. */
function start(
  workspace: Workspace,
  manner: Readonly<Record<string, unknown>>,
  ...args: readonly string[]
): RunningCli {
  return workspace.cliWith(
    { DILIGENT_AGENT: JSON.stringify(manner) },
    ...['run', '--agent', 'claude', '--claude-path', fakeAgent('diligent')],
    ...['--retry-delay', '0.01', ...args],
  );
}

/** The folder of the places of a workspace. */
function placesOf({ env, folder }: Workspace): string {
  return placesFolder(env, process.platform, folder);
}

/** Shortens the journal of the newest run, as if the loop had been killed right after the first such event. */
async function killedAfter(workspace: Workspace, type: string): Promise<void> {
  const [runId = ''] = (await workspace.runIds()).slice(-1);
  const file = workspace.files.journalFile(runId);
  const lines = (await readFile(file, 'utf8')).split('\n');
  const at = lines.findIndex(line => line.includes(`"type":"${type}"`));
  assert.notEqual(at, -1);
  await writeFile(file, `${lines.slice(0, at + 1).join('\n')}\n`);
  await rm(path.join(workspace.files.runDir(runId), 'checkpoint.json'), { force: true });
}

/** Kills a loop; its agents work on, or wait. */
async function killed(loop: RunningCli): Promise<void> {
  loop.child.kill('SIGKILL');
  await loop.finished;
}

/** A check that passes as soon as somebody notes "green". */
function waitsForGreen({ notesDir }: Workspace): string {
  return `until test -e '${path.join(notesDir, 'green')}'; do sleep 0.05; done`;
}

/** Git does not track the story file any more. */
async function ignoreOurs({ env, folder }: Workspace): Promise<void> {
  await writeFile(path.join(folder, '.gitignore'), '.omc/\n');
  for (const args of [
    ['rm', '-rq', '--cached', '.omc'],
    ['add', '.gitignore'],
    ['commit', '-qm', 'Ignore'],
  ]) {
    await run('git', args, { cwd: folder, env });
  }
}

async function withStories(t: TestContext, count: number): Promise<Workspace> {
  return Workspace.create(t, { stories: openStories(count) });
}

test(
  'a landing is recorded only once if the loop is killed right after recording it',
  posix,
  async t => {
    const workspace = await withStories(t, 1);
    assert.equal((await start(workspace, {}, '--lanes', '2').finished).code, 0);
    for (const type of ['landing.landed', 'commit.recorded']) {
      await killedAfter(workspace, type);
      const { code, stderr } = await start(workspace, {}, '--lanes', '2').finished;
      assert.deepEqual([code, stderr], [0, '']);
      assert.equal((await workspace.events('landing.landed')).length, 1);
      assert.equal((await workspace.events('commit.recorded')).length, 1);
      assert.equal((await workspace.agents()).length, 1);
    }
  },
);

test(
  'checks of a claim without commits run again if the loop is killed during them',
  posix,
  async t => {
    const workspace = await withStories(t, 1);
    await ignoreOurs(workspace);
    await workspace.note('green');
    const check = `test -e '${path.join(workspace.notesDir, 'green')}'`;
    const args = ['--lanes', '2', '--verify', check, '--fail-threshold', '1'];
    assert.equal((await start(workspace, { idle: true }, ...args).finished).code, 0);
    assert.equal((await workspace.events('commit.recorded')).length, 0);
    await killedAfter(workspace, 'check.started');
    await workspace.write(
      '.omc/prd.json',
      (await workspace.read('.omc/prd.json')).replace('"passes": true', '"passes": false'),
    );
    await rm(path.join(workspace.notesDir, 'green'));
    assert.equal((await start(workspace, { idle: true }, ...args).finished).code, 1);
    assert.deepEqual(await workspace.events('landing.landed'), []);
    assert.equal((await workspace.event('landing.returned')).reason, 'checks');
    assert.deepEqual(await workspace.done(), []);
  },
);

test(
  'agents that finish after landing has become impossible do not block the run',
  posix,
  async t => {
    const workspace = await withStories(t, 3);
    const own = path.join(placesOf(workspace), 'queue.own');
    await mkdir(own, { recursive: true });
    const lock = path.join(own, 'lock.json');
    await writeFile(lock, JSON.stringify(await identify(process.pid)));
    const args = ['--lanes', '3', '--verify', 'exit 0'];
    const first = start(workspace, { waits: true }, ...args);
    await workspace.agent(3);
    for (const [at, id] of ['US-001', 'US-002', 'US-003'].entries()) {
      await workspace.note(`go-${id}`);
      await until(`${id} is queued`, async () => {
        const queued = await workspace.events('landing.queued');
        return (
          queued.length > at && (at > 0 || (await workspace.events('landing.candidate')).length > 0)
        );
      });
    }
    const { code, stdout } = await first.finished;
    assert.equal(code, 1);
    assert.match(stdout, new RegExp(`Process ${process.pid} works in `));
    await rm(lock);
    assert.equal((await start(workspace, {}, ...args).finished).code, 0);
    assert.equal((await workspace.agents()).length, 3);
    assert.equal((await workspace.events('landing.landed')).length, 3);
  },
);

test(
  'each agent call is recorded as ended if the loop is killed with several agents running',
  posix,
  async t => {
    const workspace = await withStories(t, 2);
    const first = start(workspace, { waits: true }, '--lanes', '2');
    await until('both agents', async () => (await workspace.events('agent.init')).length === 2);
    await killed(first);
    await workspace.note('go');
    assert.equal((await start(workspace, {}, '--lanes', '2').finished).code, 0);
    const events = await workspace.journal();
    const end = events.findIndex(({ type }) => type === 'run.ended');
    const ended = events
      .slice(0, end)
      .flatMap(e => (e.type === 'agent.ended' ? [e.iteration] : []));
    assert.deepEqual(ended.sort(), [1, 2]);
  },
);

test('stories get new agents if the loop is killed and its places are removed', posix, async t => {
  const workspace = await withStories(t, 2);
  const first = start(workspace, { waits: true }, '--lanes', '2');
  await workspace.agent(2);
  await killed(first);
  await rm(placesOf(workspace), { recursive: true, force: true });
  const { code, stderr } = await start(workspace, {}, '--lanes', '2').finished;
  assert.deepEqual([code, stderr], [0, '']);
  assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
});

test(
  'the run finishes the other stories if one is removed after the loop is killed',
  posix,
  async t => {
    const workspace = await withStories(t, 2);
    const first = start(workspace, { waits: true }, '--lanes', '2');
    await workspace.agent(2);
    await killed(first);
    const [runId = ''] = await workspace.runIds();
    await rm(path.join(workspace.files.runDir(runId), 'iterations'), { recursive: true });
    const [, second] = openStories(2);
    await workspace.write('.omc/prd.json', JSON.stringify({ userStories: [second] }));
    const { code, stderr } = await start(workspace, {}, '--lanes', '2').finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await workspace.done(), ['US-002']);
  },
);

test(
  'pending work lands after a restart if the loop is killed in its last iteration',
  posix,
  async t => {
    const workspace = await withStories(t, 1);
    const args = ['--lanes', '2', '--max-iterations', '1', '--verify', waitsForGreen(workspace)];
    const first = start(workspace, {}, ...args);
    await workspace.event('check.started');
    await killed(first);
    await workspace.note('green');
    const { code, stderr } = await start(workspace, {}, ...args).finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal((await workspace.runIds()).length, 1);
    assert.equal((await workspace.agents()).length, 1);
    assert.deepEqual(await workspace.done(), ['US-001']);
  },
);

test(
  'pending work does not land if its story is skipped after the loop is killed',
  posix,
  async t => {
    const workspace = await withStories(t, 2);
    const args = ['--isolate', '--verify', waitsForGreen(workspace)];
    const first = start(workspace, {}, ...args);
    await workspace.event('check.started');
    await killed(first);
    assert.equal((await workspace.cli('skip', 'US-001').finished).code, 0);
    await workspace.note('green');
    assert.equal((await start(workspace, {}, ...args).finished).code, 1);
    assert.deepEqual(await workspace.done(), ['US-002']);
    const [returned] = await workspace.events('landing.returned');
    assert.equal(returned?.reason, 'person');
  },
);

for (const { name, shell, words } of [
  {
    ...{ name: 'its place', shell: 'rm -rf "$PWD"' },
    words: /The place of the agent, or the git folder in it, was removed while it worked\./,
  },
  {
    ...{ name: 'its git folder and makes another one', shell: 'rm -rf .git && git init -q' },
    words: /The git folder in the place of the agent was replaced while it worked\./,
  },
]) {
  test(
    `an agent removes ${name}: the run says so, and its story gets another agent`,
    posix,
    async t => {
      const workspace = await withStories(t, 1);
      const run = workspace.scriptOf({ 'US-001': [[{ shell }], ['work']] }, '--isolate');
      const { code, stderr, stdout } = await run.finished;
      assert.deepEqual([code, stderr], [0, ''], stdout);
      assert.match(stdout, words);
      assert.doesNotMatch(stdout, /the one that the run started in/);
      assert.deepEqual(await workspace.done(), ['US-001']);
    },
  );
}

for (const { name, commits } of [
  { name: 'commits', commits: true },
  { name: 'leaves', commits: false },
]) {
  test(`work in which an agent ${name} a nested repository does not land`, posix, async t => {
    const workspace = await withStories(t, 2);
    const shell =
      'git init -q app && cd app && echo a > a.txt && git add . && git -c user.name=T -c user.email=t@example.com commit -qm inner';
    const run = workspace.scriptOf(
      {
        'US-001': [
          [{ shell }, { tick: 'US-001' }, ...(commits ? [{ commit: 'feat: app' }] : [])],
          [
            {
              shell:
                'git rm -rq --cached --ignore-unmatch app; rm -rf app; mkdir app; echo a > app/a.txt',
            },
            'work',
          ],
        ],
      },
      '--isolate',
    );
    const { code, stderr, stdout } = await run.finished;
    assert.deepEqual([code, stderr], [0, ''], stdout);
    assert.match(stdout, /git repositor(?:y|ies) of (?:its|their) own/);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
    assert.equal(await workspace.read('app/a.txt'), 'a\n');
  });
}

test(
  'a story that fails because of a nested repository says so at the end of the run',
  posix,
  async t => {
    const workspace = await withStories(t, 1);
    const nested =
      'git init -q app && git -C app -c user.name=T -c user.email=t@example.com commit -q --allow-empty -m inner';
    const again = (n: number) => [
      { write: [`try-${n}.txt`, 'work\n'] },
      { tick: 'US-001' },
      { commit: `try ${n}` },
    ];
    const run = workspace.scriptOf(
      { 'US-001': [[{ shell: nested }, ...again(1)], again(2), again(3)] },
      '--isolate',
    );
    const { code, stdout } = await run.finished;
    assert.equal(code, 1, stdout);
    const words = /US-001 has failed 3 times in a row: The work does not land: .*: app\./;
    assert.match(stdout, words);
    assert.match((await workspace.cli('status').finished).stdout, words);
  },
);

test('commits with files of the state folder do not land', posix, async t => {
  const workspace = await withStories(t, 1);
  const shell = 'mkdir -p .omc/state/runs/x && echo x > .omc/state/runs/x/journal.jsonl';
  const run = workspace.scriptOf(
    {
      'US-001': [
        [{ shell: `${shell} && git add -f .omc/state` }, 'work'],
        [{ shell: 'git rm -rqf .omc/state' }, 'work'],
      ],
    },
    '--isolate',
  );
  const { code, stdout } = await run.finished;
  assert.equal(code, 0, stdout);
  assert.match(stdout, /contains files of the folder in which Ralph keeps its own state/);
  assert.equal((await workspace.runIds()).length, 1);
});

test('a check that commits to the branch does not block the run forever', posix, async t => {
  const workspace = await withStories(t, 1);
  const check = `cd '${workspace.folder}' && git commit -q --allow-empty -m again`;
  const { code, stdout } = await workspace.scriptOf({}, '--isolate', '--verify', check).finished;
  assert.equal(code, 1);
  assert.match(stdout, /main got new commits during each of \d+ attempts to land US-001/);
  const { stdout: kept } = await workspace.cli('places').finished;
  assert.match(kept, /US-001/);
});

test('the end of the run is recorded if its branch is deleted meanwhile', posix, async t => {
  const workspace = await withStories(t, 1);
  const loop = start(workspace, { waits: true }, '--lanes', '2');
  await workspace.agent();
  await rm(path.join(workspace.folder, '.git', 'refs', 'heads', 'main'));
  await workspace.note('go');
  const { code, stderr } = await loop.finished;
  assert.equal(code, 1);
  assert.match(stderr, /The branch main no longer exists/);
  assert.equal((await workspace.event('run.ended')).outcome, 'error');
});

test('a run whose branch is deleted during a check ends after that check', posix, async t => {
  const workspace = await withStories(t, 1);
  const journals = `'${workspace.files.runsDir}'/*/journal.jsonl`;
  const check = [
    `rm -f '${workspace.folder}/.git/refs/heads/main'`,
    `for i in $(seq 80); do ! grep -qs '"run.ended"' ${journals} || exit 1; sleep 0.1; done`,
  ].join('; ');
  const loop = start(workspace, {}, '--isolate', '--verify', check);
  await workspace.event('check.started');
  const { code, stderr } = await loop.finished;
  assert.equal(code, 1);
  assert.match(stderr, /The branch main no longer exists/);
  const [judged] = await workspace.events('gate.ended');
  const [ended] = await workspace.events('run.ended');
  assert.equal(judged?.green, true);
  assert.ok(judged.seq < (ended?.seq ?? 0));
});

test(
  'finished but uncommitted work lands after a restart if the loop is killed',
  posix,
  async t => {
    const workspace = await withStories(t, 1);
    const args = ['--lanes', '2', '--verify', waitsForGreen(workspace)];
    const first = start(workspace, { order: 'tickFirst', commitsNever: true }, ...args);
    await workspace.event('check.started');
    await killed(first);
    await workspace.note('green');
    const { code, stderr } = await start(workspace, {}, ...args).finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.match(await workspace.read('work/US-001.txt'), /part three/);
    assert.equal((await workspace.agents()).length, 1);
  },
);

test(
  'a run stopped while another branch is checked out continues despite its own ticks',
  posix,
  async t => {
    const workspace = await withStories(t, 2);
    const file = (await workspace.read('.omc/prd.json')).replace(
      '{',
      '{ "branchName": "ralph/lanes",',
    );
    await workspace.write('.omc/prd.json', file);
    await run('git', ['commit', '-qam', 'Branch'], { cwd: workspace.folder, env: workspace.env });
    const first = start(workspace, { waits: true }, '--lanes', '2');
    await workspace.note('go-US-001');
    await workspace.event('landing.landed');
    await until('the tick', async () => (await workspace.done()).length === 1);
    first.child.kill('SIGTERM');
    assert.equal((await first.finished).code, 130);
    const { code, stderr } = await start(workspace, {}, '--lanes', '2').finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  },
);

test('stop ends four agents that ignore it, and the run can continue', posix, async t => {
  const workspace = await withStories(t, 4);
  const first = start(workspace, { waits: true, isStubborn: true }, '--lanes', '4');
  await until('all agents', async () => (await workspace.events('agent.text')).length === 4);
  const stop = await workspace.cli('stop').finished;
  assert.equal(stop.code, 0);
  assert.equal((await first.finished).code, 130);
  assert.deepEqual((await workspace.agents()).filter(isAlive), []);
  const { code, stderr } = await start(workspace, {}, '--lanes', '4').finished;
  assert.deepEqual([code, stderr], [0, '']);
  assert.equal((await workspace.done()).length, 4);
});

test(
  "all of an agent's work lands if the loop is killed between the tick and the last commit",
  posix,
  async t => {
    const workspace = await withStories(t, 1);
    const pair = { name: 'p', own: 'left', other: 'right' };
    const manner = {
      order: 'tickFirst',
      waitsToCommit: true,
      plans: { 'US-001': { commits: 2, pair } },
    };
    const first = start(workspace, manner, '--lanes', '2');
    await until('the tick', async () =>
      (await workspace.events('agent.text')).some(({ text }) => text === 'Waiting to commit.'),
    );
    await killed(first);
    const { code, stderr } = await start(workspace, {}, '--lanes', '2').finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(await workspace.read('pairs/p.left'), 'US-001\n');
    assert.equal((await workspace.agents()).length, 1);
  },
);

inAll(test)(
  'a place is recreated if the loop is killed while writing its index',
  posix,
  async t => {
    const workspace = await withStories(t, 2);
    assert.equal(
      (await start(workspace, {}, '--lanes', '2', '--max-iterations', '1').finished).code,
      1,
    );
    const own = path.join(placesOf(workspace), 'lane-1.own');
    const record = JSON.parse(await readFile(path.join(own, 'record.json'), 'utf8'));
    await writeFile(path.join(own, 'record.json'), JSON.stringify({ ...record, isReady: false }));
    await writeFile(path.join(own, 'reader.git', 'index'), 'DIRC');
    const { code, stderr } = await start(workspace, {}, '--lanes', '2', '--max-iterations', '9')
      .finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002']);
  },
);

inAll(test)(
  'the next tick is written even if the loop was killed while writing one',
  posix,
  async t => {
    const workspace = await withStories(t, 1);
    await ignoreOurs(workspace);
    const loop = start(workspace, { waits: true }, '--lanes', '2');
    await workspace.agent();
    await workspace.write('.omc/prd.json.ralph-fresh.tmp', '{');
    await workspace.note('go');
    assert.equal((await loop.finished).code, 0);
    assert.deepEqual(await workspace.done(), ['US-001']);
  },
);

test(
  'no commits are reported lost if the loop is killed while continued work lands',
  posix,
  async t => {
    const workspace = await withStories(t, 1);
    const red = path.join(workspace.notesDir, 'red');
    const check = `test -e '${red}' || { touch '${red}'; exit 1; }; ${waitsForGreen(workspace)}`;
    const args = ['--lanes', '2', '--verify', check];
    const first = start(
      workspace,
      { plans: { 'US-001': { commits: 2, pair: { name: 'p', own: 'left', other: 'right' } } } },
      ...args,
    );
    await until(
      'the second check',
      async () => (await workspace.events('check.started')).length === 2,
    );
    await killed(first);
    await workspace.note('green');
    assert.equal((await start(workspace, {}, ...args).finished).code, 0);
    const codes = (await workspace.events('warning')).map(({ code }) => code);
    assert.deepEqual(codes, []);
  },
);

inAll(test)('the copy of a git-ignored story file in a place causes no problem', posix, async t => {
  const workspace = await withStories(t, 1);
  await ignoreOurs(workspace);
  const first = start(workspace, { waits: true }, '--lanes', '2');
  await workspace.agent();
  await killed(first);
  assert.equal((await start(workspace, {}, '--lanes', '2').finished).code, 0);
  const problems = (await workspace.events('work.kept')).flatMap(({ problem }) => problem ?? []);
  assert.deepEqual(problems, []);
});
