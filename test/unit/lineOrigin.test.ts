import assert from 'node:assert/strict';
import { mkdir, rename } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { lineOrigin } from '../../src/orchestrator/git/lineOrigin.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

describe('the origin of lines', () => {
  let temp: TempDir;
  let folder: string;

  beforeEach(async () => {
    temp = await tempDir('line-origin-');
    folder = path.join(temp.path, 'project');
    await mkdir(folder);
    await write('[a] $(b).txt', 'one\ntwo\nthree\nfour\n');
    await gitRepo(folder);
  });
  afterEach(() => temp.remove());

  const { git, write, commit } = gitFolder(() => ({ folder, home: temp.path }));

  test('each line has the commit that wrote it, even after later commits and a rename', async () => {
    const start = (await git('rev-parse', 'HEAD')).trim();
    await write('[a] $(b).txt', 'one\nTWO\nthree\nfour\n');
    const second = await commit();
    await write('[a] $(b).txt', 'one\nTWO\nthree\nFOUR\n');
    const third = await commit();
    await write('other.txt', 'other\n');
    await commit();
    await mkdir(path.join(folder, 'sub'));
    await rename(path.join(folder, '[a] $(b).txt'), path.join(folder, 'sub', 'c.txt'));
    const last = await commit();
    const at = (first: number, to: number, dir = folder) =>
      lineOrigin(dir, { commit: last, path: 'sub/c.txt' }, first, to);
    const file = [last, third, second, start];
    assert.deepEqual(await at(2, 2), { lines: [second], file });
    assert.deepEqual(await at(4, 4, path.join(folder, 'sub')), { lines: [third], file });
    assert.deepEqual(await at(1, 4), { lines: [third, second, start], file });
    assert.deepEqual(await at(5, 5), { lines: [], file }, 'the empty line at the end of an editor');
    const then = await lineOrigin(folder, { commit: second, path: '[a] $(b).txt' }, 4, 4);
    assert.deepEqual(then, { lines: [start], file: [second, start] });
  });

  test('an option is not accepted as a commit', async () => {
    await assert.rejects(lineOrigin(folder, { commit: '--output=x', path: '[a] $(b).txt' }, 1, 1));
  });
});
