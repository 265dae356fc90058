import assert from 'node:assert/strict';
import { readdir, readFile, symlink } from 'node:fs/promises';
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

  it('leaves nothing behind if the file cannot be written', async () => {
    const name = 'x'.repeat(250);
    await assert.rejects(createFile(path.join(temp.path, name), 'text'), { code: 'ENAMETOOLONG' });
    assert.deepEqual(await readdir(temp.path), []);
  });
});
