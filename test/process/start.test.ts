import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFile, mkdir, readdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, it, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { cleanEnv, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { isRunning } from '../support/journals.ts';

const root = path.resolve(import.meta.dirname, '..', '..');

// The limit only ends a hanging test.
describe('npm start', () => {
  let temp: TempDir;
  let scratch: string;

  beforeEach(async () => {
    temp = await tempDir('npm-start-');
    scratch = path.join(temp.path, 'scratch');
    await mkdir(scratch);
  });
  afterEach(() => temp.remove());

  function start(...args: readonly string[]) {
    const child = spawn(process.execPath, ['scripts/bootstrap.mjs', 'scripts/start.ts', ...args], {
      cwd: root,
      env: cleanEnv({
        home: temp.path,
        // os.tmpdir() reads TMPDIR, on Windows TEMP.
        extra: { TMPDIR: scratch, TEMP: scratch, TMP: scratch, RALPH_FRESH_DEMO_PACE_MS: '0' },
      }),
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const said = { text: '' };
    const listeners: (() => void)[] = [];
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (text: string) => {
        said.text += text;
        for (const listener of listeners) {
          listener();
        }
      });
    }
    const ended = new Promise<number | null>(resolve => child.once('close', resolve));
    const says = (pattern: RegExp) =>
      new Promise<void>((resolve, reject) => {
        const look = () => pattern.test(said.text) && resolve();
        listeners.push(look);
        look();
        void ended.then(() => reject(new Error(`It ended without ${pattern}:\n${said.text}`)));
      });
    return { child, said, ended, says };
  }

  it('headless: finishes five stories, prints the completion signal, exits with 0, leaves nothing behind', async () => {
    const { said, ended } = start('--headless');
    assert.equal(await ended, 0, said.text);
    assert.match(said.text, /=== Iteration 5\/20 ===/);
    assert.match(said.text, /Completion promise detected!/);
    assert.match(said.text, /COMPLETE after 5 iterations/);
    assert.deepEqual(await readdir(scratch), []);
  });

  it('Ctrl-C in the middle leaves nothing behind', async () => {
    const { child, said, ended, says } = start('--headless');
    await says(/=== Iteration 2\/20 ===/);
    child.kill('SIGINT');
    assert.equal(await ended, 130, said.text);
    assert.match(said.text, /Received SIGINT, saving state and exiting/);
    assert.deepEqual(await readdir(scratch), []);
    assert.equal(child.pid !== undefined && (await isRunning(child.pid)), false);
  });

  it('names an unknown argument', async () => {
    const { said, ended } = start('--headles');
    assert.equal(await ended, 64);
    assert.match(said.text, /does not know --headles/);
  });
});

test('one line explains what to do without install scripts and with an older Node', async () => {
  await using temp = await tempDir('bootstrap-');
  const scripts = path.join(temp.path, 'scripts');
  await mkdir(scripts);
  await mkdir(path.join(temp.path, 'node_modules'));
  await copyFile(path.join(root, 'scripts/bootstrap.mjs'), path.join(scripts, 'bootstrap.mjs'));
  await writeFile(path.join(temp.path, 'package-lock.json'), '{}');
  // As `npm ci --ignore-scripts` leaves it: npm's record is there, the Node of the devDependency is not.
  await writeFile(path.join(temp.path, 'node_modules/.package-lock.json'), '{}');
  const older = path.join(temp.path, 'older.mjs');
  await writeFile(
    older,
    "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '22.1.0' } });\n" +
      "Object.defineProperty(process, 'version', { value: 'v22.1.0' });\n",
  );
  const child = spawn(
    process.execPath,
    ['--import', pathToFileURL(older).href, 'scripts/bootstrap.mjs', 'scripts/build.ts'],
    { cwd: temp.path, env: cleanEnv({ home: temp.path }), stdio: ['ignore', 'ignore', 'pipe'] },
  );
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.match(said, /^\[set-up\] [^\n]*npm rebuild node esbuild --ignore-scripts=false[^\n]*\n$/);
});
