import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { deadPlans, PlanFolder } from '../../src/orchestrator/planner/planFolder.ts';
import { newRunId, RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';

let temp: TempDir;
let files: RunFiles;
let folder: PlanFolder;

beforeEach(async () => {
  temp = await tempDir('plan-folder-');
  files = new RunFiles(temp.path);
  folder = await PlanFolder.claim(files, newRunId());
});
afterEach(() => temp.remove());

describe('the folder of a planner when it ends', () => {
  it('keeps the files of its calls but no longer names a planner', async () => {
    await writeFile(path.join(folder.dir, 'prompt.md'), 'Plan it');
    await folder.leave();
    assert.equal(existsSync(path.join(folder.dir, 'prompt.md')), true);
    assert.deepEqual(await deadPlans(files), []);
  });

  it('is removed if it is empty, and may already be gone', async () => {
    await folder.leave();
    assert.equal(existsSync(folder.dir), false);
    await folder.leave();
    await rm(files.stateDir, { recursive: true });
    await folder.leave();
  });
});
