import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { readdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { after, afterEach, before, beforeEach, describe, it, type TestContext } from 'node:test';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { englishOf, say } from '../../src/base/say.ts';
import type { Agent } from '../../src/orchestrator/agents/agent.ts';
import { type AgentEnd, runAgentProcess } from '../../src/orchestrator/agents/call/agentProcess.ts';
import { StreamJsonDecoder } from '../../src/orchestrator/agents/claude/streamJson.ts';
import { cgroupsOf, makeCgroup, removeCgroup } from '../../src/orchestrator/process/agentCgroup.ts';
import { identify } from '../../src/orchestrator/process/processIdentity.ts';
import { DEFAULT_LIMITS } from '../../src/orchestrator/process/processLimits.ts';
import {
  endLeftovers,
  forksSoFar,
  RUN_MARKER,
} from '../../src/orchestrator/process/processTree.ts';
import { isStarted, startTree } from '../../src/orchestrator/process/startTree.ts';
import { cleanEnv, type TempDir, tempDir } from '../support/cleanEnv.ts';
import { isRunning } from '../support/journals.ts';

const inAnHour = Math.floor(Date.now() / 1000) + 3600;
const limit = {
  type: 'rate_limit_event',
  rate_limit_info: { status: 'rejected', resetsAt: inAnHour, rateLimitType: 'five_hour' },
};
const refused = {
  type: 'system',
  subtype: 'api_retry',
  attempt: 1,
  max_retries: 10,
  error_status: 401,
  error: 'authentication_failed',
};
const done = { type: 'result', subtype: 'success', is_error: false, result: 'Done.', num_turns: 2 };

// The limit only ends a hanging run; no test measures time.
describe('a call that is certain to fail', () => {
  let temp: TempDir;

  beforeEach(async () => {
    temp = await tempDir('agent-process-');
  });
  afterEach(() => temp.remove());

  /** A process that prints these lines, then exits, or stays for ever. */
  function run(lines: readonly object[], then: 'exits' | 'stays'): Promise<AgentEnd> {
    const agent: Agent = {
      id: 'claude',
      command: () => Promise.reject(new Error('not asked for here')),
      decoder: () => new StreamJsonDecoder(),
    };
    const script = `${lines.map(line => `console.log(${JSON.stringify(JSON.stringify(line))});`).join('')}
      ${then === 'stays' ? 'setInterval(() => {}, 1000);' : ''}`;
    const command = {
      file: process.execPath,
      args: ['-e', script],
      stdin: '',
      env: cleanEnv({ home: temp.path }),
    };
    return runAgentProcess(agent, command, {
      cwd: temp.path,
      runId: `test-${process.pid}`,
      limits: DEFAULT_LIMITS,
      signal: new AbortController().signal,
      killSignal: new AbortController().signal,
      rawFile: path.join(temp.path, 'raw.jsonl'),
      record: { started: () => undefined, take: () => undefined },
    });
  }

  it('is ended when the usage limit refuses it', async () => {
    const { reason, error, result } = await run([limit], 'stays');
    assert.deepEqual(error, {
      kind: 'usageLimit',
      message: say('usage limit: {0}', 'five_hour'),
      resetsAt: inAnHour * 1000,
    });
    assert.deepEqual([reason, result], ['exited', undefined]);
  });

  it('is ended when the login is refused again', async () => {
    const { reason, error } = await run([refused, { ...refused, attempt: 2 }], 'stays');
    assert.deepEqual(error, {
      kind: 'authentication',
      message: 'authentication_failed (status 401)',
    });
    assert.equal(reason, 'exited');
  });

  it('continues after one refused login: a token may have been renewed', async () => {
    const { error, result } = await run([refused, done], 'exits');
    assert.equal(error, undefined);
    assert.equal(result?.text, 'Done.');
  });

  it('has not failed if it has its result', async () => {
    const { error, result } = await run([done, limit], 'exits');
    assert.equal(error, undefined);
    assert.equal(result?.isError, false);
  });
});

describe('the output of an agent', { skip: process.platform === 'win32' }, () => {
  let temp: TempDir;

  beforeEach(async () => {
    temp = await tempDir('agent-output-');
  });
  afterEach(() => temp.remove());

  function run(script: string, options: { kill?: AbortSignal; onStarted?: (pid: number) => void }) {
    const agent: Agent = {
      id: 'claude',
      command: () => Promise.reject(new Error('not asked for here')),
      decoder: () => new StreamJsonDecoder(),
    };
    const command = {
      file: process.execPath,
      args: ['-e', script],
      stdin: '',
      env: cleanEnv({ home: temp.path }),
    };
    return runAgentProcess(agent, command, {
      cwd: temp.path,
      runId: `test-${process.pid}`,
      limits: DEFAULT_LIMITS,
      signal: new AbortController().signal,
      killSignal: options.kill ?? new AbortController().signal,
      rawFile: path.join(temp.path, 'raw.jsonl'),
      // One that a cgroup holds does not get away.
      strays: 'watch',
      record: { started: ({ pid }) => options.onStarted?.(pid), take: () => undefined },
    });
  }

  /** Leaves a process of its own session, with an empty environment, that writes for ever. */
  const leavesWriter = `
    const writer = require('node:child_process').spawn(
      process.execPath, ['-e', 'setInterval(() => console.log("still here"), 100)'],
      { detached: true, stdio: ['ignore', 'inherit', 'ignore'], env: {} });
    require('node:fs').writeFileSync('writer.pid', String(writer.pid));
    writer.unref();
    console.log(${JSON.stringify(JSON.stringify(done))});
  `;

  for (const isKilled of [true, false]) {
    it(`ends although an escaped process keeps it open${isKilled ? ', on a kill at once' : ''}`, async () => {
      const kill = new AbortController();
      let started = 0;
      const ending = run(leavesWriter, {
        kill: kill.signal,
        onStarted: pid => {
          started = pid;
        },
      });
      try {
        if (isKilled) {
          while (started === 0 || (await isRunning(started))) {
            await new Promise(resolve => setTimeout(resolve, 20));
          }
          kill.abort();
        }
        const { result, exitCode } = await ending;
        assert.deepEqual([result?.text, exitCode], ['Done.', 0]);
        assert.match(await readFile(path.join(temp.path, 'raw.jsonl'), 'utf8'), /Done\./);
      } finally {
        endAnyway(Number(await readFile(path.join(temp.path, 'writer.pid'), 'utf8')));
      }
    });
  }

  it('is not written through a link, and no agent is started', async () => {
    await symlink(path.join(temp.path, 'outside'), path.join(temp.path, 'raw.jsonl'));
    await assert.rejects(run(leavesWriter, {}), /raw\.jsonl is a link/);
    assert.deepEqual(
      ['outside', 'writer.pid'].map(name => existsSync(path.join(temp.path, name))),
      [false, false],
    );
  });
});

describe('the input of an agent', { skip: process.platform === 'win32' }, () => {
  it('is complete even if the loop is killed as the agent starts', async () => {
    await using temp = await tempDir('agent-input-');
    const length = 1_000_000;
    // The agent kills the loop before it reads; a pipe would hold 64 KB by then.
    const agent = `
      process.kill(process.ppid, 'SIGKILL');
      const look = () => {
        if (process.ppid === LOOP) return setTimeout(look, 10);
        const { readFileSync, renameSync, writeFileSync } = require('node:fs');
        writeFileSync('heard.tmp', String(readFileSync(0).length));
        renameSync('heard.tmp', 'heard');
      };
      look();
    `;
    const loop = `
      import { runAgentProcess } from '${moduleOf('call/agentProcess.ts')}';
      import { DEFAULT_LIMITS } from '${moduleOf('../process/processLimits.ts')}';
      import { StreamJsonDecoder } from '${moduleOf('claude/streamJson.ts')}';
      const never = new AbortController().signal;
      const agent = ${JSON.stringify(agent)}.replace('LOOP', process.pid);
      await runAgentProcess(
        { id: 'claude', command: undefined, decoder: () => new StreamJsonDecoder() },
        { file: process.execPath, args: ['-e', agent], stdin: 'x'.repeat(${length}), env: {} },
        { cwd: process.cwd(), runId: 'input-${process.pid}', limits: DEFAULT_LIMITS, signal: never,
          killSignal: never, rawFile: process.cwd() + '/raw.jsonl', record: { started() {}, take() {} } },
      );
    `;
    const node = ['--disable-warning=ExperimentalWarning', '--input-type=module', '--eval', loop];
    const running = spawn(process.execPath, node, { cwd: temp.path, stdio: 'ignore' });
    const [, signal] = await once(running, 'exit');
    assert.equal(signal, 'SIGKILL');
    const heard = path.join(temp.path, 'heard');
    while (!existsSync(heard)) {
      await new Promise(resolve => setTimeout(resolve, 20));
    }
    assert.equal(await readFile(heard, 'utf8'), String(length));
    assert.deepEqual((await readdir(temp.path)).sort(), ['heard', 'raw.jsonl']);
  });
});

/** A module by its path from src/orchestrator/agents, for a program of its own. */
function moduleOf(name: string): string {
  return pathToFileURL(path.resolve(import.meta.dirname, '../../src/orchestrator/agents', name))
    .href;
}

/** Ends a process that may have ended. */
function endAnyway(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL');
  } catch {
    // It has.
  }
}

describe('a daemon that removed the mark of its run', {
  concurrency: true,
  skip: process.platform !== 'linux',
}, () => {
  const tool = {
    type: 'assistant',
    message: { content: [{ type: 'tool_use', id: '1', name: 'Bash', input: { command: 'x' } }] },
  };

  /** As `env -i setsid` makes it. At once it has no parent either, or only when its agent has ended. */
  const daemon = (hasParent: boolean) => `
    const { spawn } = require('node:child_process');
    const { existsSync, readFileSync } = require('node:fs');
    const words = 'echo $$ > daemon.tmp; mv daemon.tmp daemon; exec sleep 1000 > /dev/null 2>&1';
    // An agent is put into its group just after it was started; a real one takes longer than that to start a tool.
    while (!${hasParent} && !readFileSync('/proc/self/cgroup', 'utf8').includes('ralph-fresh.'));
    spawn('env', ['-i', 'setsid', ...(${hasParent} ? [] : ['-f']), 'sh', '-c', words],
      { stdio: 'ignore' }).unref();
    const look = () => {
      if (!existsSync('daemon')) return setTimeout(look, 10);
      console.log(${JSON.stringify(JSON.stringify(tool))});
      setInterval(() => existsSync('go') && process.exit(), 10);
    };
    look();
  `;

  /** Where the system has no cgroup for us, such a daemon is known only when it was seen below its agent. */
  const probe = makeCgroup(`probe-${process.pid}`);
  if (probe !== undefined) {
    removeCgroup(probe.dir);
  }
  const ways = ['watch', ...(probe === undefined ? [] : (['cgroup'] as const))] as const;

  for (const strays of ways) {
    for (const end of ['stop', 'hardLimit', 'exited'] as const) {
      it(`is ended with its agent (${end}), found by a ${strays}`, async () => {
        await using temp = await tempDir('agent-daemon-');
        const stop = new AbortController();
        const command = {
          file: process.execPath,
          args: ['-e', daemon(strays === 'watch')],
          stdin: '',
          env: cleanEnv({ home: temp.path }),
        };
        let pid = 0;
        let cgroup: string | undefined;
        const ended = await runAgentProcess(
          {
            id: 'claude',
            command: () => Promise.reject(new Error('not asked for here')),
            decoder: () => new StreamJsonDecoder(),
          },
          command,
          {
            ...{ cwd: temp.path, runId: `daemon-${strays}-${end}-${process.pid}`, strays },
            limits: { ...DEFAULT_LIMITS, ...(end === 'hardLimit' && { hardMs: 6_000 }) },
            signal: stop.signal,
            killSignal: new AbortController().signal,
            rawFile: path.join(temp.path, 'raw.jsonl'),
            record: {
              started: started => {
                cgroup = started.cgroup;
              },
              take: ({ type }) => {
                if (type !== 'tool') {
                  return;
                }
                pid = Number(readFileSync(path.join(temp.path, 'daemon'), 'utf8'));
                if (end === 'stop') {
                  stop.abort();
                } else if (end === 'exited') {
                  writeFileSync(path.join(temp.path, 'go'), '');
                }
              },
            },
          },
        );
        try {
          assert.equal(cgroup === undefined, strays === 'watch');
          assert.ok(pid > 0);
          assert.equal(await isRunning(pid), false);
          assert.equal(ended.reason, end === 'stop' ? 'cancelled' : end);
          assert.equal(ended.leftovers, 1);
          assert.equal(cgroup !== undefined && existsSync(cgroup), false);
        } finally {
          endAnyway(pid);
        }
      });
    }
  }

  for (const strays of ways) {
    it(`is ended with its own agent, and not with another one of the same run (${strays})`, async () => {
      const runId = `two-${strays}-${process.pid}`;
      await using one = await tempDir('agent-one-');
      await using two = await tempDir('agent-two-');
      // In a session of its own, with its environment.
      const agent = `
        const { spawn } = require('node:child_process');
        const { existsSync, writeFileSync } = require('node:fs');
        const left = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { detached: true, stdio: 'ignore' });
        left.unref();
        writeFileSync('left', String(left.pid));
        console.log(${JSON.stringify(JSON.stringify(tool))});
        setInterval(() => existsSync('go') && process.exit(), 10);
      `;
      const never = new AbortController().signal;
      const start = (cwd: string) => {
        const { promise: works, resolve } = Promise.withResolvers<void>();
        const ended = runAgentProcess(
          {
            id: 'claude',
            command: () => Promise.reject(new Error('not asked for here')),
            decoder: () => new StreamJsonDecoder(),
          },
          {
            ...{ file: process.execPath, args: ['-e', agent], stdin: '' },
            env: cleanEnv({ home: cwd }),
          },
          {
            ...{ cwd, runId, strays, limits: DEFAULT_LIMITS, signal: never, killSignal: never },
            rawFile: path.join(cwd, 'raw.jsonl'),
            record: { started: () => undefined, take: ({ type }) => type === 'tool' && resolve() },
          },
        );
        return { works, ended };
      };
      const agents = [start(one.path), start(two.path)] as const;
      await Promise.all(agents.map(({ works }) => works));
      const [first, second] = [one, two].map(({ path: dir }) =>
        Number(readFileSync(path.join(dir, 'left'), 'utf8')),
      );
      assert.ok(first && second);
      try {
        writeFileSync(path.join(one.path, 'go'), '');
        assert.equal((await agents[0].ended).leftovers, 1);
        assert.deepEqual([await isRunning(first), await isRunning(second)], [false, true]);
        assert.deepEqual(
          [(await endLeftovers(undefined, runId)) > 0, await isRunning(second)],
          [true, false],
          'by the mark of the run everything is found',
        );
        await agents[1].ended;
      } finally {
        [first, second].forEach(endAnyway);
      }
    });
  }

  it('is never looked up in a cgroup with another name, even if a journal names one', () => {
    const own = cgroupsOf('mine');
    assert.deepEqual(cgroupsOf('mine', '/sys/fs/cgroup/user.slice'), own);
    assert.deepEqual(cgroupsOf('mine', '/sys/fs/cgroup/ralph-fresh.other'), own);
    assert.deepEqual(cgroupsOf('mine', '/sys/fs/cgroup/../../ralph-fresh.mine'), own);
    assert.deepEqual(cgroupsOf('mine', '/tmp/ralph-fresh.mine'), own);
    assert.deepEqual(cgroupsOf('mine', '/tmp/ralph-fresh.mine/call'), own);
  });
});

describe('processes that an agent leaves behind', { skip: process.platform !== 'linux' }, () => {
  const runId = `leftovers-${process.pid}`;
  let home: TempDir;
  before(async () => {
    home = await tempDir('leftovers-');
  });
  after(() => home.remove());

  /** A process of its own session with the run's marker, once it runs. */
  async function start(t: TestContext): Promise<{ pid: number; exited: Promise<unknown> }> {
    const child = spawn(
      process.execPath,
      ['-e', 'setInterval(() => {}, 1000); console.log("runs");'],
      {
        detached: true,
        stdio: ['ignore', 'pipe', 'ignore'],
        env: { ...cleanEnv({ home: home.path }), [RUN_MARKER]: runId },
      },
    );
    t.after(() => child.kill('SIGKILL'));
    const exited = once(child, 'exit');
    await once(child.stdout, 'data');
    assert.ok(child.pid);
    return { pid: child.pid, exited };
  }

  it('are found if they are newer than the agent', async t => {
    const older = await start(t);
    const forks = forksSoFar();
    const agent = await start(t);
    const left = await start(t);
    const { startId } = await identify(agent.pid);
    assert.equal(await endLeftovers(agent.pid, runId, { forks, startId }), 2);
    await Promise.all([agent.exited, left.exited]);
    assert.equal(await isRunning(older.pid), true);
  });

  const highest = () => Number(readFileSync('/proc/sys/kernel/pid_max', 'utf8'));
  for (const [when, forksSince] of [
    ['more have started than there are pids', () => 2 ** 40],
    ['the pids above the agent may be used up', (pid: number) => (highest() - pid) / 2 + 1],
    ['the count of processes is another one now', () => -1_000_000],
  ] as const) {
    it(`are searched for among all processes when ${when}`, async t => {
      const left = await start(t);
      // A thread of it, and so no leader of a group. Its own number is lower, as if pids had begun again.
      const threads = readdirSync(`/proc/${left.pid}/task`).map(Number);
      const agent = Math.max(...threads);
      assert.ok(agent > left.pid);
      const forks = (forksSoFar() ?? 0) - forksSince(agent);
      assert.equal(await endLeftovers(agent, runId, { forks }), 1);
      await left.exited;
    });
  }

  it('are ended by their group if /proc belongs to another pid namespace', async t => {
    const unshare = ['unshare', '--map-root-user', '--fork', '--pid', '--kill-child'];
    if (!(await canRun([...unshare, 'true']))) {
      t.skip('No namespace can be made here.');
      return;
    }
    const module = pathToFileURL(
      path.resolve(import.meta.dirname, '../../src/orchestrator/process/processTree.ts'),
    );
    const script = `
      import { spawn } from 'node:child_process';
      import { once } from 'node:events';
      import { endLeftovers, forksSoFar } from '${module}';
      const forks = forksSoFar();
      const agent = spawn('sleep', ['1000'], { detached: true });
      const exited = once(agent, 'exit');
      console.log(JSON.stringify([process.pid, await endLeftovers(agent.pid, 'r', { forks }), (await exited)[1]]));
    `;
    const node = [process.execPath, '--disable-warning=ExperimentalWarning', '--input-type=module'];
    const [file = '', ...args] = [...unshare, ...node, '--eval', script];
    const { stdout } = await promisify(execFile)(file, args);
    assert.deepEqual(JSON.parse(stdout), [1, 1, 'SIGTERM']);
  });
});

async function canRun([file = '', ...args]: readonly string[]): Promise<boolean> {
  return promisify(execFile)(file, args).then(
    () => true,
    () => false,
  );
}

describe('a start refused by the system', { skip: process.platform === 'win32' }, () => {
  for (const [why, file, args] of [
    ['there is no such program', '/no/such/program', []],
    ['an argument is too long', process.execPath, ['x'.repeat(1 << 22)]],
  ] as const) {
    it(`is reported: ${why}`, async () => {
      await using home = await tempDir('refused-start-');
      const start = await startTree(
        { file, args: [...args] },
        { cwd: home.path, env: cleanEnv({ home: home.path }), killGraceMs: 1_000 },
      );
      assert.ok(!isStarted(start));
      assert.match(englishOf(start.problem), /ENOENT|E2BIG/);
    });
  }
});
