import assert from 'node:assert/strict';
import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { allowedToolsOf } from '../../src/orchestrator/agents/claude/claude.ts';
import {
  grantedTools,
  grantedToolsFile,
  grantTool,
  personsTools,
} from '../../src/orchestrator/settings/grantedTools.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';

describe('tools that a person allows during a run', () => {
  let temp: TempDir;
  const env = () => ({ HOME: temp.path });
  const file = (runId = 'r1') => grantedToolsFile(env(), 'linux', runId) ?? '';
  beforeEach(async () => {
    temp = await tempDir('ralph-fresh-granted-');
  });
  afterEach(() => temp.remove());

  test('are listed once per run', async () => {
    assert.deepEqual(await grantedTools(file()), []);
    for (const tool of ['WebFetch', 'WebSearch', 'WebFetch']) {
      await grantTool(file(), tool);
    }
    assert.deepEqual(await grantedTools(file()), ['WebFetch', 'WebSearch']);
    assert.deepEqual(await grantedTools(file('r2')), []);
    assert.deepEqual(await readdir(path.dirname(file())), ['r1.json']);
  });

  test('are added to those of the call, but not to a list of patterns', async () => {
    await mkdir(path.dirname(file()), { recursive: true });
    await writeFile(file(), '["WebFetch", "Bash(*)", 7, "Read,Bash", "Read"]');
    const alsoAllowed = await grantedTools(file());
    assert.deepEqual(alsoAllowed, ['WebFetch', 'Read']);
    const request = { cwd: '/', prompt: '', maxTurns: 1, env: {}, alsoAllowed };
    assert.deepEqual(allowedToolsOf({ allowedTools: ['Read', 'Grep'] }, request), [
      ...['Read', 'Grep', 'WebFetch'],
    ]);
  });

  test('ignore a damaged file and replace it', async () => {
    await mkdir(path.dirname(file()), { recursive: true });
    for (const text of ['', '[', '{"a": 1}', '"Bash"']) {
      await writeFile(file(), text);
      assert.deepEqual(await grantedTools(file()), []);
    }
    await grantTool(file(), 'WebFetch');
    assert.deepEqual(await grantedTools(file()), ['WebFetch']);
  });

  test('are forgotten for old runs', async () => {
    await grantTool(file('old'), 'WebFetch');
    await utimes(file('old'), 0, 0);
    await grantTool(file(), 'WebFetch');
    assert.deepEqual(await readdir(path.dirname(file())), ['r1.json']);
  });

  test('report a folder that cannot be created', async () => {
    await writeFile(path.join(temp.path, '.config'), '');
    await assert.rejects(grantTool(file(), 'WebFetch'), { name: 'HumanError' });
  });

  test("are added to the person's own list or to the default", async () => {
    assert.deepEqual(await personsTools(env(), 'linux'), [
      ...['Read', 'Edit', 'Write', 'Bash', 'Glob', 'Grep'],
    ]);
    const own = path.join(temp.path, '.config', 'ralph-fresh', 'config.json');
    await mkdir(path.dirname(own), { recursive: true });
    await writeFile(own, '{"allowedTools": ["Read", "Bash(git *)"]}');
    assert.deepEqual(await personsTools(env(), 'linux'), ['Read', 'Bash(git *)']);
  });
});
