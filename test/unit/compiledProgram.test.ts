import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { cleanEnv, tempDir } from '../support/cleanEnv.ts';

const run = promisify(execFile);
const root = path.resolve(import.meta.dirname, '../..');

/** The file that loads the program as it is bundled, beside a program of a line. */
async function product(folder: string, words: string) {
  const dist = path.join(folder, 'dist');
  const kept = path.join(folder, '.cache', 'compiled');
  const program = path.join(dist, 'program.cjs');
  const env = cleanEnv({ home: path.join(folder, 'home') });
  const write = (said: string) =>
    writeFile(
      program,
      `const say = () => console.log('${said}', process.argv[2]);
       exports.main = async () => { say(); process.exitCode = process.argv[2] === 'nonsense' ? 64 : 0; };`,
    );
  await mkdir(dist);
  // Node takes the files for what they are by this.
  await writeFile(path.join(folder, 'package.json'), '{ "type": "module" }');
  await build({
    stdin: {
      contents: "import { main } from './src/cli/compiledProgram.ts'; await main();",
      resolveDir: root,
    },
    outfile: path.join(dist, 'cli.js'),
    ...{ bundle: true, format: 'esm', platform: 'node', logLevel: 'error' },
  });
  await write(words);
  return {
    write,
    /** @throws when it ends with another exit code than 0 */
    call: (command: string) => run(process.execPath, [path.join(dist, 'cli.js'), command], { env }),
    say: async (...args: string[]) => {
      const { stdout } = await run(process.execPath, [path.join(dist, 'cli.js'), ...args], {
        env,
      }).catch(failed => failed);
      return stdout.trim();
    },
    kept: async () => (await readdir(kept).catch(() => [])).map(name => path.join(kept, name)),
  };
}

describe('the program as V8 compiled it', () => {
  test('is kept by the end of a command, for each command, and used by the next', async () => {
    await using folder = await tempDir('ralph-fresh-compiled-');
    const { kept, say } = await product(folder.path, 'one');

    assert.equal(await say('status'), 'one status');
    const [file = '', ...others] = await kept();
    assert.match(path.basename(file), /^status-v\d/);
    assert.deepEqual(others, []);
    const before = await stat(file, { bigint: true });

    assert.equal(await say('status'), 'one status');
    const after = await stat(file, { bigint: true });
    assert.deepEqual([after.ino, after.mtimeNs], [before.ino, before.mtimeNs]);

    await say('run');
    assert.equal((await kept()).length, 2);
  });

  test('is made anew of another program, also of one that is as long', async () => {
    await using folder = await tempDir('ralph-fresh-compiled-');
    const { kept, say, write } = await product(folder.path, 'one');
    await say('status');
    const [file = ''] = await kept();
    const before = await readFile(file);

    await write('two');

    assert.equal(await say('status'), 'two status');
    assert.equal((await readFile(file)).equals(before), false);
  });

  for (const [what, damage] of [
    ['cut short', (bytes: Buffer) => bytes.subarray(0, bytes.length / 2)],
    ['empty', () => Buffer.alloc(0)],
    [
      'of another byte',
      (bytes: Buffer) => bytes.map((byte, at) => (at === bytes.length - 1 ? 255 - byte : byte)),
    ],
  ] as const) {
    test(`is made anew when the file is ${what}`, async () => {
      await using folder = await tempDir('ralph-fresh-compiled-');
      const { kept, say } = await product(folder.path, 'one');
      await say('status');
      const [file = ''] = await kept();
      const damaged = damage(await readFile(file));
      await writeFile(file, damaged);

      assert.equal(await say('status'), 'one status');

      assert.equal((await readFile(file)).equals(damaged), false);
      assert.deepEqual(await kept(), [file]);
    });
  }

  test('is not kept of a command that does not exist, nor where nobody may write', async () => {
    await using folder = await tempDir('ralph-fresh-compiled-');
    const { kept, say } = await product(folder.path, 'one');

    assert.equal(await say('nonsense'), 'one nonsense');
    assert.deepEqual(await kept(), []);
    // Help is given for any word.
    for (const word of ['status', 'anything', 'else']) {
      await say(word, '--help');
    }
    assert.deepEqual(
      (await kept()).map(file => path.basename(file).split('-')[0]),
      ['help'],
    );
    await rm(path.join(folder.path, '.cache'), { recursive: true });

    // As a folder that takes no files.
    await writeFile(path.join(folder.path, '.cache'), '');
    assert.equal(await say('status'), 'one status');
  });

  test('lets a command end well where what is kept cannot even be looked at', async () => {
    await using folder = await tempDir('ralph-fresh-compiled-');
    const { call } = await product(folder.path, 'one');
    // For every user and system a place that cannot be looked at, as another user's folder is.
    await symlink('.cache', path.join(folder.path, '.cache'), 'junction');

    assert.deepEqual(await call('status'), { stdout: 'one status\n', stderr: '' });
  });

  test('is kept with nothing beside it that a killed command left half written', async () => {
    await using folder = await tempDir('ralph-fresh-compiled-');
    const { kept, say, write } = await product(folder.path, 'one');
    await say('status');
    const [file = ''] = await kept();
    await writeFile(`${file}.1`, 'half');

    await write('two');
    await say('status');

    assert.deepEqual(await kept(), [file]);
  });
});
