import assert from 'node:assert/strict';
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { test } from 'node:test';
import { RawFile } from '../../src/orchestrator/agents/rawFile.ts';
import { tempDir } from '../support/cleanEnv.ts';

test('what comes after the end of an agent is written nowhere, least of all into the file that has its number now', async () => {
  await using folder = await tempDir('ralph-fresh-raw-');
  const file = path.join(folder.path, 'stream.jsonl');
  writeFileSync(file, 'of an earlier call');
  const raw = new RawFile(file);
  raw.write(Buffer.from('one\n'));
  raw.write(Buffer.from('zwei ✓\n'));

  raw.close();
  raw.close();
  const other = path.join(folder.path, 'other');
  // The system gives the lowest number that is free.
  const fds = Array.from({ length: 10 }, () => openSync(other, 'w'));
  raw.write(Buffer.from('late'));

  assert.equal(readFileSync(file, 'utf8'), 'one\nzwei ✓\n');
  assert.equal(readFileSync(other, 'utf8'), '');
  fds.forEach(closeSync);
});
