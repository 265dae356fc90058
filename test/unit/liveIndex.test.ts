import assert from 'node:assert/strict';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { codePointers } from '../../src/orchestrator/context/codePointers.ts';
import { LiveIndex } from '../../src/orchestrator/context/liveIndex.ts';
import { type PastUse, trustOf } from '../../src/orchestrator/context/pastUses.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

const query = (dir: string, commit: string, title: string) => ({
  ...{ dir, commit, title, text: '' },
  ...{ pinned: [], barred: [] },
});

describe('an index that follows the commits', () => {
  test('is the same as one that is built at the last commit', async t => {
    await using temp = await tempDir('live-index-');
    const folder = path.join(temp.path, 'project');
    const { commit, git, write } = gitFolder(() => ({ folder, home: temp.path }));
    await mkdir(folder);
    for (let i = 0; i < 30; i++) {
      await write(
        `src/part${i % 5}/file${i}.ts`,
        `export function word${i}(other${i}: string) {}\n`,
      );
    }
    await gitRepo(folder);
    const file = path.join(temp.path, 'index.bin');
    const live = new LiveIndex(file);
    const ask = async (index: LiveIndex, at: string, title: string) =>
      codePointers(await index.at(folder, at), query(folder, at, title), [], '');
    await ask(live, await git('rev-parse', 'HEAD'), 'word1');
    for (let step = 0; step < 6; step++) {
      // Words that are new, that move to another file, and that are gone.
      await write(
        `src/part0/file10.ts`,
        `export function word11(changed${step}: Word${step}) {}\n`,
      );
      await write(`src/part1/file11.ts`, `const word10 = 'changed${step - 1}';\n`);
      const changed = await commit(`refactor: word11 step ${step}`);
      for (const title of ['word10', `changed${step}`, `changed${step - 1} in file11`, 'word11']) {
        const followed = await ask(live, changed, title);
        assert.deepEqual(followed, await ask(new LiveIndex(undefined), changed, title));
      }
      await write(`src/part1/new${step}.ts`, `export class Added${step} { word${step}() {} }\n`);
      await rename(
        path.join(folder, `src/part${step % 5}/file${step}.ts`),
        path.join(folder, `src/part2/moved${step}.ts`),
      );
      const head = await commit(`fix(part${step}): the word${step} of others`);
      for (const title of [`fix word${step}`, 'the class that was added', `part${step}: moved`]) {
        const followed = await ask(live, head, title);
        assert.deepEqual(followed, await ask(new LiveIndex(undefined), head, title));
        assert.deepEqual(followed, await ask(new LiveIndex(file), head, title), 'from its file');
      }
    }
    // Back to an earlier commit, and to a history that was written anew.
    const earlier = await git('rev-parse', 'HEAD~3');
    assert.deepEqual(
      await ask(live, earlier, 'fix word2'),
      await ask(new LiveIndex(undefined), earlier, 'fix word2'),
    );
    await git('reset', '--quiet', '--soft', 'HEAD~4');
    const rewritten = await commit('all at once');
    assert.deepEqual(
      await ask(live, rewritten, 'fix word2'),
      await ask(new LiveIndex(undefined), rewritten, 'fix word2'),
    );
    t.diagnostic(`${(await live.at(folder, rewritten)).paths.length} files`);
  });

  test('is the same whatever a commit does to a file, and whatever is not committed', async () => {
    await using temp = await tempDir('live-index-changes-');
    const folder = path.join(temp.path, 'project');
    const { commit, git, head, write } = gitFolder(() => ({ folder, home: temp.path }));
    await mkdir(folder);
    for (const name of ['one', 'two', 'three']) {
      await write(`app/${name}.ts`, `export function ${name}() {}\n`);
    }
    await write('made.ts', 'export const made = 1;\n');
    await gitRepo(folder);
    // As a person may have it: then git names paths of the folder only.
    await git('config', 'diff.relative', 'true');
    const dir = path.join(folder, 'app');
    const live = new LiveIndex(undefined);
    const follow = async (what: string): Promise<void> => {
      const at = await head();
      const [followed, anew] = [
        await live.at(dir, at, [], 'app/'),
        await new LiveIndex(undefined).at(folder, at),
      ];
      assert.deepEqual(followed.paths, anew.paths, what);
      assert.deepEqual(followed.blobs, anew.blobs, what);
      assert.deepEqual(followed.past.commits, anew.past.commits, what);
      assert.deepEqual(
        followed.content.scores(['made', 'one', 'other', 'new']),
        anew.content.scores(['made', 'one', 'other', 'new']),
        what,
      );
    };
    const isLinkPossible = process.platform !== 'win32';
    const file = (name: string) => path.join(folder, name);
    const steps: Readonly<Record<string, () => Promise<unknown>>> = {
      'nothing happened': async () => undefined,
      'a new content': () => write('app/one.ts', 'export const other = 1;\n'),
      'a content outside of the folder': () => write('made.ts', 'export const other = 2;\n'),
      'a generated file': () => write('app/two.ts', '// @generated\nexport const one = 1;\n'),
      'a written file again': () => write('app/two.ts', 'export const other = 3;\n'),
      'a file that is too large': () => write('app/two.ts', 'new one\n'.repeat(30_000)),
      'no file': () => rm(file('app/two.ts')),
      'the file again': () => write('app/two.ts', 'export const other = 4;\n'),
      'another path': () => rename(file('app/two.ts'), file('app/four.ts')),
      // As bytes, the second name is the later one; as characters of JavaScript, the first one is.
      'names in the order of their bytes': () =>
        Promise.all(
          ['～', '😀'].map(name => write(`app/${name}.ts`, `export const ${name} = 1;\n`)),
        ),
      'paths that are swapped': async () => {
        for (const [from, to] of [
          ['four', 'five'],
          ['～', 'four'],
          ['five', '～'],
        ]) {
          await rename(file(`app/${from}.ts`), file(`app/${to}.ts`));
          await commit(`${from} is ${to} now`);
        }
        await write('made.ts', 'export const made = 2;\n');
      },
      'a folder in place of a file': async () => {
        await rm(file('app/four.ts'));
        await write('app/four.ts/new.ts', 'export const new = 1;\n');
        await write('app/four.ts-new.ts', 'new\n');
      },
      'an image': () => write('app/image.png', 'new'),
      ...(isLinkPossible && {
        'a program': () => chmod(file('app/one.ts'), 0o755),
        'a link': async () => {
          await rm(file('app/one.ts'));
          await symlink('three.ts', file('app/one.ts'));
        },
        'another link': async () => {
          await rm(file('app/one.ts'));
          await symlink('two.ts', file('app/one.ts'));
        },
        'a file in place of a link': async () => {
          await rm(file('app/one.ts'));
          await write('app/one.ts', 'export const one = 2;\n');
        },
        'quotes in a name': () => write('app/the "new".ts', 'export const one = 1;\n'),
        'a new content in quotes': () => write('app/the "new".ts', 'export const made = 1;\n'),
      }),
      'what no keyboard has\n\nends the message\u0003': () => write('made.ts', 'const one = 1;\n'),
      'what no keyboard has\n\n\u0001<\u0002 begins it': () => write('made.ts', 'const new = 1;\n'),
    };
    await follow('at the start');
    for (const [what, step] of Object.entries(steps)) {
      await step();
      await commit(what);
      await write('app/three.ts', `export const notCommitted = '${what}';\n`);
      await follow(what);
      await git('checkout', '--', '.');
    }
  });

  test('is the same when a shallow clone gets the rest of its history', async () => {
    await using temp = await tempDir('live-index-shallow-');
    const origin = path.join(temp.path, 'origin');
    const { commit, write } = gitFolder(() => ({ folder: origin, home: temp.path }));
    await mkdir(origin);
    await write('one.ts', 'export function one() {}\n');
    await gitRepo(origin);
    for (const word of ['two', 'three']) {
      await write(`${word}.ts`, `export function ${word}() {}\n`);
      await commit(`feat: ${word}`);
    }
    const folder = path.join(temp.path, 'clone');
    const clone = gitFolder(() => ({ folder, home: temp.path }));
    await mkdir(folder);
    await clone.git('clone', '--quiet', '--depth=1', pathToFileURL(origin).href, '.');
    const at = await clone.head();
    const file = path.join(temp.path, 'index.bin');
    const live = new LiveIndex(file);
    for (const [more, commits] of [
      ['--depth=1', 1],
      ['--deepen=1', 2],
      ['--unshallow', 3],
    ] as const) {
      await clone.git('fetch', '--quiet', more);
      const anew = await new LiveIndex(undefined).at(folder, at);
      assert.equal(anew.past.commits.length, commits);
      for (const index of [live, new LiveIndex(file)]) {
        assert.deepEqual((await index.at(folder, at)).past.commits, anew.past.commits, more);
      }
    }
    assert.equal(await live.at(folder, at), await live.at(folder, at), 'now it is kept');
  });

  test('is made anew if its file is damaged', async () => {
    await using temp = await tempDir('live-index-damaged-');
    const { folder, head } = await oneFile(temp);
    const file = path.join(temp.path, 'index.bin');
    await new LiveIndex(file).at(folder, await head());
    const whole = await readFile(file, 'latin1');
    // The first four bytes are a length.
    for (const damaged of [
      '',
      whole.replace('"subject"', '"subjekt"'),
      whole.replace('"commits":[', '"commits":5,"":['),
      whole.slice(0, -1),
      '\0\0',
      '\0'.repeat(100),
      '\xff'.repeat(100),
      '\x10\0\0\0\0\0\0\0{',
    ]) {
      await writeFile(file, damaged, 'latin1');
      const { past, paths } = await new LiveIndex(file).at(folder, await head());
      assert.deepEqual(paths, ['src/one.ts'], JSON.stringify(damaged));
      assert.equal(past.commits.length, 1);
    }
  });

  test('is there also if it cannot be stored', async () => {
    await using temp = await tempDir('live-index-not-stored-');
    const { folder, head } = await oneFile(temp);
    // A folder in its place fails for every user, as a full disk would.
    const file = path.join(temp.path, 'index.bin');
    await mkdir(file);
    const { paths } = await new LiveIndex(file).at(folder, await head());
    assert.deepEqual(paths, ['src/one.ts']);
  });

  test('is the same also behind merges, and when they are taken back', async () => {
    await using temp = await tempDir('live-index-merges-');
    const folder = path.join(temp.path, 'project');
    const { commit, git, head, write } = gitFolder(() => ({ folder, home: temp.path }));
    await mkdir(folder);
    for (let i = 0; i < 12; i++) {
      await write(`src/part${i % 3}/file${i}.ts`, `export function word${i}() {}\n`);
    }
    await gitRepo(folder);
    const file = path.join(temp.path, 'index.bin');
    const live = new LiveIndex(file);
    const check = async (at: string, what: string) => {
      const fresh = new LiveIndex(undefined);
      for (const index of [live, new LiveIndex(file)]) {
        for (const title of ['word1 of the side', 'the word2 here', 'file3 and file4']) {
          const [followed, anew] = await Promise.all(
            [index, fresh].map(async one =>
              codePointers(await one.at(folder, at), query(folder, at, title), [], ''),
            ),
          );
          assert.deepEqual(followed, anew, `${what}: ${title}`);
        }
      }
    };
    const main = await git('branch', '--show-current');
    await check(await head(), 'at the start');
    for (let step = 0; step < 3; step++) {
      await git('switch', '--quiet', '--create', `side${step}`);
      for (const i of [1, 2, 3]) {
        await write(`src/part${i % 3}/file${i + step}.ts`, `export const side${step}${i} = 1;\n`);
        await write(`src/side/new${step}.ts`, `export const word${i}${step} = ${i};\n`);
        await commit(`the side: word${i} and file${i + step}`);
      }
      await git('switch', '--quiet', main);
      for (const i of [4, 5]) {
        await write(`src/part${i % 3}/file${i}.ts`, `export const here${step}${i} = 1;\n`);
        await commit(`word${i - 2} here, and file${i}`);
        await check(await head(), `before the merge of side ${step}`);
      }
      await git('merge', '--quiet', '--no-ff', '--no-edit', `side${step}`);
      await check(await head(), `merge of side ${step}`);
      await check(await git('rev-parse', 'HEAD^2'), `the side ${step} alone`);
      await check(await git('rev-parse', 'HEAD^1'), `without the side ${step}`);
      await check(await head(), `merge of side ${step}, again`);
      await write(`src/part0/file6.ts`, `export const behind${step} = 1;\n`);
      await check(await commit(`behind merge ${step}: file3`), `behind the merge of side ${step}`);
    }
  });
});

describe('what was used before', () => {
  const use = (given: string[], used: string[]): PastUse => ({ time: 0, title: '', given, used });

  test('a file that was suggested and never used counts less and less, but never zero', () => {
    let before = 1;
    for (let times = 1; times < 12; times++) {
      const trust = trustOf(Array.from({ length: times }, () => use(['a'], ['b']))).get('a') ?? 1;
      assert.ok(trust <= before && trust >= 0.5);
      before = trust;
    }
    assert.equal(before, 0.5);
  });

  test('uses restore its weight, newer ones more than older ones', () => {
    const missed = Array.from({ length: 20 }, () => use(['a'], []));
    const hit = Array.from({ length: 20 }, () => use(['a'], ['a']));
    const lately = trustOf([...missed, ...hit]).get('a') ?? 0;
    const before = trustOf([...hit, ...missed]).get('a') ?? 0;
    assert.ok(lately > before);
    assert.equal(trustOf(hit).get('a'), 1);
    assert.equal(trustOf(hit).get('never given'), undefined);
  });
});

/** A repository whose one commit has one file of code. */
async function oneFile(temp: TempDir) {
  const folder = path.join(temp.path, 'project');
  const { head, write } = gitFolder(() => ({ folder, home: temp.path }));
  await mkdir(folder);
  await write('src/one.ts', 'export function word() {}\n');
  await gitRepo(folder);
  return { folder, head };
}
