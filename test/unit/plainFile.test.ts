import assert from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import fs, { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import fsPromises, { mkdir, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { syncBuiltinESMExports } from 'node:module';
import path from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setImmediate } from 'node:timers/promises';
import { HumanError } from '../../src/base/humanError.ts';
import { createPlainFile, readPlainFile, writePlainFile } from '../../src/base/plainFile.ts';
import { requirePlainState } from '../../src/orchestrator/workspace/plainState.ts';
import { InboxReader, inboxSize, postRequest } from '../../src/orchestrator/workspace/request.ts';
import { RequestWatcher } from '../../src/orchestrator/workspace/requestWatcher.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { ignoreStateDir } from '../../src/orchestrator/workspace/stateIgnore.ts';
import { gitRepo, type TempDir, tempDir } from '../support/cleanEnv.ts';

const RUN_ID = 'one';
const noLinks = process.platform === 'win32' ? 'links need rights on Windows' : false;

let temp: TempDir;
let files: RunFiles;
let dir: string;
let outside: string;

beforeEach(async () => {
  temp = await tempDir('plain-file-');
  files = new RunFiles(path.join(temp.path, 'project'));
  dir = files.iterationDir(RUN_ID, 1);
  outside = path.join(temp.path, 'outside');
  await mkdir(dir, { recursive: true });
  await mkdir(outside);
});
afterEach(() => temp.remove());

describe('the files of a run', { skip: noLinks }, () => {
  it('are written atomically in a folder created for them', async () => {
    const file = path.join(files.iterationDir(RUN_ID, 2), 'prompt.md');
    await writePlainFile(file, 'one');
    await writePlainFile(file, Buffer.from('two'));
    assert.equal(await readFile(file, 'utf8'), 'two');
    assert.deepEqual(await readdir(path.dirname(file)), ['prompt.md']);
  });

  it('are never written through a link, which is replaced instead', async () => {
    const victim = path.join(outside, 'victim');
    const file = path.join(dir, 'receipt.json');
    for (const target of [victim, path.join(outside, 'absent')]) {
      await writeFile(victim, 'mine');
      await rm(file, { force: true });
      await symlink(target, file);
      await writePlainFile(file, 'ours');
      assert.equal(lstatSync(file).isFile(), true);
      assert.equal(await readFile(victim, 'utf8'), 'mine');
    }
    assert.deepEqual(await readdir(outside), ['victim']);
  });

  it('leave nothing behind if they cannot be written', async () => {
    await mkdir(path.join(dir, 'receipt.json'));
    await assert.rejects(writePlainFile(path.join(dir, 'receipt.json'), 'ours'));
    assert.deepEqual(await readdir(dir), ['receipt.json']);
  });

  it('are refused below a linked folder, from .omc down', async () => {
    const chain = [dir, path.dirname(dir), files.runDir(RUN_ID), files.runsDir, files.stateDir];
    for (const place of [...chain, path.dirname(files.stateDir)]) {
      await rm(place, { recursive: true, force: true });
      await mkdir(path.dirname(place), { recursive: true });
      await symlink(outside, place);
      const isRefused = (error: unknown) =>
        error instanceof HumanError && error.message.startsWith(`${place} is a link`);
      await assert.rejects(writePlainFile(path.join(dir, 'prompt.md'), 'ours'), isRefused);
      await assert.rejects(createPlainFile(path.join(dir, 'stream.jsonl')), isRefused);
      if (place !== dir) {
        assert.throws(() => requirePlainState(files, RUN_ID), isRefused);
      }
      assert.deepEqual(await readdir(outside), []);
    }
    await rm(path.dirname(files.stateDir));
    requirePlainState(files, RUN_ID);
  });

  it('are not read from or created at a pipe or link', async () => {
    const pipe = path.join(dir, 'stories-before.json');
    const link = path.join(dir, 'stream.jsonl');
    execFileSync('mkfifo', [pipe]);
    await symlink(path.join(outside, 'absent'), link);
    for (const place of [pipe, link]) {
      assert.equal(await readPlainFile(place, 1000), undefined);
      await assert.rejects(createPlainFile(place), HumanError);
    }
    assert.deepEqual(await readdir(outside), []);
  });
});

describe('the inbox', () => {
  const stop = { type: 'stop', mode: 'end' } as const;
  let inbox: string;

  beforeEach(() => {
    inbox = files.inboxFile(RUN_ID);
  });

  const types = async (reader: InboxReader) => (await reader.takeNew()).map(({ type }) => type);

  it('returns a request after a flood without a line break', async () => {
    const reader = new InboxReader(inbox, await inboxSize(inbox));
    const flood = Buffer.alloc(17 * 1024 * 1024, 'x');
    await writeFile(inbox, flood);
    assert.deepEqual(await types(reader), []);
    postRequest(files, RUN_ID, { type: 'stop', mode: 'end' });
    assert.deepEqual(await types(reader), ['stop']);
    assert.deepEqual(await types(reader), []);
    assert.deepEqual(await types(new InboxReader(inbox)), ['stop']);
  });

  it('has a line for each request if two processes write the first ones at once', async t => {
    const other = '{"type":"pause"}\n';
    const { fstatSync } = fs;
    t.mock.method(fs, 'fstatSync', ((...args: Parameters<typeof fstatSync>) => {
      const found = fstatSync(...args);
      fs.appendFileSync(inbox, other);
      return found;
    }) as typeof fstatSync);
    syncBuiltinESMExports();
    try {
      postRequest(files, RUN_ID, stop);
    } finally {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    }
    const text = await readFile(inbox, 'utf8');
    assert.equal(text.split('\n').length, 3, text);
    assert.deepEqual(await types(new InboxReader(inbox)), ['pause', 'stop']);
  });

  it('drops only lines that are too long', async () => {
    const long = JSON.stringify({ ...stop, why: 'x'.repeat(64 * 1024) });
    await writeFile(inbox, `${long}\n{"type":"pause"}\n{"type":"resu`);
    const reader = new InboxReader(inbox);
    assert.deepEqual(await types(reader), ['pause']);
    await writeFile(inbox, 'me"}\n', { flag: 'a' });
    assert.deepEqual(await types(reader), ['resume']);
  });

  it('is read from the start if it has shrunk or was replaced', async () => {
    await writeFile(inbox, '{"type":"pause"}\n{"type":"pause"}\n');
    const reader = new InboxReader(inbox, await inboxSize(inbox));
    assert.deepEqual(await types(reader), []);
    await writeFile(inbox, '{"type":"resume"}\n');
    assert.deepEqual(await types(reader), ['resume']);
    await writeFile(`${inbox}.new`, `{"type":"pause"}\n{"type":"stop","mode":"end"}\n`);
    await rm(inbox);
    await writeFile(path.join(files.runDir(RUN_ID), 'holds-the-inode'), '');
    await writeFile(inbox, await readFile(`${inbox}.new`));
    assert.deepEqual((await types(reader)).at(-1), 'stop');
  });

  it('is read from the start if it was removed and recreated', async () => {
    const reader = new InboxReader(inbox);
    await writeFile(inbox, '{"type":"pause"}\n');
    assert.deepEqual(await types(reader), ['pause']);
    await rm(inbox);
    assert.deepEqual(await types(reader), []);
    // Where the file system gives out the same inode at once, this one has it.
    await writeFile(inbox, '{"type":"stop","mode":"end"}\n');
    assert.deepEqual(await types(reader), ['stop']);
  });

  it('is reported once if it is not a file, and does not hide a cancel', {
    skip: noLinks,
  }, async () => {
    await symlink('/dev/zero', inbox);
    await assert.rejects(new InboxReader(inbox).takeNew(), HumanError);
    assert.throws(() => postRequest(files, RUN_ID, stop), HumanError);
    await writeFile(files.stateFile, '{"active":false}');
    const watcher = new RequestWatcher(files, RUN_ID);
    const errors: string[] = [];
    let cancels = 0;
    watcher.onError(error => errors.push(error.message));
    watcher.onCancel(() => cancels++);
    await watcher.look();
    await watcher.look();
    watcher.dispose();
    assert.equal(errors.length, 1);
    assert.match(errors[0] ?? '', /is not a regular file/);
    assert.ok(cancels > 0);
  });
});

describe('the state file', () => {
  /** What is told when `remove` has been done. */
  async function told(
    remove: () => Promise<void>,
  ): Promise<{ cancels: number; damages: string[] }> {
    await writeFile(files.stateFile, '{"active":true}');
    await writeFile(files.journalFile(RUN_ID), '');
    await writeFile(files.lockFile, '{}');
    const watcher = new RequestWatcher(files, RUN_ID);
    const seen = { cancels: 0, damages: [] as string[] };
    watcher.onCancel(() => seen.cancels++);
    watcher.onDamage(place => seen.damages.push(place));
    await watcher.look();
    assert.deepEqual(seen, { cancels: 0, damages: [] });
    await remove();
    await watcher.look();
    await watcher.look();
    watcher.dispose();
    return seen;
  }

  it('cancels the run if it alone is removed', async () => {
    const { cancels, damages } = await told(() => rm(files.stateFile));
    assert.ok(cancels > 0);
    assert.deepEqual(damages, []);
  });

  it('counts as damaged if the lock of the run is also missing', async () => {
    const both = await told(async () => {
      await rm(files.stateFile);
      await rm(files.lockFile);
    });
    assert.deepEqual(both, { cancels: 0, damages: [files.lockFile] });
  });

  it('counts as damaged if its folder or the journal is also missing', async () => {
    const all = await told(() => rm(files.stateDir, { recursive: true }));
    assert.deepEqual(all, { cancels: 0, damages: [files.stateDir] });
    await mkdir(files.runDir(RUN_ID), { recursive: true });
    const some = await told(async () => {
      await rm(files.runsDir, { recursive: true });
      await rm(files.stateFile);
    });
    assert.deepEqual(some, { cancels: 0, damages: [files.journalFile(RUN_ID)] });
    await mkdir(files.runDir(RUN_ID), { recursive: true });
    const runsAlone = await told(() => rm(files.runsDir, { recursive: true }));
    assert.deepEqual(runsAlone, { cancels: 0, damages: [files.journalFile(RUN_ID)] });
  });
});

describe('hiding the state from git', { skip: noLinks }, () => {
  const git = (...args: string[]) =>
    execFileSync('git', args, { cwd: files.workspace, encoding: 'utf8' });

  it('removes only the half-made files of a killed start', async () => {
    await gitRepo(files.workspace);
    const info = path.join(files.workspace, '.git', 'info');
    await mkdir(info, { recursive: true });
    await mkdir(files.stateDir, { recursive: true });
    // Nobody has this pid any more.
    const { pid } = spawnSync(process.execPath, ['-e', '']);
    const made = (name: string, maker: number | undefined) => `${name}.${maker}-0123456789ab.tmp`;
    const left = [
      path.join(info, made('exclude', pid)),
      path.join(files.stateDir, made('.gitignore', pid)),
    ];
    const kept = [
      path.join(info, made('exclude', process.pid)),
      path.join(info, made('attributes', pid)),
      path.join(info, `exclude.${pid}-mine.tmp`),
    ];
    await Promise.all([...left, ...kept].map(file => writeFile(file, '')));
    await ignoreStateDir(files);
    assert.deepEqual(
      [...left, ...kept].map(file => existsSync(file)),
      [false, false, true, true, true],
    );
  });

  it('works even if the .gitignore is missing', async () => {
    await gitRepo(temp.path);
    await ignoreStateDir(files);
    await ignoreStateDir(files);
    await writeFile(files.stateFile, '{}');
    assert.equal(await readFile(path.join(files.stateDir, '.gitignore'), 'utf8'), '*\n');
    await rm(path.join(files.stateDir, '.gitignore'));
    assert.equal(git('status', '--porcelain', '--', '.'), '');
    const exclude = await readFile(path.join(temp.path, '.git', 'info', 'exclude'), 'utf8');
    assert.equal(exclude.split('\n').filter(line => line === 'project/.omc/state/').length, 1);
  });

  it('writes the .gitignore atomically, so that a kill never leaves an empty one', async () => {
    const ignoreFile = path.join(files.stateDir, '.gitignore');
    const seen = new Set<string>();
    for (let round = 0; round < 50; round++) {
      await rm(ignoreFile, { force: true });
      let isMaking = true;
      const making = Promise.all([ignoreStateDir(files), ignoreStateDir(files)]).finally(() => {
        isMaking = false;
      });
      while (isMaking) {
        if (existsSync(ignoreFile)) {
          seen.add(readFileSync(ignoreFile, 'utf8'));
        }
        await setImmediate();
      }
      await making;
    }
    assert.deepEqual([...seen], ['*\n']);
    assert.deepEqual(
      readdirSync(files.stateDir).filter(name => name.endsWith('.tmp')),
      [],
    );
  });

  it('tolerates an info folder that we cannot write to, whatever the error code', async t => {
    await gitRepo(temp.path);
    await rm(path.join(temp.path, '.git', 'info'), { recursive: true, force: true });
    const { open } = fsPromises;
    t.mock.method(fsPromises, 'open', (async (file, ...rest) => {
      if (String(file).includes(path.join('.git', 'info'))) {
        throw Object.assign(new Error('EPERM'), { code: 'EPERM' });
      }
      return open(file, ...rest);
    }) as typeof open);
    syncBuiltinESMExports();
    try {
      await ignoreStateDir(files);
    } finally {
      t.mock.restoreAll();
      syncBuiltinESMExports();
    }
    assert.equal(await readFile(path.join(files.stateDir, '.gitignore'), 'utf8'), '*\n');
  });

  it('writes nothing through links', async () => {
    await gitRepo(temp.path);
    const victim = path.join(outside, 'victim');
    const exclude = path.join(temp.path, '.git', 'info', 'exclude');
    await rm(exclude, { force: true });
    await mkdir(path.dirname(exclude), { recursive: true });
    await symlink(victim, exclude);
    await ignoreStateDir(files);
    await rm(path.join(files.stateDir, '.gitignore'));
    await symlink(victim, path.join(files.stateDir, '.gitignore'));
    await ignoreStateDir(files);
    assert.equal(existsSync(victim), false);
  });
});
