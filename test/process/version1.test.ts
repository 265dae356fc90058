import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cp, mkdir, readFile, realpath } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import { Workspace } from '../support/ralph.ts';

const run = promisify(execFile);
const fixture = path.resolve(import.meta.dirname, '../fixtures/version1');
const FIRST = '8bfb98d0bb5ebb8c7dc5a0abd0d9dea84bae16f2';

/** A workspace with what version 1 has left; see the README of the fixture. */
async function unpacked(t: TestContext) {
  const workspace = await Workspace.create(t, { git: false, stories: undefined });
  const git = async (...args: readonly string[]) =>
    (await run('git', [...args], { cwd: workspace.folder, env: workspace.env })).stdout.trim();
  await git('init', '--quiet', '--initial-branch', 'main');
  await git('config', 'user.name', 'Person');
  await git('config', 'user.email', 'person@example.com');
  const bundle = path.join(fixture, 'repository.bundle');
  // Restore points go by the folder that they were made in.
  const place = createHash('sha256')
    .update(await realpath(workspace.folder))
    .digest('hex');
  await git(
    ...['fetch', '--quiet', bundle, 'refs/heads/main:refs/version1/main'],
    `refs/ralph-fresh/45ecb17a295e/*:refs/ralph-fresh/${place.slice(0, 12)}/*`,
  );
  await git('reset', '--quiet', '--hard', 'refs/version1/main');
  await mkdir(path.join(workspace.folder, '.omc/state'));
  await workspace.write('.omc/state/.gitignore', '*\n');
  await cp(path.join(fixture, 'state'), path.join(workspace.folder, '.omc/state'), {
    recursive: true,
  });
  const json = async (...args: readonly string[]) =>
    JSON.parse((await workspace.cli(...args, '--json').finished).stdout);
  return { git, json, workspace };
}

const asBefore = async (name: string) =>
  JSON.parse(await readFile(path.join(fixture, `${name}.json`), 'utf8'));

/** One after the other: they have the same run, and what closes it ends all processes that have its id. */
describe('a run left by version 1', { concurrency: 1 }, () => {
  test('is shown as before', async t => {
    const { json, workspace } = await unpacked(t);
    // Later versions may say more.
    assert.partialDeepStrictEqual(await json('status'), await asBefore('status'));
    const { stories } = await asBefore('stories');
    // Version 1 did not say yet that a claim still has to be judged.
    stories[1].state = 'unjudged';
    assert.partialDeepStrictEqual((await json('stories')).stories, stories);
    assert.partialDeepStrictEqual(await json('receipt'), await asBefore('receipt'));
    const { stdout } = await workspace.cli('logs').finished;
    assert.match(stdout, /Commit 8bfb98d feat: US-001\n.*US-001 is marked done by its agent\n/);
    assert.match(stdout, /● Write\(US-002\.txt\)\n/);
  });

  test('continues: the interrupted iteration is checked, and the last story is done', async t => {
    const { git, workspace } = await unpacked(t);
    const { code, stderr } = await workspace.script([['work']]).finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal((await workspace.runIds()).length, 1);
    assert.deepEqual(await workspace.done(), ['US-001', 'US-002', 'US-003']);
    const ended = await workspace.events('iteration.ended');
    assert.deepEqual(
      ended.map(({ iteration, outcome, storyId }) => [iteration, storyId, outcome]),
      [
        [1, 'US-001', 'storyDone'],
        [2, 'US-002', 'storyDone'],
        [3, 'US-003', 'storyDone'],
      ],
    );
    assert.equal((await workspace.events('gate.ended')).length, 3);
    const recorded = (await workspace.events('commit.recorded')).map(({ hash }) => hash);
    const made = (await git('log', '--reverse', '--format=%H')).split('\n').slice(1);
    assert.deepEqual(recorded, made);
  });

  test('can be rolled back to the state before an iteration', async t => {
    const { git, workspace } = await unpacked(t);
    const { code, stderr } = await workspace.cli('rollback', '2').finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.equal(await git('rev-parse', 'HEAD^{tree}'), await git('rev-parse', `${FIRST}^{tree}`));
    assert.deepEqual(await workspace.done(), ['US-001']);
  });

  test('allows reverting a story with a commit', async t => {
    const { git, workspace } = await unpacked(t);
    const { code, stderr } = await workspace.cli('revert', 'US-001').finished;
    assert.deepEqual([code, stderr], [0, '']);
    assert.deepEqual(await workspace.done(), ['US-002']);
    assert.match(await git('log', '-1', '--format=%s'), /US-001/);
    assert.equal(await git('ls-files', 'US-001.txt'), '');
  });
});
