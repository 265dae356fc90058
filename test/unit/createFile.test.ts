import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { createFile } from '../../src/base/createFile.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';

const noLinks = process.platform === 'win32' ? 'links need rights on Windows' : false;

let temp: TempDir;
beforeEach(async () => {
  temp = await tempDir('create-file-');
});
afterEach(() => temp.remove());

describe('createFile', () => {
  it('creates a file and its folder, and leaves an existing file as it is', async () => {
    const file = path.join(temp.path, 'one', 'two', 'file.txt');
    assert.equal(await createFile(file, 'first'), true);
    assert.equal(await createFile(file, 'second'), false);
    assert.equal(await readFile(file, 'utf8'), 'first');
    assert.deepEqual(await readdir(path.dirname(file)), ['file.txt']);
  });

  it('creates a file once, however many try at the same time', async () => {
    const file = path.join(temp.path, 'file.txt');
    const texts = Array.from({ length: 20 }, (_, index) => `text ${index}`);
    const created = await Promise.all(texts.map(text => createFile(file, text)));
    assert.equal(created.filter(Boolean).length, 1);
    assert.equal(await readFile(file, 'utf8'), texts[created.indexOf(true)]);
  });

  it('leaves a broken link as it is', { skip: noLinks }, async () => {
    const file = path.join(temp.path, 'file.txt');
    await symlink(path.join(temp.path, 'absent'), file);
    assert.equal(await createFile(file, 'ours'), false);
    assert.deepEqual(await readdir(temp.path), ['file.txt']);
  });

  it('removes what killed processes have left of the same file, also if it exists', async () => {
    // Nobody has this pid any more.
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const made = (name: string, maker: number) => `${name}.${maker}-0123456789ab.tmp`;
    const kept = [
      made('file.txt', process.pid),
      made('other.txt', pid),
      `file.txt.${pid}-mine.tmp`,
      'file.txt',
    ];
    const left = path.join(temp.path, made('file.txt', pid));
    for (const isCreated of [true, false]) {
      await Promise.all(
        [left, ...kept.slice(0, 3).map(name => path.join(temp.path, name))].map(file =>
          writeFile(file, 'half'),
        ),
      );
      assert.equal(await createFile(path.join(temp.path, 'file.txt'), 'ours'), isCreated);
      assert.deepEqual((await readdir(temp.path)).sort(), kept.toSorted());
    }
  });

  it('leaves nothing behind if the file cannot be written', async () => {
    const name = 'x'.repeat(250);
    await assert.rejects(createFile(path.join(temp.path, name), 'text'), { code: 'ENAMETOOLONG' });
    assert.deepEqual(await readdir(temp.path), []);
  });
});
