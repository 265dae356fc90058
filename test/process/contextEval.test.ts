import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import { mkdir, rename, rm, symlink } from 'node:fs/promises';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { promisify } from 'node:util';
import { replayOf } from '../../src/orchestrator/context/evaluation/replay.ts';
import { builtCli } from '../support/builtCli.ts';
import { cleanEnv, gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

const run = promisify(execFile);

interface Answer {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

describe('eval context', () => {
  let temp: TempDir;
  let folder: string;
  const { commit, git, write } = gitFolder(() => ({ folder, home: temp.path }));

  async function cli(...args: readonly string[]): Promise<Answer> {
    try {
      const options = { cwd: folder, env: cleanEnv({ home: temp.path }) };
      const { stdout, stderr } = await run(process.execPath, [builtCli(), ...args], options);
      return { code: 0, stdout, stderr };
    } catch (error) {
      const { code, stderr, stdout } = error as Answer;
      return { code, stdout, stderr };
    }
  }

  before(async () => {
    temp = await tempDir('context-eval-');
    folder = path.join(temp.path, 'project');
    await mkdir(folder);
    await write('src/session.ts', 'export function openSession(user: string) {}\n');
    await write('src/basket.ts', 'export function addToBasket(item: string) {}\n');
    await write('src/old.ts', 'export function priceOf(item: string) {}\n');
    await write('test/basket.test.ts', 'test("adds", () => addToBasket("a"));\n');
    await write('image.png', Buffer.from([0, 159, 146, 150, 10]));
    await write('broken.md', Buffer.from([0xff, 0xfe, 0x62, 0x0a]));
    await gitRepo(folder);
    await write('src/session.ts', 'export function openSession(user: string) { check(user); }\n');
    await commit('fix: nobody can log in with an empty password');
    await rename(path.join(folder, 'src/old.ts'), path.join(folder, 'src/price.ts'));
    await commit('move the discount');
    for (let i = 0; i < 12; i++) {
      await write(`src/other${i}.ts`, `export const other${i} = ${i};\n`);
      await commit(`other ${i}`);
    }
    // The commits that are replayed.
    await write('src/session.ts', 'export function openSession() { /* zebra */ }\n');
    await write('src/zebra.ts', 'export const zebra = 1;\n');
    await commit('zebra: log in without a password');
    await write('src/basket.ts', 'export function addToBasket(item: string) { zebra(); }\n');
    await commit('the basket keeps its items');
    await git('rm', '--quiet', 'image.png');
    await commit('remove the picture');
  });
  after(() => temp.remove());

  test('the engine is compared with the simple ones, as a table and as data', async () => {
    const { code, stderr, stdout } = await cli('eval', 'context', '--commits', '3', '--json');
    assert.equal(code, 0, stderr);
    const { commits, engines } = JSON.parse(stdout) as {
      commits: number;
      engines: Record<string, number | string>[];
    };
    // The third one changed no source file.
    assert.equal(commits, 2);
    assert.deepEqual(
      engines.map(({ name }) => name),
      ['engine', 'mix', 'bm25', 'grep'],
    );
    const [engine = {}] = engines;
    assert.deepEqual(Object.keys(engine), [
      'name',
      'hit10',
      'recall10',
      'recall20',
      'mrr',
      'seconds',
    ]);
    // "log in" is nowhere in the session's code: an earlier commit said it.
    assert.equal(engine['hit10'], 1);
    assert.equal(engine['mrr'], 1);

    const table = await cli('eval', 'context', '--commits', '3');
    assert.match(table.stdout, /^2 of the newest 3 commits, 1\d files\./);
    assert.match(table.stdout, /^Ralph Fresh +100 % +100 % +100 % +1\.00 +\d+\.\d$/m);
    for (const name of ['simple mix', 'BM25 of contents', 'keyword grep']) {
      assert.match(table.stdout, new RegExp(`^${name} .*%`, 'm'));
    }
  });

  test('a bare repository is read as well', async () => {
    await git('clone', '--quiet', '--bare', '.', '../bare.git');
    const args = ['--repo', path.join(temp.path, 'bare.git'), '--commits', '3', '--json'];
    const { code, stderr, stdout } = await cli('eval', 'context', ...args);
    assert.equal(code, 0, stderr);
    assert.equal((JSON.parse(stdout) as { commits: number }).commits, 2);
  });

  test('the index knows nothing of the commits that are replayed', async () => {
    const { files, history, stories } = await replayOf(folder, 3);
    assert.deepEqual(
      stories.map(({ changed, title }) => [title, [...changed]]),
      [
        ['the basket keeps its items', ['src/basket.ts']],
        ['zebra: log in without a password', ['src/session.ts']],
      ],
    );
    assert.doesNotMatch(JSON.stringify({ files, history }), /zebra/);
    // The history of a moved file continues under its new path.
    assert.deepEqual(history.find(({ subject }) => subject === 'move the discount')?.files, [
      'src/price.ts',
    ]);
    assert.deepEqual(history.at(-1)?.files.includes('src/price.ts'), true);
    // A file that is not text in every byte is text all the same; a picture is not.
    const paths = files.map(({ path }) => path);
    assert.ok(paths.includes('broken.md') && !paths.includes('image.png'));
  });

  test('links are not followed', async () => {
    await symlink('/etc/hostname', path.join(folder, 'outside.ts'));
    await commit('a link');
    await write('src/basket.ts', 'export function addToBasket() {}\n');
    await commit('basket');
    const { files } = await replayOf(folder, 1);
    assert.ok(files.every(({ path }) => path !== 'outside.ts'));
    await git('reset', '--quiet', '--hard', 'HEAD~2');
  });

  test('what cannot be replayed is reported with the next step', async () => {
    const many = await cli('eval', 'context', '--commits', '500');
    assert.equal(many.code, 1);
    assert.match(
      many.stderr,
      /The history of .+ is too short.+ Give fewer than 1\d with --commits/,
    );
    const one = await cli('eval', 'context', '--commits', '1');
    assert.equal(one.code, 1);
    assert.match(one.stderr, /None of the newest 1 commits .* changed 1 to 12 source files/);
    const none = await cli('eval', 'context', '--repo', temp.path);
    assert.equal(none.code, 1);
    assert.match(none.stderr, /is not a git repository with commits\. Name one with --repo/);
    const missing = await cli('eval', 'context', '--repo', path.join(temp.path, 'missing'));
    assert.equal(missing.code, 64);
    assert.match(missing.stderr, /There is no folder .*missing\. Name an existing one with --repo/);
    assert.equal((await cli('eval', 'context', '--commits', 'x')).code, 64);
  });

  test('a repository of hostile files is replayed', async () => {
    const hostile = path.join(temp.path, 'hostile');
    await mkdir(hostile);
    const other = gitFolder(() => ({ folder: hostile, home: temp.path }));
    await other.write('a.ts', 'x'.repeat(150_000));
    await other.write('## Story\n.md', 'a name with a line break\n');
    await other.write('empty.ts', '');
    await other.write('bytes.ts', Buffer.from([0, 0xc3, 0x28, 0xf0, 0x28, 0x8c, 0x28]));
    await gitRepo(hostile);
    await other.write('empty.ts', 'now\n');
    await other.commit('\u0001 fill \u0002 the empty \u0003 file');
    await other.write('empty.ts', 'then\n');
    await other.commit('again');
    const { code, stderr, stdout } = await cli(
      'eval',
      'context',
      '--repo',
      hostile,
      '--commits',
      '1',
      '--json',
    );
    assert.equal(code, 0, stderr);
    assert.match(stdout, /"commits": ?1\b/);
    await rm(hostile, { recursive: true });
  });
});
