import assert from 'node:assert/strict';
import { mkdir, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { syncFolder } from '../../scripts/lib/syncFolder.ts';
import { tempDir } from '../support/cleanEnv.ts';

test('a folder gets the files of another one, and those with the same content are not touched', async () => {
  await using temp = await tempDir('ralph-fresh-sync-');
  const [made, used] = ['made', 'used'].map(name => path.join(temp.path, name)) as [string, string];
  const write = async (folder: string, files: Readonly<Record<string, string>>) => {
    for (const [name, content] of Object.entries(files)) {
      await mkdir(path.dirname(path.join(folder, name)), { recursive: true });
      await writeFile(path.join(folder, name), content);
    }
  };
  await write(used, { 'same.js': '1', 'parts/other.js': '2', 'parts/gone.js': '3' });
  await write(made, { 'same.js': '1', 'parts/other.js': '4', 'more/new.js': '5' });
  const before = await stat(path.join(used, 'same.js'), { bigint: true });

  syncFolder(made, used);

  const after = await stat(path.join(used, 'same.js'), { bigint: true });
  assert.deepEqual([after.ino, after.mtimeNs], [before.ino, before.mtimeNs]);
  assert.equal(await readFile(path.join(used, 'parts/other.js'), 'utf8'), '4');
  assert.equal(await readFile(path.join(used, 'more/new.js'), 'utf8'), '5');
  assert.deepEqual(await readdir(path.join(used, 'parts')), ['other.js']);
});
