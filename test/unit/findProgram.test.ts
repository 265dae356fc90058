import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import {
  type FindProgramOptions,
  findProgram,
} from '../../src/orchestrator/process/findProgram.ts';
import { type TempDir, tempDir } from '../support/cleanEnv.ts';

describe('findProgram', () => {
  let temp: TempDir;
  let home: string;

  beforeEach(async () => {
    temp = await tempDir('find-program-');
    home = path.join(temp.path, 'home');
  });
  afterEach(() => temp.remove());

  async function file(name: string, mode = 0o755): Promise<string> {
    const full = path.join(temp.path, name);
    await mkdir(path.dirname(full), { recursive: true });
    await writeFile(full, '');
    await chmod(full, mode);
    return full;
  }

  const folder = (name: string) => path.join(temp.path, name);
  const find = (options: Partial<FindProgramOptions>, name = 'no-such-agent') =>
    findProgram(name, { env: {}, home, platform: 'linux', ...options });
  const posix = { skip: process.platform === 'win32' };

  it('returns the first program on PATH', posix, async () => {
    await file('a/no-such-agent', 0o644);
    await mkdir(folder('b/no-such-agent'), { recursive: true });
    const third = await file('c/no-such-agent');
    await file('d/no-such-agent');
    const PATH = ['a', 'b', 'c', 'd'].map(folder).join(':');
    assert.equal(await find({ env: { PATH } }), third);
  });

  it('never takes a program from the working directory', posix, async () => {
    await file('no-such-agent');
    const PATH = ['', '.', path.relative(process.cwd(), temp.path)].join(':');
    assert.equal(await find({ env: { PATH } }), undefined);
  });

  it('knows where installers put Claude Code', posix, async () => {
    const local = await file('home/.claude/local/no-such-agent');
    assert.equal(await find({}), local);
    const native = await file('home/.local/bin/no-such-agent');
    assert.equal(await find({}), native);
  });

  it('respects extensions on Windows', async () => {
    await file('a/no-such-agent');
    const shim = await file('a/no-such-agent.cmd', 0o644);
    const binary = await file('b/no-such-agent.exe', 0o644);
    const env = (folders: string) => ({ Path: folders, PathExt: '.EXE;.CMD' });
    const platform = 'win32';
    const both = `${folder('b')};${folder('a')}`;
    assert.equal(await find({ platform, env: env(folder('a')) }), shim);
    assert.equal(await find({ platform, env: env(both) }), binary);
    assert.equal(await find({ platform, env: env(both) }, 'no-such-agent.cmd'), shim);
    assert.equal(await find({ platform, env: {} }), undefined);
    const roaming = await file('roaming/npm/no-such-agent.cmd');
    assert.equal(await find({ platform, env: { APPDATA: folder('roaming') } }), roaming);
  });

  it('prefers the setting: a path, a path in the home, another name', posix, async () => {
    const own = await file('own/agent-2');
    const inHome = await file('home/bin/agent');
    await file('a/no-such-agent');
    const env = { PATH: `${folder('a')}:${folder('own')}` };
    assert.equal(await find({ env, setting: own }), own);
    assert.equal(await find({ env, setting: '~/bin/agent' }), inHome);
    assert.equal(await find({ env, setting: 'agent-2' }), own);
    assert.equal(await find({ env, setting: ' ' }), folder('a/no-such-agent'));
  });

  it('says which setting to fix', posix, async () => {
    const PATH = path.dirname(await file('a/claude'));
    const settings = [
      folder('gone'),
      await file('not-executable', 0o644),
      folder('a'),
      'unknown-name',
    ];
    for (const setting of settings) {
      await assert.rejects(
        findProgram('claude', { env: { PATH }, home, platform: 'linux', setting }),
        {
          name: HumanError.name,
          message: new RegExp(`"${setting}".*ralphFresh\\.claudePath`),
        },
      );
    }
  });

  it('names another setting if there is one', async () => {
    const settingName = "the agent's command";
    await assert.rejects(
      findProgram('x', { env: {}, home, platform: 'linux', setting: '/gone/x', settingName }),
      { name: HumanError.name, message: /"\/gone\/x", set as the agent's command, cannot be run/ },
    );
  });

  for (const name of ['/gone/x', '~/gone/x', 'gone']) {
    it(`does not suggest looking for ${name}, which the person named`, async () => {
      await assert.rejects(
        findProgram(name, { env: {}, home, platform: 'linux', setting: name, settingName: 'it' }),
        {
          name: HumanError.name,
          message: `"${name}", set as it, cannot be run. Set it to the full path of a program; a script must be executable (chmod +x).`,
        },
      );
    });
  }
});
