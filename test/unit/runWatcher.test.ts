import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { RunWatcher } from '../../src/orchestrator/workspace/runWatcher.ts';
import { cleanEnv, tempDir } from '../support/cleanEnv.ts';

const room = path.resolve(import.meta.dirname, '../../src/orchestrator/workspace');
/** Far more than a process needs to start and end; only one that hangs is ended by it. */
const NEVER_MS = 60_000;

test('a watcher disposed during a check does not keep the process alive', async t => {
  const folder = await tempDir('ralph-fresh-watcher-');
  t.after(() => folder.remove());
  await mkdir(new RunFiles(folder.path).runDir('20261122-101010-abcd'), { recursive: true });
  const module = (name: string) => JSON.stringify(pathToFileURL(path.join(room, name)).href);
  const program = `
    import { RunFiles } from ${module('runFiles.ts')};
    import { RunWatcher } from ${module('runWatcher.ts')};
    const watcher = new RunWatcher(new RunFiles(${JSON.stringify(folder.path)}));
    await watcher.start();
    const looking = watcher.look();
    // The look has begun and waits for the file system.
    await Promise.resolve();
    watcher.dispose();
    await looking;
    console.log('disposed');`;

  const { stdout } = await promisify(execFile)(
    process.execPath,
    ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', program],
    { env: cleanEnv({ home: folder.path }), timeout: NEVER_MS },
  );
  assert.equal(stdout, 'disposed\n');
});

test('a workspace without a run is reported only once', async t => {
  const folder = await tempDir('ralph-fresh-watcher-');
  t.after(() => folder.remove());
  const watcher = new RunWatcher(new RunFiles(folder.path));
  t.after(() => watcher.dispose());
  let reported = 0;
  watcher.onDidChange(() => {
    reported += 1;
  });
  await watcher.start();
  await watcher.look();
  await watcher.look();
  assert.equal(reported, 1);
});
