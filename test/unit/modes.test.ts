import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { activeOtherMode, isModeActive, requireNoOtherMode } from '../../src/orchestrator/modes.ts';
import { RunFiles } from '../../src/orchestrator/run/runFiles.ts';
import { tempDir } from '../support/cleanEnv.ts';

/** A pid that no process can have. */
const NO_PID = 2 ** 22 + 1;

describe('the modes of oh-my-claudecode in a folder', () => {
  async function folder(t: { after(fn: () => Promise<void>): void }) {
    const dir = await tempDir('ralph-fresh-modes-');
    t.after(() => dir.remove());
    const state = async (file: string, content: unknown) => {
      const full = path.join(dir.path, '.omc', file);
      await mkdir(path.dirname(full), { recursive: true });
      await writeFile(full, typeof content === 'string' ? content : JSON.stringify(content));
    };
    return { path: dir.path, files: new RunFiles(dir.path), state };
  }

  for (const mode of ['autopilot', 'ultrapilot', 'swarm', 'pipeline', 'ralph'] as const) {
    test(`${mode} that is active keeps us from starting`, async t => {
      const { path: workspace, files, state } = await folder(t);
      assert.equal(await isModeActive(mode, workspace), false);
      await requireNoOtherMode(files);
      await state(`state/${mode}-state.json`, { active: true });
      assert.equal(await isModeActive(mode, workspace), true);
      await assert.rejects(
        requireNoOtherMode(files),
        new RegExp(`"${mode}".*oh-my-claudecode:cancel`),
      );
      await state(`state/${mode}-state.json`, { active: false });
      assert.equal(await activeOtherMode(files), undefined);
    });
  }

  test('the state of ralph may be one folder up, where older versions keep it', async t => {
    const { files, state } = await folder(t);
    await state('ralph-state.json', { active: true });
    assert.equal((await activeOtherMode(files))?.mode, 'ralph');
  });

  test('others can ask whether we are active; a loop that was killed is not', async t => {
    const { path: workspace, state } = await folder(t);
    assert.equal(await isModeActive('ralph-fresh', workspace), false);
    await state('state/ralph-fresh-state.json', { active: true, pid: process.pid });
    assert.equal(await isModeActive('ralph-fresh', workspace), true);
    await state('state/ralph-fresh-state.json', { active: true, pid: NO_PID });
    assert.equal(await isModeActive('ralph-fresh', workspace), false);
    await state('state/ralph-fresh-state.json', { active: false, pid: process.pid });
    assert.equal(await isModeActive('ralph-fresh', workspace), false);
  });

  test('a file that is no state says nothing', async t => {
    const { files, state } = await folder(t);
    for (const content of ['{', 'null', '[]', '{"active":"true"}', '']) {
      await state('state/ralph-state.json', content);
      assert.equal(await activeOtherMode(files), undefined, content);
    }
  });
});
