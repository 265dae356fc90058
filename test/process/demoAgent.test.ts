import assert from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cp, mkdtemp, readdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import os from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { promisify } from 'node:util';
import type { AgentEvent } from '../../src/orchestrator/agents/agent.ts';
import { demoAgent } from '../../src/orchestrator/agents/demo/demoAgent.ts';
import { inAll } from '../support/variants.ts';

const SAMPLE = path.resolve(import.meta.dirname, '../../sample');
const STORIES = ['US-001', 'US-002', 'US-003', 'US-004', 'US-005'];
const posixOnly = process.platform === 'win32' && 'Windows has no signals';

const execFileText = promisify(execFile);
type Result = Extract<AgentEvent, { type: 'result' }>;

interface Session {
  readonly events: readonly AgentEvent[];
  readonly result: Result | undefined;
  readonly sessionIds: ReadonlySet<string>;
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
}

interface RunOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly prompt?: string;
  readonly maxTurns?: number;
  readonly onEvent?: (event: AgentEvent, kill: (signal: NodeJS.Signals) => void) => void;
}

/** A temporary project, and an environment built from nothing. */
class Project {
  readonly folder: string;
  readonly env: Record<string, string>;

  constructor(folder: string, home: string) {
    this.folder = folder;
    this.env = {
      PATH: process.env['PATH'] ?? '',
      HOME: home,
      USERPROFILE: home,
      SystemRoot: process.env['SystemRoot'] ?? '',
      GIT_CONFIG_NOSYSTEM: '1',
    };
  }

  async git(...args: string[]): Promise<string> {
    const identity = ['-c', 'user.name=Somebody', '-c', 'user.email=somebody@example.invalid'];
    const { stdout } = await execFileText('git', [...identity, ...args], {
      cwd: this.folder,
      env: this.env,
    });
    return stdout.trimEnd();
  }

  /** A fresh process of the demo agent; every line it prints goes through the real decoder. */
  async run(story: string, options: RunOptions = {}): Promise<Session> {
    const agent = demoAgent();
    const command = await agent.command({
      cwd: this.folder,
      prompt:
        options.prompt ??
        `# Iteration 1\n\nDone: none of US-001 to US-005\n\nNext story: ${story}\n`,
      maxTurns: options.maxTurns ?? 100,
      env: { ...this.env, RALPH_FRESH_DEMO_PACE_MS: '0', ...options.env },
    });
    const child = spawn(command.file, command.args, {
      cwd: this.folder,
      env: command.env,
      stdio: ['pipe', 'pipe', 'inherit'],
    });
    child.stdin.end(command.stdin);
    const exited = once(child, 'exit');
    const decoder = agent.decoder();
    const events: AgentEvent[] = [];
    const sessionIds = new Set<string>();
    for await (const line of createInterface({ input: child.stdout })) {
      const { session_id }: { session_id: string } = JSON.parse(line);
      sessionIds.add(session_id);
      for (const event of decoder.decode(line)) {
        events.push(event);
        options.onEvent?.(event, signal => child.kill(signal));
      }
    }
    const [code, signal] = await exited;
    assert.deepEqual(
      events.filter(event => event.type === 'unknown'),
      [],
    );
    const result = events.find((event): event is Result => event.type === 'result');
    return { events, result, sessionIds, code, signal };
  }

  async done(): Promise<string[]> {
    const prd: { userStories: { id: string; passes: boolean }[] } = JSON.parse(
      await this.read('.omc/prd.json'),
    );
    return prd.userStories.filter(story => story.passes).map(story => story.id);
  }

  read(file: string): Promise<string> {
    return readFile(path.join(this.folder, file), 'utf8');
  }

  write(file: string, content: string): Promise<void> {
    return writeFile(path.join(this.folder, file), content);
  }

  /** Throws when the project's own tests fail. */
  async test(): Promise<void> {
    await execFileText(process.execPath, ['--test', '--test-isolation=none'], {
      cwd: this.folder,
      env: this.env,
    });
  }

  async subjects(): Promise<string[]> {
    return (await this.git('log', '--reverse', '--format=%s')).split('\n');
  }

  async snapshot(): Promise<Record<string, string>> {
    const entries = await readdir(this.folder, { recursive: true, withFileTypes: true });
    const files = entries
      .filter(entry => entry.isFile())
      .map(entry => path.relative(this.folder, path.join(entry.parentPath, entry.name)))
      .filter(file => !file.startsWith('.git'))
      .sort();
    const contents = await Promise.all(files.map(async file => [file, await this.read(file)]));
    return Object.fromEntries(contents);
  }
}

async function emptyProject(t: TestContext): Promise<Project> {
  const root = await realpath(await mkdtemp(path.join(os.tmpdir(), 'ralph-fresh-demo-')));
  t.after(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  const home = path.join(root, 'home');
  const folder = path.join(root, 'project');
  await cp(SAMPLE, folder, {
    recursive: true,
    filter: source => !source.includes(`.omc${path.sep}state`),
  });
  return new Project(folder, home);
}

async function sampleProject(t: TestContext): Promise<Project> {
  const project = await emptyProject(t);
  await project.git('init', '--quiet', '--initial-branch=main');
  await project.git('add', '--all');
  await project.git('commit', '--quiet', '--message=start');
  return project;
}

function texts(session: Session): string {
  return session.events.flatMap(event => (event.type === 'text' ? [event.text] : [])).join('\n');
}

function assertAsksHuman(session: Session, why: RegExp): void {
  assert.equal(session.code, 0);
  assert.equal(session.result?.isError, false);
  assert.match(session.result?.text ?? '', /^<promise>NEEDS_HUMAN: [^\n]+<\/promise>$/);
  assert.match(session.result?.text ?? '', why);
}

inAll(test)('five fresh processes finish the five stories', async t => {
  const project = await sampleProject(t);
  const sessionIds = new Set<string>();
  const sizes = new Set<number>();

  for (const [index, story] of STORIES.entries()) {
    const session = await project.run(story);

    assert.equal(session.code, 0);
    assert.equal(session.result?.isError, false);
    assert.equal(session.result?.costUsd, 0);
    assert.equal(session.sessionIds.size, 1);
    for (const id of session.sessionIds) sessionIds.add(id);
    assert.deepEqual(await project.done(), STORIES.slice(0, index + 1));
    assert.equal(await project.git('status', '--porcelain'), '');
    await project.test();
    const promised = session.result?.text.includes('<promise>TASK_COMPLETE</promise>');
    assert.equal(promised, story === 'US-005');
    const failedRuns = session.events.filter(event => event.type === 'toolResult' && event.isError);
    const runsBeforeCode = story === 'US-004' ? 2 : 1;
    assert.equal(failedRuns.length, runsBeforeCode, 'its tests fail without its code');
    sizes.add((await readdir(path.join(project.folder, 'test'))).length);
  }

  assert.equal(sessionIds.size, STORIES.length);
  assert.equal(sizes.size, STORIES.length, 'every story brings a test');
  const subjects = await project.subjects();
  assert.equal(subjects.filter(subject => subject.startsWith('feat: ')).length, 6);
  assert.equal(await project.git('log', '-1', '--format=%ae'), 'demo@ralph-fresh.invalid');
  const progress = await project.read('.omc/progress.txt');
  assert.equal(progress.match(/^## .* - US-/gm)?.length, STORIES.length);
  assert.match(progress, /## Codebase Patterns\n\n- Routes live in/);
});

test('the tick changes nothing else in the story file, and unrelated changes are not committed', async t => {
  const project = await sampleProject(t);
  const before = (await project.read('.omc/prd.json')).replaceAll('\n', '\r\n');
  await project.write('.omc/prd.json', before);
  await project.write('README.md', 'mine\n');
  await project.git('add', 'README.md');

  await project.run('US-001');

  const after = await project.read('.omc/prd.json');
  assert.equal(after, before.replace('"passes": false', '"passes": true'));
  assert.equal(await project.git('status', '--porcelain'), 'M  README.md');
});

test('a done story is left alone', async t => {
  const project = await sampleProject(t);
  await project.run('US-001');
  const before = await project.snapshot();
  const head = await project.git('rev-parse', 'HEAD');

  const session = await project.run('US-001');

  assert.equal(session.result?.isError, false);
  assert.match(session.result?.text ?? '', /already done/);
  assert.deepEqual(await project.snapshot(), before);
  assert.equal(await project.git('rev-parse', 'HEAD'), head);
});

const refusals: {
  readonly name: string;
  readonly why: RegExp;
  readonly story?: string;
  readonly prompt?: string;
  readonly prepare?: (project: Project) => Promise<void>;
}[] = [
  {
    name: 'another project',
    why: /another project/,
    prepare: project => project.write('package.json', '{ "name": "shop" }'),
  },
  {
    name: 'a folder without package.json',
    why: /another project/,
    prepare: project => rm(path.join(project.folder, 'package.json')),
  },
  {
    name: 'a folder without git',
    why: /not a git repository/,
    prepare: project => rm(path.join(project.folder, '.git'), { recursive: true }),
  },
  {
    name: "a sample inside another project's repository",
    why: /inside another git repository/,
    prepare: async project => {
      await rm(path.join(project.folder, '.git'), { recursive: true });
      await execFileText('git', ['init', '--quiet', path.dirname(project.folder)], {
        env: project.env,
      });
    },
  },
  {
    name: 'a story of the same id with another title',
    why: /no prepared work for US-001/,
    prepare: async project => {
      const prd = await project.read('.omc/prd.json');
      await project.write('.omc/prd.json', prd.replace('Create a todo', 'Sell a todo'));
    },
  },
  {
    name: 'a broken story file',
    why: /not a list of user stories/,
    prepare: project => project.write('.omc/prd.json', '{'),
  },
  { name: 'a prompt that names no story', why: /does not name/, prompt: 'Do something.' },
  {
    name: 'a prompt that names several stories alike',
    why: /does not name/,
    prompt: 'US-001 and US-002',
  },
  { name: 'a story before the one it builds on', why: /builds on earlier/, story: 'US-003' },
  {
    name: 'a file that somebody has changed',
    why: /src\/app\.ts is not as/,
    prepare: async project => {
      await project.write('src/app.ts', `${await project.read('src/app.ts')}// mine\n`);
    },
  },
];
for (const { name, why, story, prompt, prepare } of refusals) {
  test(`asks for a human and changes nothing: ${name}`, async t => {
    const project = await sampleProject(t);
    await prepare?.(project);
    const before = await project.snapshot();

    const session = await project.run(story ?? 'US-001', prompt === undefined ? {} : { prompt });

    assertAsksHuman(session, why);
    assert.deepEqual(await project.snapshot(), before);
  });
}

const prompts = [
  'Next story: **US-001** (Create a todo)\nLater: US-002 List all todos',
  '"nextStoryId": "US-001",\n"incompleteIds": ["US-001", "US-002"]',
  'Work on US-001: Create a todo. Not on US-002, and not on US-0010.',
  'Do US-001.',
];
for (const prompt of prompts) {
  test(`finds its story in ${JSON.stringify(prompt)}`, async t => {
    const project = await sampleProject(t);
    await project.write(
      '.omc/prd.json',
      (await project.read('.omc/prd.json')).replace('"passes": false', '"passes": true'),
    );

    const session = await project.run('', { prompt });

    assert.match(session.result?.text ?? '', /^US-001 is already done/);
  });
}

test('a failing test is reported as a failure; once it is fixed, the story is finished', async t => {
  const project = await sampleProject(t);
  await project.write('test/broken.test.ts', `throw new Error('the database is down');\n`);

  const failed = await project.run('US-001');

  assert.equal(failed.code, 1);
  assert.equal(failed.result?.isError, true);
  assert.match(failed.result?.text ?? '', /do not pass.*the database is down/s);
  assert.deepEqual(await project.done(), []);
  assert.deepEqual(await project.subjects(), ['start']);

  await rm(path.join(project.folder, 'test/broken.test.ts'));
  const session = await project.run('US-001');

  assert.equal(session.result?.isError, false);
  assert.deepEqual(await project.done(), ['US-001']);
  assert.equal(await project.git('status', '--porcelain'), '');
});

for (const refused of ['feat', 'chore']) {
  test(`a ${refused} commit that git refuses is reported as a failure, without a tick`, async t => {
    const project = await sampleProject(t);
    const hook = `#!/bin/sh\nif grep -q '^${refused}' "$1"; then echo 'not today' >&2; exit 1; fi\n`;
    await writeFile(path.join(project.folder, '.git/hooks/commit-msg'), hook, { mode: 0o755 });

    const session = await project.run('US-001');

    assert.equal(session.code, 1);
    assert.equal(session.result?.isError, true);
    assert.match(session.result?.text ?? '', /not today/);
    assert.deepEqual(await project.done(), []);
  });
}

test('stops by itself at the turn limit', async t => {
  const project = await sampleProject(t);

  const session = await project.run('US-001', { maxTurns: 3 });

  assert.equal(session.code, 1);
  assert.equal(session.result?.error?.kind, 'maxTurns');
  assert.deepEqual(await project.done(), []);
});

test('does the story only once when killed before the tick and restarted', async t => {
  const project = await sampleProject(t);
  await project.write('.git/hold', '');
  const hold = path.join(project.folder, '.git/hold');

  const killed = await project.run('US-001', {
    env: { RALPH_FRESH_DEMO_HOLD: hold },
    onEvent: (event, kill) => {
      if (event.type === 'text' && event.text.startsWith('I wait')) kill('SIGKILL');
    },
  });
  assert.equal(killed.result, undefined);
  assert.deepEqual(await project.done(), []);

  const session = await project.run('US-001');

  assert.equal(session.result?.isError, false);
  assert.match(texts(session), /are there already/);
  assert.deepEqual(await project.done(), ['US-001']);
  assert.deepEqual(await project.subjects(), [
    'start',
    'feat: create a todo with POST /todos',
    'chore: mark US-001 as done',
  ]);
  const progress = await project.read('.omc/progress.txt');
  assert.equal(progress.match(/ - US-001: /g)?.length, 1);
  assert.equal(progress.match(/^- Routes live in/gm)?.length, 1);
});

inAll(test)(
  'ends with the same files and commits when killed after a step and restarted',
  async t => {
    const reference = await sampleProject(t);
    const undisturbed = await reference.run('US-001');
    const steps = undisturbed.events.filter(event => event.type === 'toolResult').length;
    const withoutDate = (files: Record<string, string>) =>
      JSON.stringify(files).replace(/\d{4}-\d\d-\d\d \d\d:\d\d UTC/, 'DATE');

    // The test written, half of the code, before the commit, ticked but not committed.
    for (const killedAt of [5, 7, 9, steps - 1]) {
      const project = await sampleProject(t);
      let step = 0;
      await project.run('US-001', {
        // A pause, so that the process does not get far between the step and its end.
        env: { RALPH_FRESH_DEMO_PACE_MS: '50' },
        onEvent: (event, kill) => {
          if (event.type !== 'toolResult') return;
          step += 1;
          if (step === killedAt) kill('SIGKILL');
        },
      });

      const session = await project.run('US-001');

      assert.equal(session.result?.isError, false, session.result?.text);
      assert.equal(withoutDate(await project.snapshot()), withoutDate(await reference.snapshot()));
      const features = (await project.subjects()).filter(subject => subject.startsWith('feat'));
      assert.equal(features.length, 1, `killed after step ${killedAt}`);
    }
  },
);

inAll(test)(
  'makes the second commit of a story when killed between the two and restarted',
  async t => {
    const project = await sampleProject(t);
    for (const story of ['US-001', 'US-002', 'US-003']) {
      await project.run(story);
    }
    let writes = false;
    await project.run('US-004', {
      env: { RALPH_FRESH_DEMO_PACE_MS: '50' },
      onEvent: (event, kill) => {
        writes ||= event.type === 'tool' && event.gist === 'test/completeTodo.test.ts';
        // The test is written, and nothing of the code that it is for.
        if (writes && event.type === 'toolResult') kill('SIGKILL');
      },
    });
    assert.match(await project.git('status', '--porcelain'), /\?\? test\/completeTodo\.test\.ts/);

    const session = await project.run('US-004');

    assert.equal(session.result?.isError, false, session.result?.text);
    assert.deepEqual(await project.done(), ['US-001', 'US-002', 'US-003', 'US-004']);
    const subjects = await project.subjects();
    assert.equal(subjects.filter(subject => subject.startsWith('feat')).length, 5);
    assert.equal(await project.git('status', '--porcelain'), '');
  },
);

test('waits while the hold file exists, then ticks the story', async t => {
  const project = await sampleProject(t);
  await project.write('.git/hold', '');
  const hold = path.join(project.folder, '.git/hold');
  let doneWhileHeld: Promise<string[]> | undefined;

  const session = await project.run('US-001', {
    env: { RALPH_FRESH_DEMO_HOLD: hold },
    onEvent: event => {
      if (event.type === 'text' && event.text.startsWith('I wait')) {
        doneWhileHeld = project.done().finally(() => rm(hold));
      }
    },
  });

  assert.deepEqual(await doneWhileHeld, []);
  assert.equal(session.result?.isError, false);
  assert.deepEqual(await project.done(), ['US-001']);
});

test('SIGTERM also ends the running tests, without a result', { skip: posixOnly }, async t => {
  const project = await sampleProject(t);
  // Its end is seen by the socket that closes.
  const server = createServer().listen(0, '127.0.0.1');
  t.after(() => server.close());
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const hanging = `import { connect } from 'node:net';\nconnect(${port}, '127.0.0.1');\n`;
  await project.write('test/hanging.test.ts', hanging);
  const connected: Promise<Socket[]> = once(server, 'connection');
  let kill: ((signal: NodeJS.Signals) => void) | undefined;

  const running = project.run('US-001', {
    onEvent: (_event, killIt) => {
      kill = killIt;
    },
  });
  const [socket] = await connected;
  assert.ok(socket);
  const closed = once(socket.resume(), 'close');
  kill?.('SIGTERM');
  const session = await running;
  await closed;

  assert.equal(session.code, 143);
  assert.equal(session.result, undefined);
  assert.deepEqual(await project.done(), []);
});
