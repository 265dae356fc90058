import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { KeptStories } from '../../src/orchestrator/workspace/keptStories.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { tempDir } from '../support/cleanEnv.ts';

test('only the copies of the named iterations are removed', async () => {
  await using temp = await tempDir('ralph-fresh-kept-');
  const files = new RunFiles(temp.path);
  const kept = new KeptStories(files, 'run', path.join(temp.path, 'prd.json'));
  const copyOf = (iteration: number) =>
    path.join(files.iterationDir('run', iteration), 'stories-before.json');
  for (const iteration of [1, 2]) {
    await mkdir(files.iterationDir('run', iteration), { recursive: true });
    await kept.keep(iteration, Buffer.from('[]'));
  }
  kept.noteJudged(1);
  const { judged } = kept;
  kept.noteJudged(2);
  await kept.removeJudged(judged);
  assert.deepEqual([1, 2].map(copyOf).map(existsSync), [false, true]);
  assert.deepEqual(kept.judged, [2]);
});
