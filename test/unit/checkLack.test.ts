import assert from 'node:assert/strict';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { lackOfCheck } from '../../src/orchestrator/proof/checks/checkLack.ts';
import { tempDir } from '../support/cleanEnv.ts';

const PLATFORM = 'linux';

/** A folder with programs of its own in `PATH`. */
async function project(t: TestContext, scripts?: Readonly<Record<string, string>>) {
  const dir = await tempDir('ralph-fresh-checks-');
  t.after(() => dir.remove());
  const bin = path.join(dir.path, 'bin');
  const folder = path.join(dir.path, 'project');
  await mkdir(bin);
  await mkdir(folder);
  for (const name of ['npm', 'pnpm', 'yarn', 'pytest']) {
    await writeFile(path.join(bin, name), '#!/bin/sh\n');
    await chmod(path.join(bin, name), 0o755);
  }
  if (scripts) {
    await writeFile(path.join(folder, 'package.json'), JSON.stringify({ scripts }));
  }
  const lack = (command: string, PATH = bin) =>
    lackOfCheck(command, { folder, env: { PATH }, platform: PLATFORM });
  return { folder, lack };
}

describe('what a check lacks', { skip: process.platform === 'win32' }, () => {
  test('a program that is not in PATH', async t => {
    const { folder, lack } = await project(t);
    const kind = 'program';
    for (const command of ['nosuchprogram', 'nosuchprogram --all "a b" src/*', ' nosuchprogram ']) {
      const expected = { kind, program: 'nosuchprogram', isLocal: false };
      assert.deepEqual(await lack(command), expected, command);
    }
    assert.deepEqual(await lack('pytest -q', ''), { kind, program: 'pytest', isLocal: false });
    await mkdir(path.join(folder, 'node_modules', '.bin'), { recursive: true });
    await writeFile(path.join(folder, 'node_modules', '.bin', 'tsc'), '');
    await writeFile(path.join(folder, 'package.json'), '{}');
    assert.deepEqual(await lack('tsc --noEmit'), { kind, program: 'tsc', isLocal: true });
    await mkdir(path.join(folder, 'tools'));
    await writeFile(path.join(folder, 'tools', 'own'), '', { mode: 0o755 });
    assert.equal(await lack('own', 'tools'), undefined);
  });

  test('nothing is said of what is not certain', async t => {
    const { lack } = await project(t);
    for (const command of [
      ...['pytest -q', 'true', 'test -f a.txt', '[ -f a.txt ]', 'exit 0', '. ./env', './check.sh'],
      ...['nosuchprogram || true', 'cd sub && npm test', '$RUNNER all', 'CI=1 nosuchprogram'],
      ...['scripts/nosuch', '~/bin/nosuch', '"nosuch program"', 'a() { b; }', '! nosuchprogram'],
    ]) {
      assert.equal(await lack(command), undefined, command);
    }
  });

  test('a script that package.json does not have, or no package.json', async t => {
    const scripts = { lint: 'x', test: 'echo "Error: no test specified" && exit 1' };
    const { folder, lack } = await project(t);
    const manifest = 'package.json';
    const ofNpm = ['npm test', 'npm t', 'npm run check', 'npm -s run-script check -- --fast'];
    for (const command of [
      ...[...ofNpm, 'pnpm test', 'pnpm run check', 'yarn test', 'yarn run test'],
    ]) {
      assert.deepEqual(await lack(command), { kind: 'manifest' }, command);
    }
    await writeFile(path.join(folder, manifest), JSON.stringify({ scripts }));
    const missing = { kind: 'script', script: 'check', manifest };
    for (const command of ['npm run check', 'pnpm run check a']) {
      assert.deepEqual(await lack(command), missing, command);
    }
    assert.equal(await lack('npm run lint -- --fix'), undefined);
    assert.deepEqual(await lack('npm test'), {
      ...{ kind: 'script', script: 'test', manifest, isPlaceholder: true },
    });
    assert.deepEqual(
      await lackOfCheck('npm run check', {
        ...{ folder: path.join(folder, 'sub'), env: process.env, platform: PLATFORM },
      }),
      { ...missing, manifest: '../package.json' },
    );
  });

  test('scripts that may be elsewhere are not missed', async t => {
    const { folder, lack } = await project(t, { test: 'x' });
    for (const command of [
      ...['npm run check -w app', 'npm --prefix app run check', 'npm run check --if-present'],
      // Of npm itself, or a program of a dependency in a folder above.
      ...['npm run start', 'npm run env', 'npm run restart', 'yarn run jest'],
      ...['pnpm -r run check', 'pnpm check', 'yarn check', 'yarn run app:check', 'npm run', 'npm'],
    ]) {
      assert.equal(await lack(command), undefined, command);
    }
    await writeFile(path.join(folder, 'package.json'), '{ broken');
    assert.equal(await lack('npm run check'), undefined);
  });
});
