import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { statusText } from '../../src/presentation/statusText.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { over } from '../support/recordedJournals.ts';

test('a chosen story of a later tag is open now only when what it waits for is done', async () => {
  await using dir = await tempDir('status-');
  const storyFile = path.join('.taskmaster', 'tasks', 'tasks.json');
  const file = path.join(dir.path, storyFile);
  await mkdir(path.dirname(file), { recursive: true });
  const task = (id: number, status: string, ...dependencies: readonly number[]) => ({
    ...{ id, title: `Task ${id}`, status, dependencies },
  });
  const told = async (first: string) => {
    const beta = { tasks: [task(1, first), task(2, 'pending', 1)] };
    const text = JSON.stringify({ master: { tasks: [task(1, 'pending')] }, beta });
    await writeFile(file, text);
    const run = over('skip');
    const state = {
      ...run.state,
      ...{ storyFile, onlyStories: ['beta/2'], storyRecords: new Map() },
    };
    return statusText(new RunFiles(dir.path), { ...run, state });
  };
  assert.doesNotMatch(await told('pending'), /^Open now/m);
  assert.match(await told('done'), /^Open now: beta\/2\. /m);
});
