import assert from 'node:assert/strict';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { GitRepository } from '../../src/orchestrator/git/git.ts';
import { activeOtherMode } from '../../src/orchestrator/preconditions/modes.ts';
import { otherMode } from '../../src/orchestrator/preconditions/otherMode.ts';
import { gitGround } from '../../src/orchestrator/preconditions/precondition.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { tempDir } from '../support/cleanEnv.ts';

describe('modes of oh-my-claudecode in a folder', () => {
  async function folder(t: { after(fn: () => Promise<void>): void }) {
    const dir = await tempDir('ralph-fresh-modes-');
    t.after(() => dir.remove());
    const state = async (file: string, content: unknown) => {
      const full = path.join(dir.path, '.omc', file);
      await mkdir(path.dirname(full), { recursive: true });
      await writeFile(full, typeof content === 'string' ? content : JSON.stringify(content));
    };
    return { files: new RunFiles(dir.path), state };
  }

  for (const mode of ['autopilot', 'ultrapilot', 'swarm', 'pipeline', 'ralph'] as const) {
    test(`an active ${mode} prevents a start`, async t => {
      const { files, state } = await folder(t);
      const settings = {
        ...({ agent: 'demo', branch: 'stay', reviewer: false } as const),
        ...{ flakyChecks: [], isolate: false, lanes: 1, verify: [] },
      };
      const git = gitGround(new GitRepository(files.workspace));
      const judge = async () =>
        [(await otherMode.judge({ ...git, files, env: {}, settings })) ?? []].flat()[0];
      assert.equal((await judge())?.level, 'holds');
      await state(`state/${mode}-state.json`, { active: true });
      assert.equal((await activeOtherMode(files))?.mode, mode);
      const refusal = await judge();
      assert.equal(refusal?.level, 'refuses');
      assert.match(JSON.stringify(refusal), new RegExp(`${mode}.*oh-my-claudecode:cancel`));
      await state(`state/${mode}-state.json`, { active: false });
      assert.equal(await activeOtherMode(files), undefined);
    });
  }

  test('the state of ralph may be one folder up, as in older versions', async t => {
    const { files, state } = await folder(t);
    await state('ralph-state.json', { active: true });
    assert.equal((await activeOtherMode(files))?.mode, 'ralph');
  });

  test('an invalid state file is ignored', async t => {
    const { files, state } = await folder(t);
    for (const content of ['{', 'null', '[]', '{"active":"true"}', '']) {
      await state('state/ralph-state.json', content);
      assert.equal(await activeOtherMode(files), undefined, content);
    }
  });
});
