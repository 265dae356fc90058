import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { headMoves } from '../../src/orchestrator/git/headMoves.ts';
import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';

const run = promisify(execFile);

test('moves of HEAD tell commits from switches, resets and the start of a rebase', async t => {
  const temp = await tempDir('ralph-fresh-moves-');
  t.after(() => temp.remove());
  const folder = path.join(temp.path, 'repo');
  await gitRepo(folder);
  const commit = (name: string) =>
    `echo ${name} > ${name}; git add ${name}; git commit -qm ${name}`;
  const script = [
    `git switch -q -c side; ${commit('a')}`,
    `git switch -q main; ${commit('b')}; git commit -q --amend -m better`,
    'git switch -q side; git rebase -q main',
    'git switch -q --detach; git reset -q --hard HEAD~1',
  ].join('; ');
  await run('/bin/sh', ['-ec', script], { cwd: folder, env: cleanEnv({ home: temp.path }) });
  const gitDir = path.join(folder, '.git');
  const moves = await headMoves(folder, gitDir, '2000-01-01T00:00:00Z');
  const seen = moves.map(({ from, isCommit, to }) =>
    isCommit ? 'commit' : from === undefined ? 'move' : `${from} to ${to?.slice(0, 4)}`,
  );
  assert.deepEqual(seen.slice(0, 1), ['move']);
  assert.equal(seen[1], 'side to HEAD');
  // The end of the rebase, the commit that it made, and its start, which goes to a commit of somebody else.
  assert.deepEqual(seen.slice(2, 5), ['move', 'commit', 'move']);
  assert.deepEqual(seen.slice(5), [
    'main to side',
    ...['commit', 'commit', 'side to main', 'commit', 'main to side', 'commit'],
  ]);
  assert.ok(moves.every(({ isNew }) => isNew));
  assert.ok((await headMoves(folder, gitDir, '2100-01-01T00:00:00Z')).every(({ isNew }) => !isNew));
  // Without its file, git is asked.
  assert.deepEqual(
    await headMoves(folder, path.join(temp.path, 'elsewhere'), ''),
    moves.map(move => ({ ...move, isNew: false })),
  );
});
