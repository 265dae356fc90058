import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { identify, isRunning } from '../../src/orchestrator/process/processIdentity.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { acquireRunLock, livingLockOwner } from '../../src/orchestrator/workspace/runLock.ts';
import { cleanEnv, type TempDir, tempDir } from '../support/cleanEnv.ts';

const room = pathToFileURL(
  path.resolve(import.meta.dirname, '../../src/orchestrator/workspace'),
).href;

/** Takes the lock when it is told a line, says how that went, and keeps it until it is told to release. */
const PROGRAM = `
const { createInterface } = await import('node:readline');
const { RunFiles } = await import('${room}/runFiles.ts');
const { acquireRunLock } = await import('${room}/runLock.ts');
const [folder, runId] = process.argv.slice(1);
const lines = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
console.log('ready');
await lines.next();
const attempt = await acquireRunLock(new RunFiles(folder), runId);
console.log(JSON.stringify({ kind: attempt.kind, by: attempt.by, died: attempt.lock?.died }));
await lines.next();
await attempt.lock?.release();
process.exit();
`;

interface Answer {
  readonly kind: 'acquired' | 'held';
  readonly by?: { readonly pid: number; readonly runId?: string };
  readonly died?: { readonly pid: number; readonly runId?: string };
}

/** Another process that wants the lock. */
class Rival {
  readonly child: ChildProcess;
  private readonly lines: AsyncIterator<string>;

  private constructor(folder: string, runId: string) {
    const child = spawn(
      process.execPath,
      [
        ...['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', PROGRAM],
        ...['--', folder, runId],
      ],
      { cwd: folder, env: cleanEnv({ home: folder }), stdio: ['pipe', 'pipe', 'inherit'] },
    );
    this.child = child;
    this.lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  }

  static async start(folder: string, runId: string): Promise<Rival> {
    const rival = new Rival(folder, runId);
    assert.equal((await rival.lines.next()).value, 'ready');
    return rival;
  }

  async take(): Promise<Answer> {
    this.child.stdin?.write('take\n');
    return JSON.parse((await this.lines.next()).value ?? '');
  }

  async end(signal?: NodeJS.Signals): Promise<void> {
    if (this.child.exitCode !== null || this.child.signalCode !== null) {
      return;
    }
    const exited = once(this.child, 'exit');
    if (signal === undefined) {
      this.child.stdin?.write('release\n');
    } else {
      this.child.kill(signal);
    }
    await exited;
  }
}

describe('the lock of a workspace', () => {
  let temp: TempDir;
  let files: RunFiles;
  const rivals: Rival[] = [];

  beforeEach(async () => {
    temp = await tempDir('run-lock-');
    files = new RunFiles(temp.path);
  });
  afterEach(async () => {
    await Promise.all(rivals.splice(0).map(rival => rival.end('SIGKILL')));
    await temp.remove();
  });

  async function rival(runId: string): Promise<Rival> {
    const started = await Rival.start(temp.path, runId);
    rivals.push(started);
    return started;
  }

  test('refuses a second process and names the owner', async () => {
    const first = await rival('run-1');
    const second = await rival('run-2');
    assert.equal((await first.take()).kind, 'acquired');
    const refused = await second.take();
    assert.equal(refused.kind, 'held');
    assert.deepEqual([refused.by?.pid, refused.by?.runId], [first.child.pid, 'run-1']);
    const owner = await livingLockOwner(files);
    assert.deepEqual([owner?.pid, owner?.runId], [first.child.pid, 'run-1']);
  });

  test('is free after its release, without a dead owner', async () => {
    const first = await rival('run-1');
    await first.take();
    await first.end();
    assert.equal(await livingLockOwner(files), undefined);
    const next = await (await rival('run-2')).take();
    assert.deepEqual(next, { kind: 'acquired' });
  });

  test('of a killed process is free at once, and names its run', async () => {
    const first = await rival('run-1');
    await first.take();
    await first.end('SIGKILL');
    assert.equal(existsSync(files.lockFile), true);
    assert.equal(await livingLockOwner(files), undefined);
    const next = await (await rival('run-2')).take();
    assert.equal(next.kind, 'acquired');
    assert.deepEqual([next.died?.pid, next.died?.runId], [first.child.pid, 'run-1']);
  });

  test('exactly one of several rivals wins, whether the owner died or not', async () => {
    for (const before of ['nobody', 'somebody']) {
      if (before === 'somebody') {
        const dead = await rival('run-0');
        await dead.take();
        await dead.end('SIGKILL');
      }
      const racers = await Promise.all([1, 2, 3, 4].map(n => rival(`run-${n}`)));
      const answers = await Promise.all(racers.map(racer => racer.take()));
      const winners = racers.filter((_, i) => answers[i]?.kind === 'acquired');
      assert.equal(winners.length, 1, before);
      for (const answer of answers.filter(({ kind }) => kind === 'held')) {
        assert.equal(answer.by?.pid, winners[0]?.child.pid);
      }
      await Promise.all(racers.map(racer => racer.end()));
    }
  });

  test('a process with the pid of a dead owner is not the owner', async () => {
    const self = await identify(process.pid);
    assert.notEqual(self.startId, undefined);
    await mkdir(files.stateDir, { recursive: true });
    await writeFile(
      files.lockFile,
      JSON.stringify({ pid: process.pid, startId: 'another start', runId: 'run-1' }),
    );
    assert.equal(await isRunning(self), true);
    assert.equal(await livingLockOwner(files), undefined);
    const attempt = await acquireRunLock(files, 'run-2');
    assert.ok(attempt.kind === 'acquired');
    assert.equal(attempt.lock.died?.runId, 'run-1');
    await attempt.lock.release();
  });

  for (const [name, text] of [
    ['half of one', '{"pid":'],
    ['something else', '{"pid":"1"}'],
    ['nothing', ''],
  ] as const) {
    test(`a lock file that contains ${name} does not lock`, async () => {
      await mkdir(files.stateDir, { recursive: true });
      await writeFile(files.lockFile, text);
      assert.equal(await livingLockOwner(files), undefined);
      const attempt = await acquireRunLock(files, 'run-1');
      assert.ok(attempt.kind === 'acquired');
      assert.equal(attempt.lock.died, undefined);
      await attempt.lock.release();
      assert.equal(existsSync(files.lockFile), false);
    });
  }

  test('release can be called twice and never releases the lock of others', async () => {
    const attempt = await acquireRunLock(files, 'run-1');
    assert.ok(attempt.kind === 'acquired');
    await attempt.lock.release();
    const other = await rival('run-2');
    await other.take();
    const text = await readFile(files.lockFile, 'utf8');
    await attempt.lock.release();
    assert.equal(await readFile(files.lockFile, 'utf8'), text);
  });

  test('a process that writes only one line is waited for', async () => {
    const short = await acquireRunLock(files);
    assert.ok(short.kind === 'acquired');
    const loop = (await rival('run-1')).take();
    assert.equal(await Promise.race([loop, livingLockOwner(files).then(() => 'waits')]), 'waits');
    await short.lock.release();
    assert.equal((await loop).kind, 'acquired');
  });
});
