import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { lockAround } from '../../src/base/fileLock.ts';
import { tempDir } from '../support/cleanEnv.ts';

test('a lock that somebody has removed ends nobody, and is not missed when it is released', async t => {
  await using temp = await tempDir('file-lock-');
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const file = path.join(temp.path, 'file');
  const release = await lockAround(temp.path, file);
  await rm(`${file}.taking`, { recursive: true });
  // The holder looks at its lock.
  t.mock.timers.tick(5_000);
  for (let turn = 0; turn < 20; turn++) {
    await assert.rejects(stat(`${file}.taking`));
  }
  await release();
  // It can be taken again.
  const again = await lockAround(temp.path, file);
  assert.equal(existsSync(`${file}.taking`), true);
  await again();
});
