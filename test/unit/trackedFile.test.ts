import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { isTracked } from '../../src/orchestrator/git/trackedFile.ts';
import { cleanEnv, gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';

const exec = promisify(execFile);

describe('a file tracked by a repository', () => {
  let temp: TempDir;
  let folder: string;
  const at = (...names: string[]) => path.join(folder, ...names);

  beforeEach(async () => {
    temp = await tempDir('tracked-');
    folder = path.join(temp.path, 'my [project] *');
    await mkdir(at('.omc', 'state'), { recursive: true });
  });
  afterEach(() => temp.remove());

  async function git(cwd: string, ...args: readonly string[]): Promise<void> {
    const env = cleanEnv({ home: temp.path });
    await exec('git', ['-c', 'protocol.file.allow=always', ...args], { cwd, env });
  }

  test("is matched exactly, not by pattern; outside a repository git's error is passed on", async () => {
    await writeFile(at('.omc', 'state', 'a.jsonl'), 'a');
    await gitRepo(folder);
    await writeFile(at('.omc', 'state', '*.jsonl'), 'mine');
    assert.equal(await isTracked(at('.omc', 'state', 'a.jsonl')), true);
    assert.equal(await isTracked(at('.omc', 'state', '*.jsonl')), false);
    await assert.rejects(isTracked(path.join(temp.path, 'x')));
  });

  test('is matched in another case, which some disks treat as equal', async () => {
    await mkdir(at('.OMC', 'State'), { recursive: true });
    await writeFile(at('.OMC', 'State', 'A.jsonl'), 'a');
    await gitRepo(folder);
    assert.equal(await isTracked(at('.omc', 'state', 'a.jsonl')), true);
  });

  test('is found in a submodule', async () => {
    const other = path.join(temp.path, 'other');
    await mkdir(path.join(other, 'state'), { recursive: true });
    await writeFile(path.join(other, 'state', 'a.jsonl'), 'a');
    await gitRepo(other);
    await writeFile(at('readme.txt'), 'x');
    await gitRepo(folder);
    await git(folder, 'submodule', '--quiet', 'add', '--name', 'x', other, 'deps');
    assert.equal(await isTracked(at('deps', 'state', 'a.jsonl')), true);
    assert.equal(await isTracked(at('deps', 'state', 'b.jsonl')), false);
  });
});
