import assert from 'node:assert/strict';
import { existsSync, lstatSync, readlinkSync } from 'node:fs';
import { mkdir, readFile, realpath, rm, stat, symlink, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, test } from 'node:test';
import { englishOf } from '../../src/base/say.ts';
import { textOf, UserOfPlaces, writeAll } from '../support/placesOf.ts';

const isWindows = process.platform === 'win32';
const NODE = JSON.stringify(process.execPath);

/** A project with dependencies in the user's tree. */
async function project(): Promise<UserOfPlaces> {
  const user = await UserOfPlaces.make({
    '.gitignore': 'node_modules\n.venv\nmade\n',
    ...{ 'package.json': '{}', 'package-lock.json': '{"v":1}' },
    ...{ 'packages/b/package.json': '{}', 'docs/node_modules.md': '' },
  });
  await writeAll(user.root, {
    'node_modules/x/index.js': 'x',
    'node_modules/.package-lock.json': '{"v":1}',
    'packages/b/node_modules/y/index.js': 'y',
    'src/node_modules/z.js': 'not next to a package.json',
  });
  await symlink('x', path.join(user.root, 'node_modules', 'link'), 'junction');
  return user;
}

/** A setup command that counts its runs outside of the place. */
function counting(user: UserOfPlaces) {
  const file = path.join(user.temp.path, 'runs');
  const code = `require('node:fs').appendFileSync(${JSON.stringify(file)}, process.env.RALPH_FRESH_LANE + process.cwd() + '\\n')`;
  return {
    setup: isWindows
      ? `${NODE} -e "${code.replaceAll('"', "'")}"`
      : `${NODE} -e '${code.replaceAll("'", '"')}' && mkdir -p made && echo 1 > made/it`,
    runs: async () => (existsSync(file) ? (await readFile(file, 'utf8')).trim().split('\n') : []),
  };
}

describe('dependencies of a place', () => {
  test("are copied from the user's", async () => {
    await using user = await project();
    const place = await user.take();
    assert.equal(await textOf(place.root, 'node_modules/x/index.js'), 'x');
    assert.equal(await textOf(place.root, 'packages/b/node_modules/y/index.js'), 'y');
    assert.equal(existsSync(path.join(place.root, 'src/node_modules')), false);
    if (!isWindows) {
      assert.equal(readlinkSync(path.join(place.root, 'node_modules', 'link')), 'x');
    }
    await writeFile(path.join(place.root, 'node_modules/x/index.js'), 'changed');
    assert.equal(await textOf(user.root, 'node_modules/x/index.js'), 'x');
    assert.deepEqual(place.warnings, []);
    assert.equal(await user.at(place.root).git('status', '--porcelain'), '');
  });

  test('stay as they are while the lock files are unchanged', async () => {
    await using user = await project();
    const { root } = await user.workIn(async agent => {
      await agent.write('node_modules/.cache/x', 'of a tool');
      await agent.write('a.txt', 'work');
      await agent.commit();
    });
    const before = await stat(path.join(root, 'node_modules/x/index.js'));
    await (await user.take()).dispose();
    const after = await stat(path.join(root, 'node_modules/x/index.js'));
    assert.equal(after.ino, before.ino);
    assert.equal(await textOf(root, 'a.txt'), 'a\n');
  });

  for (const [what, file] of [
    ['a lock file', 'package-lock.json'],
    ['what an installer notes', 'node_modules/.package-lock.json'],
  ] as const) {
    test(`are copied again if the agent changed ${what}`, async () => {
      await using user = await project();
      const { root } = await user.workIn(async agent => {
        await agent.write(file, '{"v":"of the agent"}');
        await agent.write('node_modules/x/index.js', 'newer');
        await agent.write('node_modules/extra/index.js', 'extra');
      });
      await user.take();
      assert.equal(await textOf(root, 'node_modules/x/index.js'), 'x');
      assert.equal(existsSync(path.join(root, 'node_modules/extra')), false);
    });
  }

  test("are copied with a warning if the lock files differ from the user's", async () => {
    await using user = await project();
    await user.user.write('package-lock.json', '{"v":2}');
    const place = await user.take();
    assert.equal(await textOf(place.root, 'node_modules/x/index.js'), 'x');
    assert.deepEqual(place.warnings.map(englishOf), [
      `The dependencies in ${place.root} are a copy of yours, but package-lock.json differs there from your folder. Set the command that installs them: placeSetup.`,
    ]);
  });

  test('a link to a folder is not copied', { skip: isWindows }, async () => {
    await using user = await project();
    await rm(path.join(user.root, 'node_modules'), { recursive: true });
    await symlink('packages/b/node_modules', path.join(user.root, 'node_modules'));
    const place = await user.take();
    assert.equal(
      lstatSync(path.join(place.root, 'node_modules'), { throwIfNoEntry: false }),
      undefined,
    );
  });

  test('a link to a package of the same project leads into the place', {
    skip: isWindows,
  }, async () => {
    await using user = await project();
    const scope = path.join(user.root, 'node_modules', '@scope');
    await mkdir(scope, { recursive: true });
    await symlink(path.join(user.root, 'packages', 'b'), path.join(scope, 'absolute'));
    await symlink('../../packages/b', path.join(scope, 'relative'));
    const place = await user.take();
    for (const name of ['absolute', 'relative']) {
      const link = path.join(place.root, 'node_modules', '@scope', name);
      assert.equal(await realpath(link), await realpath(path.join(place.root, 'packages', 'b')));
    }
  });

  test('a Python environment points to the place', { skip: isWindows }, async () => {
    await using user = await project();
    const bytes = Buffer.from([0xff, 0xfe, 0x41]);
    await writeAll(user.root, {
      '.venv/pyvenv.cfg': 'home = /usr/bin\n',
      '.venv/bin/pytest': `#!${user.root}/.venv/bin/python\nimport x\n`,
      '.venv/lib/python3.11/site-packages/editable.pth': `${user.root}/src\n`,
    });
    await writeFile(path.join(user.root, '.venv', 'bin', 'tool'), bytes);
    const place = await user.take();
    const at = path.join(place.root, '.venv');
    assert.equal(await textOf(at, 'bin/pytest'), `#!${at}/bin/python\nimport x\n`);
    const pth = 'lib/python3.11/site-packages/editable.pth';
    assert.equal(await textOf(at, pth), `${place.root}/src\n`);
    assert.deepEqual(await readFile(path.join(at, 'bin', 'tool')), bytes);
  });
});

describe('the setup command of a place', { skip: isWindows }, () => {
  test('runs only when the lock files have changed, and its output stays', async () => {
    await using user = await project();
    const { runs, setup } = counting(user);
    const { root } = await user.workIn(async () => undefined, 'lane-1', { setup });
    await user.workIn(async () => undefined, 'lane-1', { setup });
    assert.deepEqual(await runs(), [`1${root}`]);
    assert.equal(await textOf(root, 'made/it'), '1\n');
    await user.user.write('package-lock.json', '{"v":2}');
    await user.user.commit();
    await user.workIn(async () => undefined, 'lane-1', { setup });
    assert.equal((await runs()).length, 2);
  });

  test('runs instead of the copy if the lock files differ', async () => {
    await using user = await project();
    await user.user.write('package-lock.json', '{"v":2}');
    const { runs, setup } = counting(user);
    const place = await user.take('lane-1', { setup });
    assert.equal((await runs()).length, 1);
    assert.equal(existsSync(path.join(place.root, 'node_modules')), false);
    assert.deepEqual(place.warnings, []);
  });

  test('a failure is reported with its output, and the next place tries again', async () => {
    await using user = await project();
    const setup = 'echo out; echo err >&2; exit 3';
    await assert.rejects(user.take('lane-1', { setup }), (error: Error) => {
      assert.match(error.message, /placeSetup: .* failed: it ended with 3\. .*setup\.log/);
      assert.match(error.message, /out\nerr/);
      return true;
    });
    assert.equal(await textOf(user.folder, 'lane-1.own', 'setup.log'), 'out\nerr\n');
    const place = await user.take('lane-1', { setup: 'true' });
    assert.equal(await textOf(place.root, 'node_modules/x/index.js'), 'x');
  });

  test('is ended at its time limit and when the run is stopped', async () => {
    await using user = await project();
    const setup = `echo $$ > ${user.temp.path}/pid; sleep 1000`;
    const slow = user.take('lane-1', { setup, setupLimitMs: 200 });
    await assert.rejects(slow, /took longer than 0 s/);
    const pid = Number(await textOf(user.temp.path, 'pid'));
    assert.throws(() => process.kill(pid, 0), { code: 'ESRCH' });
    const stop = new AbortController();
    const reason = new Error('stopped');
    const stopped = user.take('lane-2', { setup }, { signal: stop.signal });
    stop.abort(reason);
    await assert.rejects(stopped, error => error === reason);
    // Its lock and its ports are free.
    await user.take('lane-2');
  });
});
