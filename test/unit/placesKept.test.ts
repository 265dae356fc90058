import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { chmod, mkdir, readdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import fc from 'fast-check';
import { englishOf } from '../../src/base/say.ts';
import type { ClonePlace } from '../../src/orchestrator/places/clonePlaces.ts';
import { keepWork } from '../../src/orchestrator/places/keptWork.ts';
import { cleanPlaces, listPlaces } from '../../src/orchestrator/places/placeList.ts';
import { cleanEnv } from '../support/cleanEnv.ts';
import type { GitFolder } from '../support/gitFolder.ts';
import { textOf, UserOfPlaces, WORK, writeAll } from '../support/placesOf.ts';

const isWindows = process.platform === 'win32';
const REF = 'refs/ralph-fresh/abc123/run-1/US-001/1';

/** Takes a place, lets an agent work, and keeps what it left. */
async function keep(
  user: UserOfPlaces,
  work: (agent: GitFolder, place: ClonePlace) => Promise<unknown>,
) {
  const place = await user.take('lane-1', {}, { story: 'US-001', iteration: 3 });
  await work(user.at(place.root), place);
  return { place, kept: await keepWork(place, user.root, REF) };
}

describe("an agent's work is kept in the user's repository", () => {
  test('commits and changed, new and deleted files, but not what git ignores', async () => {
    await using user = await UserOfPlaces.make({ '.gitignore': 'out/\nforced.txt\n' });
    let head = '';
    const { kept } = await keep(user, async agent => {
      await agent.write('forced.txt', 'forced');
      await agent.git('add', '--force', 'forced.txt');
      head = await agent.commit('agent');
      await agent.write('a.txt', 'changed\n');
      await agent.write('name with space ü.txt', 'new');
      await agent.write('out/x', 'ignored');
      await agent.git('rm', '--quiet', 'src/b.txt');
      await agent.write('staged.txt', 'staged');
      await agent.git('add', 'staged.txt');
    });
    assert.equal(kept.problem, undefined);
    assert.equal(kept.head, head);
    assert.deepEqual(await user.refs(REF), { '': head, '-uncommitted': kept.uncommitted });
    assert.deepEqual(await user.filesOf(kept.uncommitted ?? ''), {
      '.gitignore': 'out/\nforced.txt',
      ...{ 'a.txt': 'changed', 'forced.txt': 'forced', 'staged.txt': 'staged' },
      'name with space ü.txt': 'new',
    });
    assert.deepEqual([...kept.files].sort(), [
      ...['a.txt', 'name with space ü.txt', 'src/b.txt', 'staged.txt'],
    ]);
    const subject = await user.user.git('log', '-1', '--format=%s %P', kept.uncommitted ?? '');
    assert.equal(subject, `Uncommitted work of US-001 (kept by Ralph Fresh) ${head}`);
  });

  test('an idle agent leaves only its start commit', async () => {
    await using user = await UserOfPlaces.make();
    const { kept } = await keep(user, async () => undefined);
    const head = await user.user.head();
    assert.deepEqual(kept, {
      ...{ head, uncommitted: undefined, files: [], others: [], problem: undefined },
    });
  });

  test('other branches, tags, stashes, a detached HEAD and a rebase', async () => {
    await using user = await UserOfPlaces.make();
    const made: Record<string, string> = {};
    const { kept } = await keep(user, async agent => {
      await agent.git('switch', '--quiet', '--create', 'feature/x');
      await agent.write('x.txt', 'x');
      made['-branches/feature/x'] = await agent.commit();
      await agent.git('switch', '--quiet', '--detach', 'main');
      await agent.write('t.txt', 't');
      await agent.commit();
      await agent.git('tag', 'mine');
      made['-others/tags/mine'] = await agent.head();
      await agent.git('switch', '--quiet', 'main');
      await agent.git('branch', 'same');
      for (const text of ['one', 'two']) {
        await agent.write('a.txt', text);
        await agent.git('stash', '--quiet');
      }
      made['-others/stashes/0'] = await agent.git('rev-parse', 'stash@{1}');
      made['-others/stash'] = await agent.git('rev-parse', 'stash@{0}');
      await agent.git('switch', '--quiet', '--create', 'conflict', 'HEAD');
      await agent.write('x.txt', 'other');
      made['-branches/conflict'] = await agent.commit();
      await agent.git('rebase', 'feature/x').catch(() => undefined);
      assert.match(await agent.git('status'), /rebas/);
      made[''] = await agent.head();
    });
    assert.equal(kept.problem, undefined);
    // HEAD is at the branch on which the rebase goes; so that needs no ref of its own.
    delete made['-branches/feature/x'];
    const { '-uncommitted': uncommitted = '', ...refs } = await user.refs(REF);
    const values = Object.values(refs).sort();
    assert.deepEqual(values, Object.values(made).sort());
    assert.match((await user.filesOf(uncommitted))['x.txt'] ?? '', /<<<<<<</);
  });

  test('a branch without commits: the files are kept on top of the start commit', async () => {
    await using user = await UserOfPlaces.make();
    const { kept } = await keep(user, async agent => {
      await agent.git('switch', '--quiet', '--orphan', 'empty');
      await agent.write('new.txt', 'new');
    });
    assert.equal(kept.problem, undefined);
    assert.equal(kept.head, undefined);
    assert.deepEqual(await user.filesOf(kept.uncommitted ?? ''), { 'new.txt': 'new' });
  });

  test('a replaced repository: its commits are kept, too', async () => {
    await using user = await UserOfPlaces.make();
    let head = '';
    const { kept } = await keep(user, async (agent, { root }) => {
      await rm(path.join(root, '.git'), { recursive: true });
      await agent.git('init', '--quiet', '--initial-branch=main');
      await agent.git('config', 'user.name', 'Agent');
      await agent.git('config', 'user.email', 'agent@example.com');
      await agent.write('new.txt', 'new');
      head = await agent.commit();
    });
    assert.equal(kept.problem, undefined);
    assert.equal(kept.head, head);
    assert.equal((await user.filesOf(head))['new.txt'], 'new');
  });

  test('a nested repository is reported as not kept', async () => {
    await using user = await UserOfPlaces.make();
    const { kept } = await keep(user, async agent => {
      await agent.write('left.txt', 'left');
      await agent.git('init', '--quiet', 'app');
      await agent.write('app/x.txt', 'x');
      const inner = ['-C', 'app', '-c', 'user.name=A', '-c', 'user.email=a@example.com'];
      await agent.git(...inner, 'add', '--all');
      await agent.git(...inner, 'commit', '--quiet', '-m', 'inner');
    });
    assert.match(englishOf(kept.problem ?? ''), /^app in .* is a git repository of its own/);
    assert.equal(await user.user.git('show', `${kept.uncommitted}:left.txt`), 'left');
  });

  test('a corrupt branch does not affect the others', async () => {
    await using user = await UserOfPlaces.make();
    let head = '';
    const { kept } = await keep(user, async (agent, { root }) => {
      await agent.write('new.txt', 'new');
      head = await agent.commit();
      await writeFile(path.join(root, '.git', 'refs', 'heads', 'bad'), `${'ab'.repeat(20)}\n`);
      await writeFile(path.join(root, '.git', 'refs', 'heads', 'ugly'), '\0'.repeat(99));
    });
    assert.equal(kept.head, head);
    assert.match(englishOf(kept.problem ?? ''), /A commit is missing .* refs\/heads\/bad/);
  });

  test('a broken commit: the files are kept on top of the start, and the place is set aside', async () => {
    await using user = await UserOfPlaces.make();
    const { kept, place } = await keep(user, async (agent, { root }) => {
      await agent.write('new.txt', 'new');
      await agent.commit();
      const tree = await agent.git('rev-parse', 'HEAD^{tree}');
      await rm(path.join(root, '.git', 'objects', tree.slice(0, 2), tree.slice(2)));
      await agent.write('a.txt', 'changed');
    });
    assert.equal(kept.head, undefined);
    assert.match(englishOf(kept.problem ?? ''), /git cannot keep/);
    assert.equal((await user.filesOf(kept.uncommitted ?? ''))['new.txt'], 'new');
    await place.dispose();
    const again = await user.take();
    assert.equal(await user.at(again.root).git('status', '--porcelain'), '');
    assert.equal((await listPlaces(user.folder)).length, 2);
  });

  test('the story file behind a link made by the agent', { skip: isWindows }, async () => {
    await using user = await UserOfPlaces.make({ '.omc/prd.json': '{}' });
    const storyFile = path.join(user.root, '.omc', 'prd.json');
    const place = await user.take('lane-1', { storyFile });
    await rename(path.join(place.root, '.omc'), path.join(place.root, 'moved'));
    await symlink('moved', path.join(place.root, '.omc'));
    const kept = await keepWork(place, user.root, REF);
    assert.equal(kept.problem, undefined);
    assert.deepEqual([...kept.files].sort(), ['.omc', '.omc/prd.json', 'moved/prd.json']);
  });

  test('a missing or invalid place is reported without an error', async () => {
    await using user = await UserOfPlaces.make();
    const { kept, place } = await keep(user, (_, { root }) => rm(root, { recursive: true }));
    assert.match(englishOf(kept.problem ?? ''), /is gone/);
    await place.dispose();
    const none = await keepWork({ root: path.join(user.folder, 'no') }, user.root, REF);
    assert.match(englishOf(none.problem ?? ''), /no record/);
    assert.equal((await user.take()).root, place.root);
  });

  test('nothing that the agent configured runs', { skip: isWindows }, async () => {
    await using user = await UserOfPlaces.make();
    const trace = path.join(user.temp.path, 'ran');
    const evil = `sh -c 'touch ${trace}; cat'`;
    const { kept, place } = await keep(user, async (agent, { root }) => {
      const hooks = path.join(root, 'evil-hooks');
      await mkdir(hooks);
      const names = ['post-checkout', 'post-index-change', 'reference-transaction', 'pre-commit'];
      for (const name of [...names, 'fsmonitor', 'post-merge']) {
        await writeFile(path.join(hooks, name), `#!/bin/sh\ntouch ${trace}\n`);
        await chmod(path.join(hooks, name), 0o755);
        await writeFile(path.join(root, '.git', 'hooks', name), `#!/bin/sh\ntouch ${trace}\n`);
        await chmod(path.join(root, '.git', 'hooks', name), 0o755);
      }
      await agent.write('.gitattributes', '*.txt filter=evil diff=evil\n');
      await agent.write('new.txt', 'new');
      await agent.commit();
      await rm(trace, { force: true });
      const config: Record<string, string> = {
        'core.hooksPath': hooks,
        'core.fsmonitor': path.join(hooks, 'fsmonitor'),
        'core.pager': evil,
        'core.alternateRefsCommand': evil,
        'core.sshCommand': evil,
        'filter.evil.clean': evil,
        'filter.evil.smudge': evil,
        'diff.evil.textconv': evil,
        'diff.external': evil,
        'uploadpack.packObjectsHook': evil,
        'extensions.partialClone': 'evil',
        'remote.evil.url': root,
        'remote.evil.promisor': 'true',
        'remote.evil.uploadpack': evil,
        'gpg.program': evil,
      };
      const lines = Object.entries(config).map(([key, value]) => {
        const [section = '', ...rest] = key.split('.');
        const name = rest.pop();
        const sub = rest.length === 0 ? '' : ` "${rest.join('.')}"`;
        return `[${section}${sub}]\n\t${name} = "${value}"\n`;
      });
      await writeFile(path.join(root, '.git', 'config'), lines.join(''), { flag: 'a' });
      await writeFile(path.join(root, 'left.txt'), 'left');
    });
    assert.equal(kept.problem, undefined);
    assert.equal((await user.filesOf(kept.uncommitted ?? ''))['left.txt'], 'left');
    await place.dispose();
    await listPlaces(user.folder);
    const again = await user.take();
    assert.equal(existsSync(trace), false);
    assert.doesNotMatch(await textOf(again.root, '.git', 'config'), /evil/);
    assert.equal(existsSync(path.join(again.root, '.git', 'hooks', 'post-merge')), false);
  });

  test('the kept commit has exactly the files that an agent leaves, whatever they are', async () => {
    await using user = await UserOfPlaces.make();
    const place = await user.take();
    const name = fc.constantFrom('a.txt', 'src', 'src/b.txt', 'src/c', 'd/e/f', 'd/e', 'ü (1)*');
    const step = fc.record({ name, text: fc.constantFrom('', 'a\n', 'x'), drop: fc.boolean() });
    let attempt = 0;
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 6 }), async steps => {
        for (const { drop, name: file, text } of steps) {
          const at = path.join(place.root, file);
          // A file of an earlier step may be where a folder is needed.
          await rm(at, { recursive: true, force: true }).catch(() => undefined);
          if (!drop) {
            await writeAll(place.root, { [file]: text }).catch(() => undefined);
          }
        }
        attempt += 1;
        const kept = await keepWork(place, user.root, `refs/x/${attempt}`);
        assert.equal(kept.problem, undefined);
        const commit = kept.uncommitted ?? kept.head ?? '';
        const names = (await user.user.git('ls-tree', '-r', '-z', '--name-only', commit))
          .split('\0')
          .filter(file => file !== '');
        const there = (await readdir(place.root, { recursive: true, withFileTypes: true }))
          .filter(entry => entry.isFile())
          .map(entry => path.relative(place.root, path.join(entry.parentPath, entry.name)))
          .map(file => file.split(path.sep).join('/'))
          .filter(file => !file.startsWith('.git/'));
        assert.deepEqual(names.sort(), there.sort());
        for (const file of names) {
          const blob = await user.user.git('rev-parse', `${commit}:${file}`);
          const actual = user.at(place.root).git('hash-object', '--', file);
          assert.equal(blob, await actual);
        }
      }),
      { numRuns: 12 },
    );
  });
});

describe('a process killed while taking a place', { skip: isWindows }, () => {
  const room = pathToFileURL(path.resolve(import.meta.dirname, '../../src/orchestrator/places'));
  const PROGRAM = `
const { ClonePlaces } = await import('${room.href}/clonePlaces.ts');
const { options, start } = JSON.parse(process.argv[1]);
const workRef = ({ runId, storyId, iteration }) => '${WORK}' + [runId, storyId, iteration].join('/');
await new ClonePlaces({ ...options, workRef }).take('lane-1', start);
process.exit(7);
`;

  /** A git that kills the process that calls it, at the nth call; before or after it has worked. */
  async function mortalGit(user: UserOfPlaces, nth: number): Promise<string> {
    const bin = path.join(user.temp.path, `bin-${nth}`);
    await mkdir(bin, { recursive: true });
    const counter = path.join(bin, 'calls');
    const script = `#!/bin/bash
PATH=\${PATH#*:}
echo >> ${counter}
if [ "$(wc -l < ${counter})" -ge ${nth} ]; then ${nth % 2 ? 'git "$@" > /dev/null 2>&1;' : ''} kill -9 $PPID; exit 1; fi
exec git "$@"
`;
    await writeFile(path.join(bin, 'git'), script);
    await chmod(path.join(bin, 'git'), 0o755);
    return bin;
  }

  test('at any git call: the next process gets a clean place, and nothing is lost', async () => {
    await using user = await UserOfPlaces.make();
    await user.user.write('c.txt', 'c\n');
    const commit = await user.user.commit();
    let killed = 0;
    for (let nth = 1; ; nth += 3) {
      const work = `work ${nth}`;
      let head = '';
      await user.workIn(async agent => {
        await agent.write('new.txt', work);
        head = await agent.commit();
        await agent.write('left.txt', work);
      });
      const { folder, root } = user;
      const env = cleanEnv({ home: user.temp.path });
      const bin = await mortalGit(user, nth);
      const child = spawn(
        process.execPath,
        [
          ...['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', PROGRAM],
          '--',
          JSON.stringify({
            options: { workspace: root, root, folder, runId: 'run-1', env },
            start: { commit, branch: 'main' },
          }),
        ],
        { env: { ...env, PATH: `${bin}:${env['PATH']}` }, stdio: 'inherit' },
      );
      const [code, signal] = await once(child, 'exit');
      const place = await user.take('lane-1', {}, { commit });
      const agent = user.at(place.root);
      assert.equal(await agent.git('status', '--porcelain', '--ignored'), '');
      assert.equal(await agent.head(), commit);
      assert.equal(await agent.read('c.txt'), 'c\n');
      await place.dispose();
      await user.user.git('rev-list', head);
      const refs = await user.refs('refs/ralph-fresh/');
      const left = await Promise.all(
        Object.entries(refs)
          .filter(([name]) => name.endsWith('-uncommitted'))
          .map(async ([, hash]) => (await user.filesOf(hash))['left.txt']),
      );
      assert.ok(left.includes(work), work);
      assert.ok(Object.values(refs).includes(head));
      if (code === 7) {
        break;
      }
      assert.equal(signal, 'SIGKILL');
      killed += 1;
    }
    assert.ok(killed > 5);
  });
});

describe('the list of places', () => {
  test('shows the use of each place, its size, and whether it can be removed', async () => {
    await using user = await UserOfPlaces.make();
    const base = await user.user.head();
    const safe = await user.take('lane-1', {}, { story: 'US-001', iteration: 3 });
    const dirty = await user.take('lane-2');
    await writeFile(path.join(dirty.root, 'left.txt'), 'x'.repeat(5_000));
    const busy = await user.take('lane-3');
    await user.workIn(async agent => {
      await agent.write('new.txt', 'new');
      await agent.commit();
    }, 'lane-4');
    await safe.dispose();
    await dirty.dispose();
    const places = await listPlaces(user.folder);
    const one = places[0];
    assert.deepEqual(
      [one?.name, one?.runId, one?.story, one?.iteration, one?.head, one?.unsafe],
      [...['lane-1', 'run-1', 'US-001', 3, base, undefined]],
    );
    assert.ok(((await places[1]?.size()) ?? 0) > 5_000);
    assert.deepEqual(
      places.map(({ unsafe }) => unsafe?.key),
      [
        undefined,
        'It has uncommitted work that has not been kept. {0}',
        'Process {0} works there.',
        'It has commits that your repository does not have. {0}',
      ],
    );
    assert.equal(places[2]?.usedBy, process.pid);
    const cleaned = await cleanPlaces(user.folder, user.root);
    assert.deepEqual(
      cleaned.map(({ kept, name }) => [name, kept !== undefined]),
      [
        ['lane-1', false],
        ['lane-2', true],
        ['lane-3', true],
        ['lane-4', true],
      ],
    );
    assert.equal(existsSync(safe.root), false);
    assert.equal(await textOf(dirty.root, 'left.txt'), 'x'.repeat(5_000));
    assert.deepEqual(await readdir(path.join(user.folder, 'trash')), []);
    assert.deepEqual(Object.keys(await user.refs('refs/ralph-fresh/places/abc123/')), [
      ...['lane-2', 'lane-3', 'lane-4'],
    ]);
    await busy.dispose();
    await keepWork(dirty, user.root, REF);
    const again = await cleanPlaces(user.folder, user.root);
    assert.deepEqual(
      again.map(({ kept, name }) => [name, kept !== undefined]),
      [
        ['lane-2', false],
        ['lane-3', false],
        ['lane-4', true],
      ],
    );
  });

  test('includes places that were set aside and stay', async () => {
    await using user = await UserOfPlaces.make();
    await user.workIn((_, { root }) => rm(path.join(root, '.git'), { recursive: true }));
    await (await user.take()).dispose();
    const places = await listPlaces(user.folder);
    assert.deepEqual(
      places.map(({ isSetAside, unsafe }) => [isSetAside, unsafe === undefined]),
      [
        [false, true],
        [true, false],
      ],
    );
    await cleanPlaces(user.folder, user.root);
    assert.equal((await listPlaces(user.folder)).length, 1);
  });

  test('is empty for a folder without places', async () => {
    await using user = await UserOfPlaces.make();
    assert.deepEqual(await listPlaces(user.folder), []);
    assert.deepEqual(await cleanPlaces(user.folder, user.root), []);
  });
});
