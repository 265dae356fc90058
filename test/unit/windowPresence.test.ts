import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import type { Folder } from '../../src/views/folders/folder.ts';
import type { Folders } from '../../src/views/folders/folders.ts';
import { windowPresence } from '../../src/views/run/windowPresence.ts';
import { tempDir } from '../support/cleanEnv.ts';
import { until } from '../support/ralph.ts';

test('a folder that leaves the window before its run was greeted is not greeted afterwards', async t => {
  const temp = await tempDir('presence-');
  t.after(() => temp.remove());
  const files = new RunFiles(temp.path);
  const follow = (runId: string) => {
    const folder = {
      files,
      runs: {
        current: { runId, alive: true, state: { onLastWindow: 'stopAfterIteration', pid: 1 } },
        onDidChange: () => ({ dispose: () => undefined }),
      },
    } as unknown as Folder;
    const folders = { inEach: (listen: (one: Folder) => object) => listen(folder) };
    return windowPresence(folders as unknown as Folders, error => assert.ifError(error));
  };
  const inbox = (runId: string) => readFile(files.inboxFile(runId), 'utf8').catch(() => '');
  follow('left').dispose();
  const stays = follow('stays');
  await until('a hello', async () => (await inbox('stays')).includes('"hello"'));
  stays.dispose();
  assert.match(await inbox('stays'), /"goodbye"/);
  assert.equal(await inbox('left'), '');
});
