import assert from 'node:assert/strict';
import { mkdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { openStories, type Step, Workspace } from '../support/ralph.ts';

/** A file that is none of the repository's. */
async function secret(workspace: Workspace, text: string): Promise<string> {
  const file = path.join(workspace.notesDir, 'secret');
  await writeFile(file, text);
  return file;
}

const place = (workspace: Workspace, name: string) => path.join(workspace.folder, name);

describe('links that lead out of the repository', { concurrency: 3 }, () => {
  test('a template is refused with its name and target', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const file = await secret(workspace, 'the secret');
    await symlink(file, place(workspace, '.omc/prompt.md'));
    const { code, stderr } = await workspace.script([['work']]).finished;
    assert.equal(code, 1);
    assert.match(stderr, /prompt\.md is a link out of the repository, to .*secret/);
    assert.match(stderr, /"outsideLinks": \[".*secret"\] in your own .*config\.json/);
    assert.deepEqual(await workspace.agents(), []);
  });

  test('no prompt contains the content of a linked progress log', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const file = await secret(workspace, '## Codebase Patterns\n\n- the secret\n');
    await symlink(file, place(workspace, '.omc/progress.txt'));
    const refused =
      /told nothing of the progress log: .*progress\.txt is a link out of the repository/;
    const dry = await workspace.script([['work']], '--dry-run').finished;
    assert.match(dry.stdout, refused);
    const doctor = await workspace.cli('doctor', '--only', 'progress').finished;
    assert.match(doctor.stdout, refused);
    const { stdout } = await workspace.script([['work']]).finished;
    assert.match(stdout, refused);
    assert.doesNotMatch(await workspace.prompt(1), /the secret/);
    const warning = (await workspace.events('warning')).find(
      ({ code }) => code === 'progressUnreadable',
    );
    assert.match(englishOf(warning?.detail ?? ''), /progress\.txt is a link out of the repository/);
    assert.doesNotMatch(stdout, /cannot be kept short/);
  });

  test('that the progress log cannot be read is said once, and again only if it could be read since', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(5) });
    const log = place(workspace, '.omc/progress.txt');
    const file = await secret(workspace, 'the secret');
    const link: Step = { shell: `ln -sf '${file}' .omc/progress.txt` };
    const unlink: Step = { shell: 'rm .omc/progress.txt' };
    await symlink(file, log);
    const calls = [['work'], ['work', unlink], ['work', link], ['work'], ['work']] as Step[][];
    const { code, stderr } = await workspace.script(calls).finished;
    assert.equal(code, 0, stderr);
    assert.equal((await workspace.events('iteration.ended')).length, 5);
    const warnings = await workspace.events('warning');
    assert.equal(warnings.filter(({ code: what }) => what === 'progressUnreadable').length, 2);
  });

  test('a tick does not write through one unless a person allows it', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    const prd = await workspace.read('.omc/prd.json');
    const file = await secret(workspace, prd);
    await rm(place(workspace, '.omc/prd.json'));
    await symlink(file, place(workspace, '.omc/prd.json'));
    for (const args of [['tick', 'US-001'], ['run']]) {
      const { code, stderr } = await workspace.cli(...args).finished;
      assert.equal(code, 1, args[0]);
      // Once, and without a line: the file was not read.
      assert.match(stderr, /^ralph-fresh: \S+prd\.json is a link out of the repository/);
    }
    const doctor = await workspace.cli('doctor', '--only', 'stories').finished;
    assert.match(doctor.stdout, /^✗ \S+prd\.json is a link out of the repository/m);
    assert.equal(await readFile(file, 'utf8'), prd);
    await mkdir(place(workspace, '.omc'), { recursive: true });
    await workspace.write('.omc/config.json', JSON.stringify({ outsideLinks: [file] }));
    const shared = await workspace.script([['work']]).finished;
    assert.match(shared.stderr, /is not taken from a workspace/);
    await rm(place(workspace, '.omc/config.json'));
    const own = path.join(workspace.env['HOME'] ?? '', '.config', 'ralph-fresh');
    await mkdir(own, { recursive: true });
    await writeFile(path.join(own, 'config.json'), JSON.stringify({ outsideLinks: [file] }));
    const allowed = await workspace.cli('tick', 'US-001').finished;
    assert.equal(allowed.code, 0, allowed.stderr);
    assert.notEqual(await readFile(file, 'utf8'), prd);
  });

  test('a linked parent folder is refused, even into another repository', async t => {
    const workspace = await Workspace.create(t, { stories: undefined });
    const other = await Workspace.create(t, { stories: openStories(1) });
    await rm(place(workspace, '.omc'), { recursive: true, force: true });
    await symlink(other.folder, place(workspace, 'tasks'));
    await writeFile(path.join(other.folder, 'prd.json'), await other.read('.omc/prd.json'));
    const { code, stderr } = await workspace.cli('tick', 'US-001').finished;
    assert.equal(code, 1);
    assert.match(stderr, /tasks.prd\.json is a link out of the repository/);
  });

  test('links within the repository and a linked workspace are accepted', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await mkdir(place(workspace, 'docs'));
    await writeFile(
      place(workspace, 'docs/progress.txt'),
      '## Codebase Patterns\n\n- use the store\n',
    );
    await symlink('../docs/progress.txt', place(workspace, '.omc/progress.txt'));
    const link = path.join(workspace.notesDir, 'link');
    await symlink(workspace.folder, link);
    const { code, stderr } = await workspace.script([['work']], '--cwd', link).finished;
    assert.equal(code, 0, stderr);
    assert.match(await workspace.prompt(1), /use the store/);
    assert.deepEqual(await workspace.events('warning'), []);
  });

  test('pipes and folders in these places give one clear message and block nothing', async t => {
    const workspace = await Workspace.create(t, { stories: openStories(1) });
    await mkdir(place(workspace, '.omc/progress.txt'));
    await workspace.script([['work']]).finished;
    const [warning] = await workspace.events('warning');
    assert.match(englishOf(warning?.detail ?? ''), /progress\.txt is not a file/);
  });
});
