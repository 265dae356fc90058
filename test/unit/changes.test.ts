import assert from 'node:assert/strict';
import { mkdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { HumanError } from '../../src/base/humanError.ts';
import { changesBetween, changesOf, fileVersion } from '../../src/orchestrator/git/changes.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { gitFolder } from '../support/gitFolder.ts';

const LINES = Array.from({ length: 40 }, (_, i) => `line ${i}`);

describe('the combined changes of commits', () => {
  let temp: TempDir;
  let folder: string;

  beforeEach(async () => {
    temp = await tempDir('changes-');
    folder = path.join(temp.path, 'my projeçt');
    await mkdir(folder);
    await write('a.txt', LINES.join('\n'));
    await write('old.txt', LINES.join('\r\n'));
    await write('gone.txt', 'gone\n');
    await gitRepo(folder);
  });
  afterEach(() => temp.remove());

  const { git, write, commit } = gitFolder(() => ({ folder, home: temp.path }));

  /** `before > after` of each file, by path. */
  async function files(...hashes: readonly string[]): Promise<string[]> {
    const { files } = await changesOf(folder, hashes);
    return files.map(({ after, before }) => `${before?.path ?? '-'} > ${after?.path ?? '-'}`);
  }

  async function text(version: { commit: string; path: string } | undefined): Promise<string> {
    assert.ok(version);
    return (await fileVersion(folder, version)).toString();
  }

  test('two diverged commits are compared file by file', async () => {
    const base = await commit();
    await write('a.txt', 'landed\n');
    const onto = await commit();
    await git('checkout', '--quiet', '-b', 'other', base);
    await write('b.txt', 'not landed\n');
    const other = await commit();
    const { files: found, missing } = await changesBetween(folder, onto, other);
    assert.deepEqual(missing, []);
    assert.deepEqual(
      found.map(({ after, before }) => `${before?.path ?? '-'} > ${after?.path ?? '-'}`),
      ['a.txt > a.txt', '- > b.txt'],
    );
    const gone = 'f'.repeat(40);
    assert.deepEqual(await changesBetween(folder, onto, gone), { files: [], missing: [gone] });
    assert.deepEqual((await changesBetween(folder, '--output=x', other)).missing, ['--output=x']);
  });

  test('one commit: added, deleted, renamed, binary, and names of any kind', async () => {
    await write('a.txt', [...LINES, 'more'].join('\n'));
    await rename(path.join(folder, 'old.txt'), path.join(folder, 'new.txt'));
    await rm(path.join(folder, 'gone.txt'));
    await write('pixel.png', Buffer.from([0x89, 0x50, 0, 1, 2]));
    await write('$(alert) [x](command:y) <b>ü: "q".txt', 'x\n');
    const hash = await commit();
    const { commits, files: found, missing } = await changesOf(folder, [hash]);
    assert.deepEqual([commits, missing], [[hash], []]);
    assert.deepEqual(await files(hash), [
      '- > $(alert) [x](command:y) <b>ü: "q".txt',
      'a.txt > a.txt',
      'gone.txt > -',
      'old.txt > new.txt',
      '- > pixel.png',
    ]);
    assert.equal(await text(found[2]?.before), 'gone\n');
    assert.equal(await text(found[0]?.after), 'x\n');
    assert.deepEqual(
      await fileVersion(folder, { commit: hash, path: 'pixel.png' }),
      Buffer.from([0x89, 0x50, 0, 1, 2]),
    );
  });

  test('the first commit is compared with nothing, a merge with its first parent', async () => {
    const first = await git('rev-parse', 'HEAD');
    assert.deepEqual(await files(first), ['- > a.txt', '- > gone.txt', '- > old.txt']);
    await git('switch', '--quiet', '--create', 'side');
    await write('side.txt', 'side');
    await commit();
    await git('switch', '--quiet', 'main');
    await write('main.txt', 'main');
    await commit();
    await git('merge', '--quiet', '--no-edit', 'side');
    assert.deepEqual(await files(await git('rev-parse', 'HEAD')), ['- > side.txt']);
  });

  test('consecutive commits are one change without files that came and went', async () => {
    await write('new.txt', 'new');
    await write('a.txt', 'one');
    const one = await commit();
    await rm(path.join(folder, 'new.txt'));
    await write('a.txt', 'two');
    const two = await commit();
    assert.deepEqual(await files(one, two), ['a.txt > a.txt']);
    const [a] = (await changesOf(folder, [one, two])).files;
    assert.equal(await text(a?.before), LINES.join('\n'));
    assert.equal(await text(a?.after), 'two');
  });

  test('other commits in between are omitted, with their files', async () => {
    await write('a.txt', 'one');
    await write('new.txt', 'new');
    await write('passing.txt', 'passing');
    const one = await commit();
    await write('foreign.txt', 'foreign');
    await write('gone.txt', 'still here');
    await commit();
    await rename(path.join(folder, 'new.txt'), path.join(folder, 'newer.txt'));
    await rm(path.join(folder, 'passing.txt'));
    await write('a.txt', 'two');
    const two = await commit();
    assert.deepEqual(await files(one, two), ['a.txt > a.txt', '- > newer.txt']);
    const { files: found } = await changesOf(folder, [one, two]);
    assert.equal(await text(found[0]?.before), LINES.join('\n'));
    assert.equal(await text(found[0]?.after), 'two');
  });

  test('two files that swap names, and one that is moved back', async () => {
    await write('b.txt', LINES.map(line => `${line} b`).join('\n'));
    await commit();
    await rm(path.join(folder, 'gone.txt'));
    const one = await commit();
    await write('x.txt', 'between');
    await commit();
    const at = (name: string) => path.join(folder, name);
    await rename(at('a.txt'), at('c.txt'));
    await rename(at('b.txt'), at('a.txt'));
    await rename(at('c.txt'), at('b.txt'));
    await write('gone.txt', 'back\n');
    const two = await commit();
    assert.deepEqual(await files(one, two), [
      'a.txt > a.txt',
      'b.txt > b.txt',
      'gone.txt > gone.txt',
    ]);
  });

  test('missing commits are named, and the others count', async () => {
    await write('a.txt', 'one');
    const one = await commit();
    const {
      commits,
      files: found,
      missing,
    } = await changesOf(folder, ['f'.repeat(40), one, '--all', one]);
    assert.deepEqual(commits, [one]);
    assert.deepEqual(missing, ['f'.repeat(40), '--all']);
    assert.equal(found.length, 1);
    assert.deepEqual(await changesOf(folder, []), { commits: [], missing: [], files: [] });
  });

  test('a submodule is shown as a line of text, and a subfolder works like the root', async () => {
    const other = path.join(temp.path, 'other');
    await gitRepo(other);
    await git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', other, 'lib/sub');
    await write('packages/a/x.txt', 'x');
    const hash = await commit();
    folder = path.join(folder, 'packages', 'a');
    assert.deepEqual(await files(hash), ['- > .gitmodules', '- > lib/sub', '- > packages/a/x.txt']);
    const { files: found } = await changesOf(folder, [hash]);
    assert.match(await text(found[1]?.after), /^Subproject commit [0-9a-f]{40}\n$/);
    assert.equal(await text(found[2]?.after), 'x');
  });

  test('an error is reported outside a repository', async () => {
    folder = path.join(temp.path, 'elsewhere');
    await mkdir(folder);
    await assert.rejects(changesOf(folder, ['f'.repeat(40)]), HumanError);
  });
});
