import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import { test } from 'node:test';
import { runsAbout } from '../../src/orchestrator/workspace/history.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { iterationEnded, iterationStarted, journalOf, runStarted } from '../support/runEvents.ts';

const stories = { done: 0, total: 3 };

test('older runs are read until each story is found in one', async t => {
  const temp = await tempDir('history-');
  t.after(() => temp.remove());
  const files = new RunFiles(temp.path);
  const workedOn = { '2026-01-01': 'A', '2026-01-02': 'B', '2026-01-03': 'C', '2026-01-04': 'B' };
  for (const [runId, storyId] of Object.entries(workedOn)) {
    const events = journalOf([
      runStarted({ runId, stories }),
      iterationStarted({ iteration: 1, storyId, stories }),
      iterationEnded({ iteration: 1, storyId, outcome: 'noProgress', stories }),
    ]);
    await mkdir(files.runDir(runId), { recursive: true });
    const lines = events.map(event => `${JSON.stringify(event)}\n`);
    await writeFile(files.journalFile(runId), lines.join(''));
  }
  const read = async (ids?: readonly string[]) =>
    (await runsAbout(files, ids)).map(({ runId }) => runId?.at(-1)).join(' ');

  assert.equal(await read(), '4');
  assert.equal(await read(['B']), '4');
  assert.equal(await read(['C', 'B']), '3 4');
  assert.equal(await read(['A']), '1 2 3 4');
  assert.equal(await read(['unknown to all']), '1 2 3 4');
});
