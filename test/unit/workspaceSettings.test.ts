import assert from 'node:assert/strict';
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import {
  readWorkspaceSettings,
  setWorkspaceChecks,
  workspaceSettingsFile,
} from '../../src/orchestrator/settings/workspaceSettings.ts';
import { tempDir } from '../support/cleanEnv.ts';

async function workspaceWith(text: string | undefined) {
  const temp = await tempDir('settings-edit-');
  const file = workspaceSettingsFile(temp.path);
  if (text !== undefined) {
    await mkdir(path.dirname(file), { recursive: true });
    await writeFile(file, text);
  }
  return { temp, file, read: () => readFile(file, 'utf8') };
}

describe('checks written to the workspace settings', () => {
  test('create a new file', async () => {
    const { temp, read } = await workspaceWith(undefined);
    await using _ = temp;
    assert.deepEqual(await readWorkspaceSettings(temp.path), {});
    await setWorkspaceChecks(temp.path, []);
    await assert.rejects(read(), /ENOENT/);
    await setWorkspaceChecks(temp.path, ['npm test']);
    assert.equal(await read(), '{\n  "verify": [\n    "npm test"\n  ]\n}\n');
    assert.deepEqual(await readWorkspaceSettings(temp.path), { verify: ['npm test'] });
  });

  test('keep comments, other settings, tabs and line endings', async () => {
    const before =
      '{\r\n\t// Ours.\r\n\t"maxIterations": 40, // many\r\n\t"verify": ["old"],\r\n\t"onStuck": "skip",\r\n}\r\n';
    const { temp, read } = await workspaceWith(before);
    await using _ = temp;
    await setWorkspaceChecks(temp.path, ['npm test', 'echo "a b"']);
    const after = await read();
    assert.deepEqual(await readWorkspaceSettings(temp.path), {
      maxIterations: 40,
      verify: ['npm test', 'echo "a b"'],
      onStuck: 'skip',
    });
    const list = /\["?[^\]]*\]/;
    assert.equal(after.replace(list, '[]'), before.replace(list, '[]'));
    assert.ok(!/(?<!\r)\n/.test(after));
    await setWorkspaceChecks(temp.path, []);
    assert.deepEqual(await readWorkspaceSettings(temp.path), {
      maxIterations: 40,
      onStuck: 'skip',
    });
    assert.match(await read(), /\/\/ Ours\./);
  });

  test('are not written to an unusable file or through a link', async () => {
    const broken = '{ "verify": [ }';
    const { temp, file, read } = await workspaceWith(broken);
    await using _ = temp;
    await assert.rejects(setWorkspaceChecks(temp.path, ['npm test']), /line 1/);
    assert.equal(await read(), broken);

    await using other = await tempDir('settings-link-');
    const target = path.join(other.path, 'target.json');
    await writeFile(target, '{}');
    await mkdir(path.join(other.path, '.omc'));
    await symlink(target, workspaceSettingsFile(other.path));
    await assert.rejects(setWorkspaceChecks(other.path, ['npm test']), /not a regular file/);
    assert.equal(await readFile(target, 'utf8'), '{}');
    assert.ok(file);
  });
});
