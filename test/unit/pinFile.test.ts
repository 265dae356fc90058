import assert from 'node:assert/strict';
import { lstat, mkdir, readFile, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, type TestContext, test } from 'node:test';
import { writePin } from '../../src/orchestrator/context/pin/pinFile.ts';
import { pinPathIn } from '../../src/orchestrator/context/pin/pinPlace.ts';
import { readProjectCode } from '../../src/orchestrator/context/pin/projectCode.ts';
import { runGit } from '../../src/orchestrator/git/runGit.ts';
import { gitRepo, tempDir } from '../support/cleanEnv.ts';

const PIN = 'specs/INDEX.md';

async function project(t: TestContext, files: readonly string[]): Promise<string> {
  const root = await tempDir('ralph-fresh-pin-');
  t.after(() => root.remove());
  const dir = path.join(root.path, 'project');
  for (const file of files) {
    await mkdir(path.join(dir, path.dirname(file)), { recursive: true });
    await writeFile(path.join(dir, file), `export function ${path.basename(file, '.ts')}() {}\n`);
  }
  await gitRepo(dir);
  await runGit(dir, 'add', '--all');
  await runGit(dir, '-c', 'user.name=A', '-c', 'user.email=a@b', 'commit', '-qm', 'Add them');
  return dir;
}

describe('writing a Pin', () => {
  test('two at once: the second one sees what the first one wrote', async t => {
    const dir = await project(t, ['src/a/one.ts', 'src/a/two.ts']);
    const code = await readProjectCode(dir);
    const said = new Map([['src/a', { about: 'Counts.' }]]);
    await Promise.all([writePin(dir, code, said), writePin(dir, code), writePin(dir, code)]);
    const text = await readFile(path.join(dir, PIN), 'utf8');
    assert.match(text, /\nKeywords \(generated\): /);
    assert.equal(text.match(/^## src\/a$/gm)?.length, 1);
    await writeFile(path.join(dir, PIN), '## Mine\nFiles: src/a/\n');
    await Promise.all([writePin(dir, code), writePin(dir, code)]);
    const own = await readFile(path.join(dir, PIN), 'utf8');
    assert.match(own, /^## Mine\nFiles: src\/a\/\nKeywords \(generated\): [^\n]+\nFiles [^\n]+\n$/);
  });

  test('a project within a repository has its own paths', async t => {
    const dir = await project(t, ['app/src/a/one.ts', 'app/src/a/two.ts', 'other/b/three.ts']);
    const app = path.join(dir, 'app');
    const { entries, file } = await writePin(app, await readProjectCode(app));
    assert.equal(file, path.join(app, PIN));
    assert.deepEqual(
      entries.map(({ files, title }) => [title, files.map(one => one.path)]),
      [['src/a', ['src/a/one.ts', 'src/a/two.ts']]],
    );
  });

  test('the Pin can be in .ralph, and a link within the repository stays one', async t => {
    const dir = await project(t, ['src/a/one.ts', 'src/a/two.ts']);
    assert.equal(pinPathIn(dir), undefined);
    await mkdir(path.join(dir, '.ralph', 'specs'), { recursive: true });
    await writeFile(path.join(dir, 'index.md'), '# Index\n');
    await symlink('../../index.md', path.join(dir, '.ralph', PIN));
    const { file } = await writePin(dir, await readProjectCode(dir));
    assert.equal(file, path.join(dir, '.ralph', PIN));
    assert.ok((await lstat(file)).isSymbolicLink());
    assert.match(await readFile(path.join(dir, 'index.md'), 'utf8'), /^# Index\n\n## src\/a\n/);
  });
});
