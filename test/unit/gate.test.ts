import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { say } from '../../src/base/say.ts';
import type { RunEvent, RunEventBody } from '../../src/orchestrator/journal/events.ts';
import {
  type GateOptions,
  type GateResult,
  runGate,
} from '../../src/orchestrator/proof/checks/gate.ts';
import { cleanEnv, type TempDir, tempDir } from '../support/cleanEnv.ts';

/** Never reached by a test that passes, in ms. */
const LONG_MS = 600_000;

/** Listens to what is recorded of checks; nothing is written. */
function recordOf(take: (event: RunEventBody) => void): NonNullable<GateOptions['record']> {
  const append = (event: RunEventBody) => {
    take(event);
    return event as RunEvent;
  };
  return { journal: { append }, iteration: 3 };
}

describe('runGate', () => {
  let temp: TempDir;
  let workspace: string;
  let dir: string;
  let runs = 0;

  beforeEach(async () => {
    temp = await tempDir('gate-');
    workspace = path.join(temp.path, 'my projeçt');
    dir = path.join(temp.path, 'logs', '3');
    await mkdir(workspace);
  });
  afterEach(() => temp.remove());

  /** Writes a program and returns the shell line that runs it. */
  async function program(name: string, code: string): Promise<string> {
    await writeFile(path.join(workspace, name), code);
    return `node ${name}`;
  }

  function gate(commands: readonly string[], options: Partial<GateOptions> = {}) {
    return runGate({
      commands,
      cwd: workspace,
      env: cleanEnv({ home: temp.path }),
      timeLimitMs: LONG_MS,
      signal: new AbortController().signal,
      killSignal: new AbortController().signal,
      runId: `gate-test-${process.pid}-${++runs}`,
      dir,
      ...options,
    });
  }

  const only = ({ checks }: GateResult) => {
    const [check, ...others] = checks;
    assert.ok(check);
    assert.deepEqual(others, []);
    return check;
  };
  const log = (n: number) => readFile(path.join(dir, `check-${n}.log`), 'utf8');

  async function gone(pid: number): Promise<void> {
    for (;;) {
      try {
        process.kill(pid, 0);
      } catch {
        return;
      }
      if (/^\d+ \(.*\) [ZX]/.test(await readFile(`/proc/${pid}/stat`, 'utf8').catch(() => ''))) {
        return;
      }
      await delay(10);
    }
  }

  /** A program that starts another one, which says its pid in a file and stays. */
  const leavesServer = (options: string) => `
    const { spawn } = require('node:child_process');
    const { existsSync } = require('node:fs');
    spawn(process.execPath, ['server.js'], ${options}).unref();
    const wait = () => (existsSync('server.pid') ? process.exit(0) : setTimeout(wait, 5));
    wait();`;
  const server = (more = '') => `
    ${more}
    setInterval(() => {}, 1000);
    require('node:fs').writeFileSync('server.tmp', String(process.pid));
    require('node:fs').renameSync('server.tmp', 'server.pid');`;
  const serverPid = async () => Number(await readFile(path.join(workspace, 'server.pid'), 'utf8'));

  test('no checks means success', async () => {
    assert.deepEqual(await gate([]), { green: true, checks: [], cancelled: false });
  });

  test('checks run in order up to the first failing one', async () => {
    const first = await program('first.js', "console.log('one')");
    const second = await program('second.js', "console.error('two'); process.exitCode = 3");
    const third = await program('third.js', "require('node:fs').writeFileSync('third', '')");
    const started: string[] = [];
    const result = await gate([first, second, third], {
      record: recordOf(event => {
        if (event.type === 'check.started') {
          assert.ok(event.pid > 0);
          started.push(event.command);
        }
      }),
    });
    assert.equal(result.green, false);
    assert.equal(result.cancelled, false);
    assert.deepEqual(started, [first, second]);
    assert.deepEqual(
      result.checks.map(({ command, ok, exitCode, timedOut, outputTail }) => ({
        command,
        ok,
        exitCode,
        timedOut,
        outputTail,
      })),
      [
        { command: first, ok: true, exitCode: 0, timedOut: false, outputTail: 'one\n' },
        { command: second, ok: false, exitCode: 3, timedOut: false, outputTail: 'two\n' },
      ],
    );
    assert.equal(await log(1), 'one\n');
    assert.equal(await log(2), 'two\n');
    assert.equal(existsSync(path.join(workspace, 'third')), false);
  });

  test('a line is run by the shell', async () => {
    const fails = await program('fails.js', 'process.exitCode = 1');
    const works = await program('works.js', "console.log('works')");
    const check = only(await gate([`${fails} || ${works} && exit 5`]));
    assert.equal(check.exitCode, 5);
    assert.equal(check.outputTail, 'works\n');
  });

  test('a missing program, an invalid line and a missing folder are reported', async () => {
    const missing = only(await gate(['no-such-program-anywhere --run']));
    assert.equal(missing.ok, false);
    assert.notEqual(missing.exitCode, 0);
    assert.match(missing.outputTail, /no-such-program-anywhere/);

    assert.equal((await gate(['(('])).green, false);

    const nowhere = only(await gate(['exit 0'], { cwd: path.join(temp.path, 'nowhere') }));
    assert.equal(nowhere.ok, false);
    assert.equal(nowhere.exitCode, undefined);
    assert.deepEqual(
      nowhere.problem,
      say('There is no folder {0}.', path.join(temp.path, 'nowhere')),
    );
  });

  test('both streams are kept in the order they were written', async () => {
    const command = await program(
      'both.js',
      `const { writeSync } = require('node:fs');
       for (let i = 0; i < 50; i++) writeSync(1 + (i % 2), i + ' ');`,
    );
    const numbers = Array.from({ length: 50 }, (_, i) => `${i} `);
    const check = only(await gate([command]));
    if (process.platform === 'win32') {
      assert.deepEqual(check.outputTail.split(' ').sort(), numbers.join('').split(' ').sort());
    } else {
      assert.equal(check.outputTail, numbers.join(''));
    }
  });

  test('the environment is the given one, with CI and the mark of the run', async () => {
    const command = await program(
      'env.js',
      'console.log(process.env.CI, process.env.RALPH_FRESH_RUN, process.env.OTHER)',
    );
    const env = cleanEnv({ home: temp.path });
    const run = { runId: 'env-test' };
    assert.equal(only(await gate([command], run)).outputTail, '1 env-test undefined\n');
    const given = { ...run, env: { ...env, CI: 'false', OTHER: 'x' } };
    assert.equal(only(await gate([command], given)).outputTail, 'false env-test x\n');
  });

  test('a check that reads input gets none', async () => {
    const command = await program(
      'ask.js',
      "process.stdin.resume().on('end', () => console.log('nobody there'))",
    );
    assert.equal(only(await gate([command])).outputTail, 'nobody there\n');
  });

  test('the tail has whole characters, and the file has the full output', async () => {
    const command = await program('long.js', "console.log('begin' + '𝒳'.repeat(20000) + 'end')");
    const { outputTail } = only(await gate([command]));
    assert.ok(outputTail.length <= 8_000 && outputTail.length >= 7_999);
    assert.match(outputTail, /^(?:𝒳)+end\n$/u);
    assert.match(await log(1), /^begin(?:𝒳)+end\n$/u);
  });

  test('a flood is cut to its beginning and end, with a note on what is missing', async () => {
    const command = await program(
      'flood.js',
      `const { writeSync } = require('node:fs');
       const block = Buffer.alloc(1024 * 1024, 'x\\n');
       writeSync(1, 'first words\\n');
       for (let i = 0; i < 60; i++) for (let at = 0; at < block.length; ) at += writeSync(1, block, at);
       writeSync(1, 'last words\\n');`,
    );
    const check = only(await gate([command]));
    assert.equal(check.ok, true);
    assert.match(check.outputTail, /last words\n$/);
    const { size } = await stat(path.join(dir, 'check-1.log'));
    assert.ok(size >= 50 * 1024 * 1024 && size < 50 * 1024 * 1024 + 20_000, String(size));
    const text = await log(1);
    assert.match(text.slice(0, 20), /^first words\n/);
    assert.match(
      text.slice(-10_000),
      /\n\[… \d+ bytes more are not kept; .*\]\n(?:x\n|\n)+last words\n$/,
    );
  });

  test('a second gate in the same folder overwrites the first', async () => {
    await gate([await program('a.js', "console.log('a long first output')")]);
    await gate([await program('b.js', "console.log('b')")]);
    assert.equal(await log(1), 'b\n');
  });

  test('a check that exceeds its time limit fails, and its process tree is ended', async () => {
    await program('server.js', server());
    // It would count as green by its exit code.
    const command = await program(
      'slow.js',
      `require('node:child_process').spawn(process.execPath, ['server.js'], { stdio: 'inherit' });
       process.on('SIGTERM', () => process.exit(0));
       setInterval(() => {}, 1000);`,
    );
    const check = only(await gate([command], { timeLimitMs: 1_500 }));
    assert.equal(check.ok, false);
    assert.equal(check.timedOut, true);
    assert.equal(check.cancelled, false);
    if (existsSync(path.join(workspace, 'server.pid'))) {
      await gone(await serverPid());
    }
  });

  test('a limit beyond the maximum of timers does not become 1 ms', async () => {
    const command = await program('short.js', "setTimeout(() => console.log('done'), 50)");
    for (const timeLimitMs of [2 ** 40, Number.POSITIVE_INFINITY]) {
      assert.equal((await gate([command], { timeLimitMs })).green, true);
    }
  });

  test('a server that a check leaves behind is ended, and the check still passes', async () => {
    await program('server.js', server());
    const command = await program('leaves.js', leavesServer("{ stdio: 'inherit' }"));
    const result = await gate([command]);
    assert.equal(result.green, true);
    await gone(await serverPid());
  });

  test('the same for one that left the process group and ignores SIGTERM', async () => {
    await program('server.js', server("process.on('SIGTERM', () => {});"));
    const command = await program(
      'leaves.js',
      leavesServer("{ detached: true, stdio: 'inherit' }"),
    );
    assert.equal((await gate([command])).green, true);
    if (process.platform !== 'win32') {
      await gone(await serverPid());
    }
  });

  test('an output that stays open or continues does not block', async () => {
    // Nothing tells this one from a process of somebody else.
    await program('server.js', server());
    const command = await program(
      'leaves.js',
      leavesServer("{ detached: true, stdio: 'inherit', env: { PATH: process.env.PATH } }"),
    );
    try {
      const check = only(await gate([`${command} && echo the end`]));
      assert.equal(check.ok, true);
      assert.match(check.outputTail, /the end/);
    } finally {
      const pid = await serverPid();
      try {
        process.kill(pid, 'SIGKILL');
      } catch (error) {
        // Seen below the check before it got away, and ended with it.
        assert.equal((error as NodeJS.ErrnoException).code, 'ESRCH');
      }
    }
  });

  test('a stop ends the check and starts no other', async () => {
    await program('server.js', server());
    const command = await program('leaves.js', leavesServer("{ stdio: 'inherit' }"));
    const stop = new AbortController();
    const stays = await program('stays.js', 'setInterval(() => {}, 1000)');
    const result = await gate([`${command} && ${stays}`, command], {
      signal: stop.signal,
      record: recordOf(() => stop.abort()),
    });
    const check = only(result);
    assert.equal(result.green, false);
    assert.equal(result.cancelled, true);
    assert.equal(check.ok, false);
    assert.equal(check.cancelled, true);
    assert.equal(check.timedOut, false);
  });

  test('a stop before the start starts nothing', async () => {
    const result = await gate(['echo x'], { signal: AbortSignal.abort() });
    assert.deepEqual(result, { green: false, checks: [], cancelled: true });
    const killed = await gate(['echo x'], { killSignal: AbortSignal.abort() });
    assert.deepEqual(killed, { green: false, checks: [], cancelled: true });
    assert.equal(existsSync(path.join(dir, 'check-1.log')), false);
  });

  test('a stronger stop does not wait for a check that ignores the first', async () => {
    const command = await program(
      'stubborn.js',
      `process.on('SIGTERM', () => require('node:fs').writeFileSync('asked', ''));
       require('node:fs').writeFileSync('ready', '');
       setInterval(() => {}, 1000);`,
    );
    const stop = new AbortController();
    const kill = new AbortController();
    // Without a shell in between, whose end would be the check's.
    const line = process.platform === 'win32' ? command : `exec ${command}`;
    const running = gate([line], { signal: stop.signal, killSignal: kill.signal });
    const exists = async (name: string) => {
      while (!existsSync(path.join(workspace, name))) {
        await delay(5);
      }
    };
    await exists('ready');
    stop.abort();
    if (process.platform !== 'win32') {
      await exists('asked');
    }
    kill.abort();
    const check = only(await running);
    assert.equal(check.cancelled, true);
    if (process.platform !== 'win32') {
      assert.equal(check.signal, 'SIGKILL');
    }
  });

  test('an unwritable log is reported, and nothing is left running', async () => {
    await mkdir(path.join(dir, 'check-1.log'), { recursive: true });
    const command = await program('x.js', "require('node:fs').writeFileSync('ran', '')");
    await assert.rejects(gate([command]), { code: /^E(ISDIR|PERM|ACCES)$/ as unknown as string });
    assert.equal(existsSync(path.join(workspace, 'ran')), false);
  });
});
