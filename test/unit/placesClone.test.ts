import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { problemWithPlaces } from '../../src/orchestrator/places/clonePlaces.ts';
import { keepWork } from '../../src/orchestrator/places/keptWork.ts';
import { cleanPlaces, listPlaces } from '../../src/orchestrator/places/placeList.ts';
import { placesFolder } from '../../src/orchestrator/places/placesFolder.ts';
import { textOf, UserOfPlaces, WORK } from '../support/placesOf.ts';

const isWindows = process.platform === 'win32';

describe('the folder of places', () => {
  const at = (env: Record<string, string>, platform: NodeJS.Platform) =>
    placesFolder(env, platform, import.meta.dirname).replace(/[0-9a-f]{12}$/, '*');

  test('is in the cache folder of each system', () => {
    assert.equal(at({ HOME: '/h' }, 'linux'), '/h/.cache/ralph-fresh/places/*');
    const xdg = { HOME: '/h', XDG_CACHE_HOME: '/c' };
    assert.equal(at(xdg, 'linux'), '/c/ralph-fresh/places/*');
    assert.equal(at({ ...xdg, XDG_CACHE_HOME: 'c' }, 'linux'), '/h/.cache/ralph-fresh/places/*');
    assert.equal(at(xdg, 'darwin'), '/h/Library/Caches/ralph-fresh/places/*');
    assert.equal(at({ LOCALAPPDATA: 'C:\\L' }, 'win32'), 'C:\\L\\ralph-fresh\\places\\*');
  });

  test('names the next step if there is none', () => {
    assert.throws(() => at({}, 'linux'), /Set HOME/);
    assert.throws(() => at({}, 'win32'), /Set LOCALAPPDATA/);
  });
});

describe('a place', () => {
  test("has the files of the commit on the branch, and no access to the user's branches", async () => {
    await using user = await UserOfPlaces.make();
    await user.user.git('tag', 'v1');
    const commit = await user.user.head();
    const place = await user.take('lane-2', {}, { branch: 'ralph/work' });
    const agent = user.at(place.root);
    assert.equal(await agent.head(), commit);
    assert.equal(await agent.git('branch', '--show-current'), 'ralph/work');
    assert.equal(await agent.git('status', '--porcelain'), '');
    assert.equal(await agent.git('remote'), '');
    assert.equal(await agent.git('describe', '--tags'), 'v1');
    assert.equal(await agent.read('src/b.txt'), 'b\n');
    assert.equal(place.dir, place.root);
    assert.equal(place.gitDir, path.join(place.root, '.git'));
    assert.deepEqual(await readdir(path.join(place.root, '.git', 'hooks')), []);
    assert.equal((await place.workTree.now()).hasUncommittedChanges, false);
    assert.equal(place.env['RALPH_FRESH_LANE'], '2');
    assert.deepEqual(await user.refs('refs/ralph-fresh/places/abc123/'), { 'lane-2': commit });
  });

  test('is reused with another commit, without the kept files of earlier work', async () => {
    await using user = await UserOfPlaces.make();
    const place = await user.workIn(async (agent, taken) => {
      await agent.write('new.txt', 'new');
      await agent.commit();
      await agent.write('left.txt', 'left');
      await agent.write('a.txt', 'changed');
      assert.equal((await keepWork(taken, user.root, 'refs/x/1')).problem, undefined);
    });
    await user.user.write('c.txt', 'c\n');
    const next = await user.user.commit();
    const again = await user.take();
    assert.equal(again.root, place.root);
    const agent = user.at(again.root);
    assert.equal(await agent.head(), next);
    assert.equal(await agent.git('status', '--porcelain', '--ignored'), '');
    assert.deepEqual((await readdir(again.root)).sort(), ['.git', 'a.txt', 'c.txt', 'src']);
    assert.equal(await agent.read('a.txt'), 'a\n');
    // It was kept before, so it is not kept twice.
    assert.deepEqual(await user.refs(WORK), {});
  });

  test('keeps unsaved work before it is reused', async () => {
    await using user = await UserOfPlaces.make();
    const place = await user.take('lane-1', {}, { story: 'US-001', iteration: 3 });
    const agent = user.at(place.root);
    await agent.write('new.txt', 'new');
    const head = await agent.commit();
    await agent.write('left.txt', 'left');
    await place.dispose();
    await user.take();
    const refs = Object.entries(await user.refs(WORK));
    // With the other work of its story.
    const [, found] = refs.find(([name]) => /^run-1\/US-001\/3-later\/\d+$/.test(name)) ?? [];
    assert.equal(found, head);
    const [, uncommitted = ''] = refs.find(([name]) => name.endsWith('-uncommitted')) ?? [];
    assert.equal((await user.filesOf(uncommitted))['left.txt'], 'left');
  });

  test("starts in the same subfolder with the user's current story file and progress log", async () => {
    await using user = await UserOfPlaces.make({ 'packages/a/.omc/prd.json': '{"old":1}' });
    const workspace = path.join(user.root, 'packages', 'a');
    await user.user.write('packages/a/.omc/prd.json', '{"new":2}\r\n');
    await user.user.write('.gitignore', 'progress.txt\n');
    await user.user.commit();
    await user.user.write('packages/a/.omc/prd.json', Buffer.from([0xef, 0xbb, 0xbf, 0x7b, 0x7d]));
    await user.user.write('packages/a/.omc/progress.txt', 'learned\n');
    const storyFile = path.join(workspace, '.omc', 'prd.json');
    const progressFile = path.join(workspace, '.omc', 'progress.txt');
    const place = await user.take('lane-1', { workspace, storyFile, progressFile });
    assert.equal(place.dir, path.join(place.root, 'packages', 'a'));
    assert.equal(place.storyFile, path.join(place.dir, '.omc', 'prd.json'));
    assert.deepEqual(await readFile(place.storyFile), await readFile(storyFile));
    assert.equal(await textOf(place.dir, '.omc/progress.txt'), 'learned\n');
    // What only we put there is no work of an agent.
    const kept = await keepWork(place, user.root, 'refs/x/1');
    assert.equal(kept.uncommitted, undefined);
    // What the agent ticks and notes there is taken over by meaning.
    await writeFile(place.storyFile, 'changed by the agent');
    await writeFile(path.join(place.dir, '.omc', 'progress.txt'), 'learned\nmore\n');
    assert.equal((await keepWork(place, user.root, 'refs/x/2')).uncommitted, undefined);
    assert.equal((await listPlaces(user.folder))[0]?.unsafe?.key, 'Process {0} works there.');
    await writeFile(path.join(place.dir, 'left.txt'), 'left');
    assert.deepEqual((await keepWork(place, user.root, 'refs/x/3')).files, [
      ...['packages/a/.omc/prd.json', 'packages/a/left.txt'],
    ]);
  });

  test('discards files left by checks, which belong to nobody', async () => {
    await using user = await UserOfPlaces.make();
    for (let time = 0; time < 3; time += 1) {
      const place = await user.take('queue', {}, { isScratch: true });
      const agent = user.at(place.root);
      assert.equal(await agent.git('status', '--porcelain'), '');
      await agent.write('report.txt', `report ${time}\n`);
      await agent.write('a.txt', `fixed by a check ${time}\n`);
      await agent.commit();
      await agent.write('left.txt', 'left\n');
      await place.dispose();
    }
    assert.deepEqual(Object.keys(await user.refs('refs/ralph-fresh/')), ['places/abc123/queue']);
    const [listed] = await listPlaces(user.folder);
    assert.deepEqual([listed?.name, listed?.unsafe], ['queue', undefined]);
    assert.deepEqual(
      (await cleanPlaces(user.folder, user.root)).map(({ kept }) => kept),
      [undefined],
    );
    assert.ok(!existsSync(path.join(user.folder, 'queue')));
  });

  test("has an earlier agent's uncommitted work as uncommitted changes", async () => {
    await using user = await UserOfPlaces.make();
    const commit = await user.user.head();
    const first = await user.workIn(async agent => {
      await agent.write('a.txt', 'changed\n');
      await agent.write('dir/new.txt', 'new\n');
      await agent.git('rm', '--quiet', 'src/b.txt');
    });
    const { uncommitted: changes } = await keepWork(first, user.root, 'refs/x/1');
    const place = await user.take('lane-1', {}, { changes });
    const agent = user.at(place.root);
    assert.equal(await agent.head(), commit);
    assert.equal(
      await agent.git('status', '--porcelain'),
      ['M a.txt', ' D src/b.txt', '?? dir/'].join('\n'),
    );
    // If no agent begins there, they are not kept once more.
    await place.dispose();
    const other = await user.take('lane-1', {}, { changes });
    assert.deepEqual(await user.refs(WORK), {});
    const again = await keepWork(other, user.root, 'refs/x/2');
    assert.deepEqual(await user.filesOf(again.uncommitted ?? ''), {
      ...{ 'a.txt': 'changed', 'dir/new.txt': 'new' },
    });
  });

  test('is the same if a link leads to the cache folder', { skip: isWindows }, async () => {
    await using user = await UserOfPlaces.make({ '.omc/prd.json': '{}' });
    const link = path.join(user.temp.path, 'link');
    await mkdir(user.folder, { recursive: true });
    await symlink(path.dirname(user.folder), link);
    const folder = path.join(link, path.basename(user.folder));
    const storyFile = path.join(user.root, '.omc', 'prd.json');
    await user.user.write('.omc/prd.json', '{"mine":1}');
    await user.user.write('.worktreeinclude', '.env\n');
    await user.user.write('.gitignore', '.env\n');
    await user.user.write('.env', 'secret');
    const place = await user.take('lane-1', { folder, storyFile });
    await place.dispose();
    const [listed] = await listPlaces(folder);
    assert.deepEqual([listed?.path, listed?.unsafe], [place.root, undefined]);
    assert.deepEqual(
      (await cleanPlaces(folder, user.root)).map(({ kept }) => kept),
      [undefined],
    );
  });

  test('has git-ignored files of .worktreeinclude, but none of our state', async () => {
    await using user = await UserOfPlaces.make({
      '.gitignore': '.env*\n.omc/state\nsecret/\nnode_modules\n',
      '.worktreeinclude': '.env\nsecret/*.key\nplain.txt\n.omc\nnode_modules\n',
    });
    const files = ['.env', '.env.local', 'plain.txt', 'secret/a.key', '.omc/state/x.json'];
    for (const file of [...files, 'src/.env', 'node_modules/x.js']) {
      await user.user.write(file, file);
    }
    const place = await user.take();
    const found = await readdir(place.root, { recursive: true });
    assert.deepEqual(found.filter(file => /\.env|plain|secret|state|node_m/.test(file)).sort(), [
      ...['.env', 'secret', path.join('secret', 'a.key'), path.join('src', '.env')],
    ]);
    await place.dispose();
    await user.user.write('.env', 'newer');
    const again = await user.take();
    assert.equal(await textOf(again.root, '.env'), 'newer');
  });

  test("is as sparse as the user's work tree", async () => {
    await using user = await UserOfPlaces.make({ 'docs/c.txt': 'c' });
    await user.user.git('sparse-checkout', 'set', 'src');
    const { root } = await user.workIn(async (agent, place) => {
      assert.deepEqual((await readdir(place.root)).sort(), ['.git', 'a.txt', 'src']);
      assert.equal(await agent.git('status', '--porcelain'), '');
      await agent.write('src/new.txt', 'new');
      const kept = await keepWork(place, user.root, 'refs/x/1');
      assert.deepEqual(kept.files, ['src/new.txt']);
      assert.equal((await user.filesOf(kept.uncommitted ?? ''))['docs/c.txt'], 'c');
    });
    await user.take();
    assert.deepEqual((await readdir(root)).sort(), ['.git', 'a.txt', 'src']);
    assert.deepEqual(await readdir(path.join(root, 'src')), ['b.txt']);
  });

  test("has the user's identity and line endings, but no remotes or hooks", async () => {
    await using user = await UserOfPlaces.make({ '.gitattributes': '*.txt filter=loud\n' });
    await user.user.git('config', 'core.autocrlf', 'true');
    await user.user.git('config', 'filter.loud.smudge', 'tr a-z A-Z # "quoted" \\back');
    await user.user.git('config', 'core.hooksPath', '.husky/_');
    await user.user.git('config', 'remote.origin.url', 'https://example.com/x.git');
    await user.user.git('config', 'credential.helper', 'store');
    const place = await user.take();
    const agent = user.at(place.root);
    assert.equal(await agent.git('config', 'user.email'), 'test@example.com');
    assert.equal(await agent.git('config', 'filter.loud.smudge'), 'tr a-z A-Z # "quoted" \\back');
    assert.equal(await agent.read('a.txt'), isWindows ? 'a\r\n' : 'A\r\n');
    const config = await agent.git('config', '--local', '--list');
    assert.doesNotMatch(config, /hookspath|remote|credential/i);
  });

  test('keeps LFS pointers if Git LFS is configured but not installed', async () => {
    await using user = await UserOfPlaces.make();
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:00\nsize 1\n';
    await user.user.write('big.bin', pointer);
    await user.user.write('.gitattributes', '*.bin filter=lfs diff=lfs merge=lfs -text\n');
    await user.user.commit();
    await user.user.git('config', 'filter.lfs.clean', 'git-lfs-is-not-here clean -- %f');
    await user.user.git('config', 'filter.lfs.process', 'git-lfs-is-not-here filter-process');
    await user.user.git('config', 'filter.lfs.required', 'true');
    const place = await user.take();
    assert.equal(await textOf(place.root, 'big.bin'), pointer);
    assert.equal((await keepWork(place, user.root, 'refs/x/1')).uncommitted, undefined);
  });

  test('can be cloned from a shallow clone and from a linked work tree', async () => {
    await using user = await UserOfPlaces.make();
    await user.user.commit('second');
    const shallow = path.join(user.temp.path, 'shallow');
    const url = `file://${user.root.split(path.sep).join('/')}`;
    await user.user.git('clone', '--quiet', '--depth=1', url, shallow);
    const linked = path.join(user.temp.path, 'linked');
    await user.user.git('worktree', 'add', '--quiet', linked);
    for (const [index, root] of [shallow, linked].entries()) {
      const commit = await user.at(root).head();
      assert.equal(await problemWithPlaces(root, commit), undefined);
      const place = await user.take(`lane-${index}`, { root, workspace: root }, { commit });
      const agent = user.at(place.root);
      await agent.git('config', 'user.name', 'Agent');
      await agent.git('config', 'user.email', 'agent@example.com');
      await agent.write('new.txt', 'new');
      const head = await agent.commit();
      const kept = await keepWork(place, root, 'refs/x/1');
      assert.equal(kept.head, head);
      assert.equal(kept.problem, undefined);
      assert.equal(await user.at(root).git('rev-parse', 'refs/x/1'), head);
    }
  });

  test('is taken four times in parallel, each with its own ports; taking one twice is refused', async () => {
    await using user = await UserOfPlaces.make();
    const names = ['lane-1', 'lane-2', 'lane-3', 'queue'];
    const places = await Promise.all(names.map(name => user.take(name)));
    const ports = places.map(({ env }) => env['RALPH_FRESH_PORT']);
    assert.equal(new Set(ports).size, 4);
    assert.equal(places[3]?.env['RALPH_FRESH_LANE'], '0');
    await assert.rejects(user.take('lane-2'), /Process \d+ works in .*lane-2/);
    assert.deepEqual(await Promise.all(places.map(({ root }) => user.at(root).head())), [
      ...Array<string>(4).fill(await user.user.head()),
    ]);
  });

  test("loses nothing to the user's garbage collection", async () => {
    await using user = await UserOfPlaces.make();
    await user.user.write('lost.txt', 'lost');
    const commit = await user.user.commit();
    const place = await user.take('lane-1', {}, { commit });
    await user.user.git('reset', '--hard', '--quiet', 'HEAD~1');
    await user.user.git('reflog', 'expire', '--expire=now', '--all');
    await user.user.git('gc', '--quiet', '--prune=now');
    assert.equal(await user.at(place.root).git('show', 'HEAD:lost.txt'), 'lost');
  });

  test('an invalid branch or commit gives an error with a reason', async () => {
    await using user = await UserOfPlaces.make();
    await assert.rejects(user.take('lane-1', {}, { branch: 'a..b' }), /a\.\.b/);
    await assert.rejects(user.take('lane-1', {}, { commit: 'ab'.repeat(20) }), /abababab/);
    await assert.rejects(user.take('kept'), /not a name/);
    assert.equal((await user.take()).name, 'lane-1');
  });

  test('a link that leads out of the repository does not get a copy of a file', async () => {
    await using user = await UserOfPlaces.make();
    const outside = path.join(user.temp.path, 'outside');
    await mkdir(outside);
    await symlink(outside, path.join(user.root, '.omc'), 'dir');
    await writeFile(path.join(outside, 'prd.json'), 'mine');
    await user.user.commit();
    const storyFile = path.join(user.root, '.omc', 'prd.json');
    await assert.rejects(user.take('lane-1', { storyFile }), /leads out of the place/);
    assert.equal(await textOf(outside, 'prd.json'), 'mine');
  });
});

describe('what prevents places is reported before a run', () => {
  test('submodules, a partial clone', async () => {
    await using user = await UserOfPlaces.make();
    const before = await user.user.head();
    assert.equal(await problemWithPlaces(user.root, before), undefined);
    await user.user.git('-c', 'protocol.file.allow=always', 'submodule', 'add', '-q', './', 'sub');
    const after = await user.user.commit();
    assert.match((await problemWithPlaces(user.root, after))?.key ?? '', /submodules/);
    assert.equal(await problemWithPlaces(user.root, before), undefined);
    await user.user.git('config', 'remote.origin.promisor', 'true');
    assert.match((await problemWithPlaces(user.root, before))?.key ?? '', /partial clone/);
  });

  test('an outdated git', { skip: isWindows }, async () => {
    await using user = await UserOfPlaces.make();
    const bin = path.join(user.temp.path, 'bin');
    await mkdir(bin);
    await writeFile(path.join(bin, 'git'), '#!/bin/sh\necho git version 2.37.9\n');
    await chmod(path.join(bin, 'git'), 0o755);
    const { PATH } = process.env;
    process.env['PATH'] = `${bin}:${PATH}`;
    try {
      const problem = await problemWithPlaces(user.root, 'HEAD');
      assert.deepEqual(problem?.args, ['2.38', 'git version 2.37.9']);
    } finally {
      process.env['PATH'] = PATH;
    }
  });
});

describe('a place damaged by an agent is recreated', () => {
  const damages: Record<string, (root: string) => Promise<unknown>> = {
    'deleted .git': root => rm(path.join(root, '.git'), { recursive: true }),
    'made .git a dangling link': async root => {
      await rm(path.join(root, '.git'), { recursive: true });
      await symlink('/nowhere', path.join(root, '.git'));
    },
    'made .git a file': async root => {
      await rename(path.join(root, '.git'), path.join(root, 'git'));
      await writeFile(path.join(root, '.git'), 'gitdir: git\n');
    },
    'emptied HEAD': root => writeFile(path.join(root, '.git', 'HEAD'), ''),
    'deleted the objects': root => rm(path.join(root, '.git', 'objects'), { recursive: true }),
  };
  for (const [name, damage] of Object.entries(damages)) {
    test(`${name}: the rest is kept, and the place is set aside`, async () => {
      await using user = await UserOfPlaces.make();
      await user.workIn(async (agent, { root }) => {
        await agent.write('new.txt', 'committed');
        await agent.commit();
        await agent.write('left.txt', 'left');
        await damage(root);
      });
      const again = await user.take();
      assert.equal(await user.at(again.root).git('status', '--porcelain'), '');
      assert.equal((await readdir(path.join(user.folder, 'aside'))).length, 2);
      const refs = Object.entries(await user.refs(WORK));
      const [, commit = ''] = refs.find(([ref]) => ref.endsWith('-uncommitted')) ?? [];
      assert.equal((await user.filesOf(commit))['left.txt'], 'left');
    });
  }

  test('locks, a merge, other branches and a hidden change are gone', async () => {
    await using user = await UserOfPlaces.make();
    const { root } = await user.workIn(async (agent, place) => {
      await agent.git('switch', '--quiet', '--create', 'other');
      await agent.git('update-index', '--assume-unchanged', 'a.txt');
      await agent.write('a.txt', 'hidden');
      await writeFile(path.join(place.root, '.git', 'index.lock'), '');
      await writeFile(path.join(place.root, '.git', 'MERGE_HEAD'), await agent.head());
      await writeFile(path.join(place.root, '.git', 'objects', 'info', 'alternates'), '/nowhere\n');
      await mkdir(path.join(place.root, 'src', 'b.txt.d', '.git'), { recursive: true });
    });
    await user.take();
    const agent = user.at(root);
    assert.equal(await agent.read('a.txt'), 'a\n');
    assert.equal(await agent.git('branch', '--format=%(refname)'), 'refs/heads/main');
    assert.match(await agent.git('status'), /nothing to commit, working tree clean/);
    const [[ref = '', hash = ''] = []] = Object.entries(await user.refs(WORK)).filter(([name]) =>
      name.endsWith('-uncommitted'),
    );
    assert.match(ref, /lane-1\/0-later/);
    assert.equal((await user.filesOf(hash))['a.txt'], 'hidden');
  });

  test('a foreign folder of that name is set aside, not deleted', async () => {
    await using user = await UserOfPlaces.make();
    await mkdir(path.join(user.folder, 'lane-1'), { recursive: true });
    await writeFile(path.join(user.folder, 'lane-1', 'mine.txt'), 'mine');
    await user.take();
    const [name = ''] = (await readdir(path.join(user.folder, 'aside'))).filter(
      entry => !entry.endsWith('.own'),
    );
    assert.equal(await textOf(user.folder, 'aside', name, 'mine.txt'), 'mine');
    assert.ok(existsSync(path.join(user.folder, 'lane-1', 'a.txt')));
  });
});
