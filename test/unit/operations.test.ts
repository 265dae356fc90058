import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { unfinishedOperation } from '../../src/orchestrator/git/operations.ts';
import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';

const run = promisify(execFile);

// In a repository with three commits, of which the last two change a.txt; `side` conflicts with them.
const side =
  'git checkout -q -b side HEAD~2; echo side > a.txt; git add a.txt; git commit -qm side; git checkout -q main';
const start = 'for i in 1 2; do echo $i > a.txt; git add a.txt; git commit -qm $i; done';

describe('a git command that is not finished', { concurrency: 2 }, () => {
  for (const [name, commands, expected] of [
    ['none', side, undefined],
    ['rebase', 'git rebase -q --force-rebase --exec false HEAD~1 || true', 'rebase'],
    ['merge', `${side}; git merge -q side || true`, 'merge'],
    ['cherry-pick', `${side}; git cherry-pick side || true`, 'cherry-pick'],
    [
      'cherry-pick of several commits, after the first one',
      `${side}; git cherry-pick side main~1 || true; echo mine > a.txt; git add a.txt; git commit -qm picked`,
      'cherry-pick',
    ],
    ['revert', 'git revert --no-commit HEAD', 'revert'],
    ['am', `${side}; git format-patch -q -1 -o .git side; git am -q .git/*.patch || true`, 'am'],
    ['bisect', 'git bisect start HEAD HEAD~1', 'bisect'],
  ] as const) {
    test(`is known: ${name}`, async t => {
      const temp = await tempDir('ralph-fresh-operation-');
      t.after(() => temp.remove());
      const folder = path.join(temp.path, 'repo');
      await gitRepo(folder);
      const env = cleanEnv({ home: temp.path });
      await run('/bin/sh', ['-ec', `${start}; ${commands}`], { cwd: folder, env });
      assert.equal(unfinishedOperation(path.join(folder, '.git')), expected);
    });
  }
});
