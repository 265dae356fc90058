import assert from 'node:assert/strict';
import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { englishOf, type Message } from '../../src/base/say.ts';
import { addTrackedStory } from '../../src/orchestrator/trackers/addTracked.ts';
import { Bd, BdTimeout } from '../../src/orchestrator/trackers/beads/bd.ts';
import { BeadsTracker } from '../../src/orchestrator/trackers/beads/beadsTracker.ts';
import { BeadsFolder, type BeadsIssue, installFakeBd } from '../support/beadsFolder.ts';
import { fakeAgent, isAlive, until, Workspace } from '../support/ralph.ts';

const ISSUES: readonly BeadsIssue[] = [
  { id: 'bd-a1', title: 'First', status: 'open', priority: 1, issue_type: 'task' },
  { id: 'bd-a2', title: 'Second', status: 'open', priority: 2, issue_type: 'task' },
  { id: 'bd-a3', title: 'Third', status: 'closed', priority: 2, issue_type: 'task' },
];

async function beadsWorkspace(
  t: TestContext,
  {
    database,
    installed,
    issues = ISSUES,
  }: Readonly<{ database: boolean; installed: boolean; issues?: readonly BeadsIssue[] }>,
) {
  const workspace = await Workspace.create(t, { stories: undefined });
  const beads = new BeadsFolder(workspace.folder);
  await beads.write(issues, { database });
  if (installed) {
    const bin = await installFakeBd(path.dirname(workspace.folder));
    workspace.env['PATH'] += `${path.delimiter}${bin}`;
  }
  return { workspace, beads };
}

const statusOf = async (beads: BeadsFolder, id: string) =>
  (await beads.inDatabase()).find(issue => issue.id === id)?.['status'];

describe('ticks of Beads issues', { concurrency: 4 }, () => {
  test('go through bd where the folder has a database; the file follows', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const ticked = await workspace.cli('tick', 'bd-a1').finished;
    assert.deepEqual(
      [ticked.code, ticked.stdout],
      [0, 'Marked as done: bd-a1: First\n'],
      ticked.stderr,
    );
    assert.equal(await statusOf(beads, 'bd-a1'), 'closed');
    assert.equal((await beads.inFile())['bd-a1'], 'closed');
    const unticked = await workspace.cli('untick', 'bd-a3').finished;
    assert.equal(unticked.code, 0, unticked.stderr);
    assert.equal(await statusOf(beads, 'bd-a3'), 'open');
    assert.equal((await beads.inFile())['bd-a3'], 'open');
    assert.deepEqual(await beads.calls(), [
      'show bd-a1 --json',
      'close bd-a1 --reason Marked as done with Ralph Fresh',
      'show bd-a1 --json',
      'show bd-a3 --json',
      'reopen bd-a3',
    ]);
    const calls = await beads.rawCalls();
    assert.deepEqual([...new Set(calls.map(({ cwd }) => cwd))], [workspace.folder]);
  });

  test('are right if bd writes the file by itself, and close what only the database has open', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const env = { FAKE_BD_EXPORT: '1' };
    assert.equal((await workspace.cliWith(env, 'tick', 'bd-a1').finished).code, 0);
    assert.deepEqual(await beads.inFile(), {
      'bd-a1': 'closed',
      'bd-a2': 'open',
      'bd-a3': 'closed',
    });
    const again = await workspace.cliWith(env, 'tick', 'bd-a1').finished;
    assert.equal(again.stdout, 'Already done: bd-a1: First\n');
    assert.deepEqual((await beads.calls()).slice(3), ['show bd-a1 --json']);
  });

  test('work if bd puts its JSON into an envelope', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const env = { BD_JSON_ENVELOPE: '1' };
    const { code, stderr } = await workspace.cliWith(env, 'tick', 'bd-a1').finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(await statusOf(beads, 'bd-a1'), 'closed');
  });

  test('are refused if the issue stays open although bd has said that it is closed', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const env = { FAKE_BD_FORGETS: 'close' };
    const { code, stderr } = await workspace.cliWith(env, 'tick', 'bd-a1').finished;
    assert.equal(code, 1);
    assert.match(stderr, /"bd close" has succeeded, but bd-a1 is still open\..*bd show bd-a1/);
    assert.equal((await beads.inFile())['bd-a1'], 'open');
  });

  test('show what bd says in JSON as text, and of a warning nothing if there is an error', async t => {
    const { workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const file = path.join(workspace.folder, '.beads', 'issues.jsonl');
    const bd = await Bd.find(file, { env: workspace.env });
    await assert.rejects(async () => await bd?.create({ title: '' }), {
      message: '"bd create" failed: title required (or use --file to create from markdown)',
    });
    await assert.rejects(async () => await bd?.close('bd-x', 'done'), {
      message: '"bd close" failed: Error: resolving ID bd-x: no issue found matching "bd-x"',
    });
    await assert.rejects(async () => await bd?.isClosed('bd-x'), {
      message: '"bd show" failed: Error fetching bd-x: no issue found matching "bd-x"',
    });
  });

  test('edit the file if there is no database, whether bd is installed or not', async t => {
    for (const installed of [true, false]) {
      const { beads, workspace } = await beadsWorkspace(t, { database: false, installed });
      const { code, stderr } = await workspace.cli('tick', 'bd-a2').finished;
      assert.equal(code, 0, stderr);
      assert.equal((await beads.inFile())['bd-a2'], 'closed');
      assert.deepEqual(await beads.calls(), []);
    }
  });

  test('are refused with the command that installs bd if there is only a database', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: false });
    const { code, stderr } = await workspace.cli('tick', 'bd-a1').finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ralph-fresh: [^\n]*beads\.db[^\n]*npm install -g @beads\/bd\n$/);
    assert.equal((await beads.inFile())['bd-a1'], 'open');
  });

  test('show the message of bd when it refuses, and change nothing', async t => {
    const issues: readonly BeadsIssue[] = [
      { id: 'bd-e', title: 'All', status: 'open', priority: 1, issue_type: 'epic' },
      {
        ...{ id: 'bd-e.1', title: 'Part', status: 'open', priority: 1, issue_type: 'task' },
        dependencies: [{ issue_id: 'bd-e.1', depends_on_id: 'bd-e', type: 'parent-child' }],
      },
      { id: '--force', title: 'Not an id', status: 'open', priority: 3 },
    ];
    const { beads, workspace } = await beadsWorkspace(t, {
      database: true,
      installed: true,
      issues,
    });
    const epic = await workspace.cli('tick', 'bd-e').finished;
    assert.equal(epic.code, 1);
    assert.match(epic.stderr, /"bd close" failed: cannot close epic bd-e: 1 open child issue/);
    const locked = await workspace.cliWith({ FAKE_BD_FAILS: 'show' }, 'tick', 'bd-e.1').finished;
    assert.match(
      locked.stderr,
      /"bd show" failed: Error: failed to open database: .*the database is locked by another dolt process/,
    );
    const option = await workspace.cli('tick', '--', '--force').finished;
    assert.match(option.stderr, /"--force" is not an id that Beads gives/);
    assert.deepEqual([...new Set(Object.values(await beads.inFile()))], ['open']);
    assert.equal(
      (await beads.calls()).some(call => call.includes('--force')),
      false,
    );
  });
});

const FILE = '.beads/issues.jsonl';

describe('runs on Beads issues in a database', { concurrency: 4 }, () => {
  test('close what is proven there, with the commit, and reopen what the checks refuse', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const steps = (id: string) => [
      { write: [`${id}.txt`, id] },
      { commit: `feat: ${id}` },
      { tickAny: [FILE] },
      { result: ['Done', {}] },
    ];
    // The second agent closes its issue by itself, and its check fails the first time.
    const closes = { shell: 'bd close bd-a2 --reason Mine' };
    const check =
      'test ! -e bd-a2.txt || test -e "$FAKE_AGENT_NOTES/seen" || ! touch "$FAKE_AGENT_NOTES/seen"';
    const run = await workspace.scriptOf(
      {
        'bd-a1': [steps('bd-a1')],
        'bd-a2': [[...steps('bd-a2').slice(0, 3), closes, { result: ['Done', {}] }]],
      },
      ...['--verify', check],
    ).finished;
    assert.equal(run.code, 0, run.stderr + run.stdout);
    assert.equal(await statusOf(beads, 'bd-a1'), 'closed');
    assert.equal(await statusOf(beads, 'bd-a2'), 'closed');
    const first = (await beads.inDatabase()).find(({ id }) => id === 'bd-a1');
    assert.match(String(first?.['close_reason']), /^Done with Ralph Fresh in [0-9a-f]{10}$/);
    const calls = (await beads.calls()).filter(call => /^(?:close|reopen) bd-a2/.test(call));
    const revert = await workspace.cli('revert', 'bd-a1').finished;
    assert.equal(revert.code, 0, revert.stderr);
    assert.equal(await statusOf(beads, 'bd-a1'), 'open');
    assert.deepEqual(calls.slice(0, 2), ['close bd-a2 --reason Mine', 'reopen bd-a2']);
  });

  test('reopen what an agent has closed by itself, each time its claim is refused', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const attempt = [
      { write: ['bd-a1.txt', 'a'] },
      { tickAny: [FILE] },
      { shell: 'bd close bd-a1 --reason Mine' },
      { result: ['Done', {}] },
    ];
    const run = await workspace.scriptOf(
      { 'bd-a1': [attempt, attempt] },
      ...['--verify', 'false', '--max-iterations', '2', '--story', 'bd-a1'],
    ).finished;
    assert.notEqual(run.code, 0, run.stderr + run.stdout);
    const calls = (await beads.calls()).filter(call => /^(?:close|reopen) bd-a1/.test(call));
    const pair = ['close bd-a1 --reason Mine', 'reopen bd-a1'];
    assert.deepEqual(calls, [...pair, ...pair]);
    assert.equal(await statusOf(beads, 'bd-a1'), 'open');
  });

  test('are reverted, and recorded as open, although bd refuses', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const steps = [{ write: ['a.txt', 'a'] }, { commit: 'feat: a' }, { tickAny: [FILE] }];
    const run = await workspace.scriptOf(
      { 'bd-a1': [[...steps, { result: ['Done', {}] }]] },
      ...['--story', 'bd-a1'],
    ).finished;
    assert.equal(run.code, 0, run.stderr + run.stdout);
    const reverted = await workspace.cliWith({ FAKE_BD_FAILS: 'show' }, 'revert', 'bd-a1').finished;
    assert.equal(reverted.code, 0, reverted.stderr);
    assert.match(reverted.stdout, /Commit [0-9a-f]{7} reverts/);
    assert.match(reverted.stderr, /bd-a1 could not be changed.*is locked.*bd reopen bd-a1/s);
    assert.equal((await beads.inFile())['bd-a1'], 'open');
    const ticks = await workspace.events('story.ticked');
    assert.deepEqual(
      ticks.map(({ done, storyId }) => [storyId, done]),
      [['bd-a1', false]],
    );
  });

  test('with lanes: agents change their copies of the file, and what lands is closed in the database', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    workspace.git('add', '--all');
    workspace.git('commit', '--quiet', '--message', 'Issues');
    const steps = (id: string) => [
      { write: [`${id}.txt`, id] },
      { tickAny: [FILE] },
      { commit: `feat: ${id}` },
      { result: ['Done', {}] },
    ];
    const run = await workspace.scriptOf(
      { 'bd-a1': [steps('bd-a1')], 'bd-a2': [steps('bd-a2')] },
      ...['--lanes', '3'],
    ).finished;
    assert.equal(run.code, 0, run.stderr + run.stdout);
    assert.deepEqual(await beads.inFile(), {
      'bd-a1': 'closed',
      'bd-a2': 'closed',
      'bd-a3': 'closed',
    });
    for (const id of ['bd-a1', 'bd-a2']) {
      assert.equal(await statusOf(beads, id), 'closed');
    }
    assert.equal(
      (await beads.calls()).some(call => call.includes('bd-a3')),
      false,
    );
  });

  test('report once what bd refuses, and report it again at the next step', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const steps = [{ tickAny: [FILE] }, { result: ['Done', {}] }];
    const run = await workspace.cliWith(
      {
        FAKE_AGENT_SCRIPT: JSON.stringify({ 'bd-a1': [steps], 'bd-a2': [steps] }),
        FAKE_BD_FAILS: 'close',
      },
      ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted')],
    ).finished;
    assert.equal(run.code, 0, run.stderr + run.stdout);
    const warnings = (await workspace.events('warning')).filter(
      ({ code }) => code === 'beadsNotTold',
    );
    assert.equal(warnings.length, 2);
    assert.match(JSON.stringify(warnings), /database is locked/);
    assert.ok((await beads.calls()).filter(call => call.startsWith('close bd-a1')).length > 1);
    assert.equal(await statusOf(beads, 'bd-a1'), 'open');
  });

  test('do not start without bd, and doctor says why', async t => {
    const { workspace } = await beadsWorkspace(t, { database: true, installed: false });
    const run = await workspace.run('diligent').finished;
    assert.equal(run.code, 1);
    assert.match(run.stderr, /program bd was not found\. Install it: npm install -g @beads\/bd/);
    const doctor = await workspace.cli('doctor', '--only', 'beads').finished;
    assert.match(doctor.stdout, /bd was not found/);
  });
});

describe('work that is accepted', { concurrency: 4 }, () => {
  const title = '--force; "quotes" and $(text)';
  const found = { id: 'DISC-1-1-1', title, why: 'It was in the way', from: 'bd-a1' };

  async function acceptIn(t: TestContext) {
    const made = await beadsWorkspace(t, { database: true, installed: true });
    const file = path.join(made.workspace.folder, '.beads', 'issues.jsonl');
    const warnings: string[] = [];
    const access = {
      mayRun: true,
      env: made.workspace.env,
      onWarning: (warning: Message) => warnings.push(englishOf(warning)),
    };
    return { ...made, file, access, warnings };
  }

  test('is created by bd, and is in the file afterwards; every other byte of it stays', async t => {
    const { access, beads, file, warnings } = await acceptIn(t);
    // Only the file has these: an issue, a tick, and a key that bd does not know.
    const before = `${await readFile(file, 'utf8')}{"id": "bd-own", "title": "Own",  "status": "closed", "x": 1}`;
    await writeFile(file, before);
    const id = await addTrackedStory(file, found, access);
    const created = (await beads.inDatabase()).find(issue => issue.id === id);
    assert.equal(created?.['title'], title);
    assert.match(JSON.stringify(created?.['dependencies']), /"bd-a1","type":"discovered-from"/);
    const after = await readFile(file, 'utf8');
    assert.ok(after.startsWith(`${before}\n`), after);
    const line = JSON.parse(after.slice(before.length));
    assert.deepEqual(
      [line.id, line.title, line.status, line.description],
      [id, title, 'open', created?.['description']],
    );
    assert.match(line.description, /It was in the way/);
    assert.deepEqual(warnings, []);
    await assert.rejects(
      addTrackedStory(file, found, { ...access, mayRun: false }),
      /Restricted Mode/,
    );
  });

  test('is not created again if nobody could record that it was', async t => {
    const { access, beads, file } = await acceptIn(t);
    const first = await addTrackedStory(file, found, access);
    const after = await readFile(file, 'utf8');
    assert.equal(await addTrackedStory(file, found, access), first);
    // Its number is the beginning of the other's.
    const other = { ...found, id: 'DISC-1-1-11', title: 'Something else' };
    assert.notEqual(await addTrackedStory(file, other, access), first);
    const twin = { ...found, id: 'DISC-1-1-12' };
    await assert.rejects(addTrackedStory(file, twin, access), /with this title already/);
    assert.equal((await beads.inDatabase()).length, ISSUES.length + 2);
    assert.ok((await readFile(file, 'utf8')).startsWith(after));
  });

  test('has its id also if the file cannot take it', async t => {
    const { access, beads, file, warnings } = await acceptIn(t);
    await writeFile(file, '{"id": "bd-a1", "title": \n');
    const id = await addTrackedStory(file, found, access);
    assert.ok((await beads.inDatabase()).some(issue => issue.id === id));
    assert.equal(warnings.length, 1);
    assert.ok(warnings[0]?.startsWith(`${id} is in the database of Beads, but could not be added`));
    assert.equal(await readFile(file, 'utf8'), '{"id": "bd-a1", "title": \n');
  });
});

describe('a bd that ends in an unusual way', { concurrency: 4 }, () => {
  test('has answered although a process it left keeps its output open; that process stays', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const file = path.join(workspace.folder, '.beads', 'issues.jsonl');
    const env = { ...workspace.env, FAKE_BD_LEAVES: 'show' };
    const bd = await Bd.find(file, { env, timeLimitMs: 60_000 });
    assert.equal(await bd?.isClosed('bd-a3'), true);
    const left = await beads.left();
    assert.ok(isAlive(left));
    process.kill(left, 'SIGKILL');
  });

  test('was ended from outside, says the message, and what to do', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const env = { FAKE_BD_KILLED: 'close' };
    const { code, stderr } = await workspace.cliWith(env, 'tick', 'bd-a1').finished;
    assert.equal(code, 1);
    assert.match(stderr, /"bd close" was ended from outside \(SIGKILL\)\. Try again\./);
    assert.equal(await statusOf(beads, 'bd-a1'), 'open');
  });
});

describe('a bd that does not answer', { concurrency: 4 }, () => {
  test('is called once, not for each story, and again later', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const file = path.join(workspace.folder, '.beads', 'issues.jsonl');
    let now = 0;
    const env: Record<string, string | undefined> = { ...workspace.env, FAKE_BD_HANGS: 'show' };
    const tracker = new BeadsTracker(file, { env, timeLimitMs: 1_500, now: () => now });
    const settled = { done: [], open: ['bd-a1', 'bd-a2'] };
    const notes = await tracker.sync(settled);
    assert.deepEqual(
      notes.map(({ code }) => code),
      ['beadsNotTold'],
    );
    assert.deepEqual(await tracker.sync(settled), []);
    assert.deepEqual(await beads.calls(), ['show bd-a1 --json']);
    now += 3_600_000;
    assert.deepEqual(await tracker.sync(settled), []);
    assert.deepEqual(await beads.calls(), ['show bd-a1 --json', 'show bd-a1 --json']);
  });

  test('is ended at the limit with the process that keeps its output open', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const file = path.join(workspace.folder, '.beads', 'issues.jsonl');
    const env = { ...workspace.env, FAKE_BD_HANGS: 'show', FAKE_BD_LEAVES: 'show' };
    const bd = await Bd.find(file, { env, timeLimitMs: 3_000 });
    await assert.rejects(async () => await bd?.isClosed('bd-a1'), BdTimeout);
    const left = await beads.left();
    await until('the end of the other process', () => !isAlive(left));
  });

  test('is ended by a stop', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const file = path.join(workspace.folder, '.beads', 'issues.jsonl');
    const env = { ...workspace.env, FAKE_BD_HANGS: 'show' };
    const tracker = new BeadsTracker(file, { env });
    const stop = new AbortController();
    const synced = tracker.sync({ done: [], open: ['bd-a1', 'bd-a2'] }, stop.signal);
    await until('the call', async () => (await beads.calls()).length > 0);
    stop.abort();
    assert.deepEqual(await synced, []);
    assert.deepEqual(await beads.calls(), ['show bd-a1 --json']);
  });

  test('does not delay the stop of a run', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: true });
    const run = workspace.cliWith(
      {
        FAKE_AGENT_SCRIPT: JSON.stringify({
          'bd-a1': [[{ tickAny: [FILE] }, { result: ['', {}] }]],
        }),
        FAKE_BD_HANGS: 'show',
      },
      ...['run', '--agent', 'claude', '--claude-path', fakeAgent('scripted')],
    );
    await until('the call', async () => (await beads.calls()).length > 0);
    const stopped = await workspace.cli('stop').finished;
    assert.equal(stopped.code, 0, stopped.stderr);
    const { code, stderr, stdout } = await run.finished;
    assert.equal(code, 130, stderr + stdout);
    // The limit of a call has not been reached.
    assert.deepEqual(await workspace.events('warning'), []);
  });
});
