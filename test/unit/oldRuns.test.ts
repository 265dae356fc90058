import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { it } from 'node:test';
import { clearOldRuns } from '../../src/orchestrator/workspace/oldRuns.ts';
import { newRunId, RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { tempDir } from '../support/cleanEnv.ts';

it('an old run that cannot be removed is reported, and does not affect others', async t => {
  const temp = await tempDir('old-runs-');
  t.after(() => temp.remove());
  const files = new RunFiles(temp.path);
  const ids = ['2026-01-01', '2026-01-02', '2026-01-03'];
  for (const id of ids) {
    await mkdir(files.iterationDir(id, 1), { recursive: true });
    await writeFile(files.journalFile(id), '');
  }
  const clearing = clearOldRuns(files, ['2026-01-03'], async place => {
    if (place.endsWith('2026-01-01')) {
      throw new Error('It is locked.');
    }
    return false;
  });
  await assert.rejects(clearing, /It is locked/);
  assert.deepEqual(
    ids.map(id => existsSync(files.iterationDir(id, 1))),
    [true, false, true],
  );
});

it('a start that is under way keeps its output, which says why it fails', async t => {
  const temp = await tempDir('old-runs-');
  t.after(() => temp.remove());
  const files = new RunFiles(temp.path);
  const before = (seconds: number) => newRunId(new Date(Date.now() - seconds * 1_000));
  const [lost, failed] = [before(1), before(3_600)];
  for (const id of [lost, failed]) {
    await mkdir(files.runDir(id), { recursive: true });
    await writeFile(files.logFile(id), 'A run is already active in this folder.');
  }
  await clearOldRuns(files, [before(0)], async () => false);
  assert.deepEqual(
    [lost, failed].map(id => existsSync(files.logFile(id))),
    [true, false],
  );
});
