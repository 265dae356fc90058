import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { BeadsFolder, type BeadsIssue, installFakeBd } from '../support/beadsFolder.ts';
import { Workspace } from '../support/ralph.ts';

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
    assert.deepEqual((await beads.calls()).slice(2), ['show bd-a1 --json']);
  });

  test('edit the file where there is no database, installed or not', async t => {
    for (const installed of [true, false]) {
      const { beads, workspace } = await beadsWorkspace(t, { database: false, installed });
      const { code, stderr } = await workspace.cli('tick', 'bd-a2').finished;
      assert.equal(code, 0, stderr);
      assert.equal((await beads.inFile())['bd-a2'], 'closed');
      assert.deepEqual(await beads.calls(), []);
    }
  });

  test('are refused with the line that installs bd, where only a database is', async t => {
    const { beads, workspace } = await beadsWorkspace(t, { database: true, installed: false });
    const { code, stderr } = await workspace.cli('tick', 'bd-a1').finished;
    assert.equal(code, 1);
    assert.match(stderr, /^ralph-fresh: [^\n]*beads\.db[^\n]*npm install -g @beads\/bd\n$/);
    assert.equal((await beads.inFile())['bd-a1'], 'open');
  });

  test('say what bd says when it refuses, and change nothing', async t => {
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
    assert.match(epic.stderr, /“bd close” failed: cannot close epic bd-e: 1 open child issue/);
    const locked = await workspace.cliWith({ FAKE_BD_FAILS: 'show' }, 'tick', 'bd-e.1').finished;
    assert.match(
      locked.stderr,
      /“bd show” failed: Error: failed to open database: database is locked/,
    );
    const option = await workspace.cli('tick', '--', '--force').finished;
    assert.match(option.stderr, /“--force” is not an id that Beads gives/);
    assert.deepEqual([...new Set(Object.values(await beads.inFile()))], ['open']);
    assert.equal(
      (await beads.calls()).some(call => call.includes('--force')),
      false,
    );
  });
});
