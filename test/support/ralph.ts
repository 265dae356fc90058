import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { parseRunEvent, type RunEvent } from '../../src/orchestrator/journal/events.ts';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { builtCli } from './builtCli.ts';
import { cleanEnv, gitRepo, tempDir } from './cleanEnv.ts';

const CLI = builtCli();
const LOOK_MS = 25;
/** If an event has not come after this time, it never will; a passing test never waits that long. */
const NEVER_MS = 300_000;

export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** No test waits for the servers of an API that does not exist. */
const FAKE = ['--agent', 'claude', '--retry-delay', '0.01'];
/** Indexing the code of a repository takes a fifth of the processor time of a short run. */
const WITHOUT_POINTERS = ['--context-tokens', '0'];

/** One line that a fake agent wrote for the test. */
export interface Note {
  readonly pid?: number;
  readonly story?: string;
  readonly fake?: string;
  readonly args?: readonly string[];
  readonly did?: string;
  readonly heard?: string;
  readonly left?: readonly number[];
}

export interface Finished {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface PrdStory {
  readonly id: string;
  readonly title: string;
  readonly passes: boolean;
  readonly [key: string]: unknown;
}

/** The path of an executable that replaces `claude`. */
export function fakeAgent(name: string): string {
  return path.join(import.meta.dirname, './fakeAgents', `${name}.mjs`);
}

/** Open stories US-001, US-002, … */
export function openStories(count: number): PrdStory[] {
  return Array.from({ length: count }, (_, i) => ({
    id: `US-00${i + 1}`,
    title: `Story number ${i + 1}`,
    acceptanceCriteria: ['It works'],
    priority: i + 1,
    passes: false,
  }));
}

/** Polls until `look` returns a value, so it needs no event. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  neverMs = NEVER_MS,
): Promise<T> {
  for (const end = Date.now() + neverMs; ; ) {
    const found = await look();
    if (found !== undefined && found !== false) {
      return found;
    }
    if (Date.now() > end) {
      throw new Error(`This never came: ${what}`);
    }
    await delay(LOOK_MS);
  }
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return !/^[ZX]/.test(stat.slice(stat.lastIndexOf(')') + 2));
  } catch {
    // No /proc on this system; or the process ended just now, which the next check finds.
    return !existsSync('/proc/self/stat');
  }
}

/** A running `ralph-fresh`, as built. */
export class RunningCli {
  readonly child: ChildProcess;
  readonly finished: Promise<Finished>;
  private out = '';
  private err = '';

  constructor(args: readonly string[], cwd: string, env: Record<string, string>) {
    const child = spawn(
      process.execPath,
      ['--disable-warning=ExperimentalWarning', CLI, ...args],
      // Its own process group, so that signals from a terminal to the test do not reach it.
      { cwd, env, stdio: ['ignore', 'pipe', 'pipe'], detached: true },
    );
    this.child = child;
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      this.out += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      this.err += text;
    });
    this.finished = once(child, 'close').then(([code, signal]) => ({
      code,
      signal,
      stdout: this.out,
      stderr: this.err,
    }));
  }

  get pid(): number {
    return this.child.pid ?? -1;
  }

  get stdout(): string {
    return this.out;
  }

  get stderr(): string {
    return this.err;
  }
}

/** A step of test/support/fakeAgents/scripted.mjs. */
export type Step = string | Readonly<Record<string, unknown>>;

export interface WorkspaceOptions {
  /** Stories of `.omc/prd.json`; `undefined` means no such file. */
  readonly stories?: readonly PrdStory[] | undefined;
  /** The whole text of `.omc/prd.json`, instead of `stories`. */
  readonly prd?: string;
  /** Whether it is a repository; true by default. */
  readonly git?: boolean;
  /** Whether prompts tell where to look in the code, as they do for people; false by default. */
  readonly hasPointers?: boolean;
}

/** A git in front of the real one, in an environment that uses it; `before` is shell code with its arguments in $*. */
export async function gitThat(
  workspace: Workspace,
  before: string,
): Promise<Record<string, string>> {
  const bin = path.join(workspace.notesDir, 'bin');
  await mkdir(bin, { recursive: true });
  const script = `#!/bin/sh\nPATH=\${PATH#*:}\n${before}\nexec git "$@"\n`;
  await writeFile(path.join(bin, 'git'), script);
  await chmod(path.join(bin, 'git'), 0o755);
  return { PATH: `${bin}:${workspace.env['PATH']}` };
}

/** A folder to run in, with a home and a folder for notes next to it, and an environment created from scratch. */
export class Workspace {
  readonly folder: string;
  readonly notesDir: string;
  readonly files: RunFiles;
  readonly env: Record<string, string>;
  private readonly started: RunningCli[] = [];
  /** Flags of `run` with a fake agent. */
  private readonly runFlags: readonly string[];

  private constructor(root: string, hasPointers: boolean) {
    this.runFlags = [...FAKE, ...(hasPointers ? [] : WITHOUT_POINTERS)];
    this.folder = path.join(root, 'workspace');
    this.notesDir = path.join(root, 'notes');
    this.files = new RunFiles(this.folder);
    this.env = cleanEnv({
      home: path.join(root, 'home'),
      extra: { FAKE_AGENT_NOTES: this.notesDir },
    });
  }

  /** Creates one that is removed after the test, with every process that it started. */
  static async create(
    t: Pick<TestContext, 'after'>,
    options: WorkspaceOptions = {},
  ): Promise<Workspace> {
    const root = await tempDir('ralph-fresh-loop-');
    const workspace = new Workspace(root.path, options.hasPointers ?? false);
    t.after(async () => {
      await workspace.endProcesses();
      await root.remove();
    });
    await Promise.all(
      [path.join(workspace.folder, '.omc'), workspace.notesDir, path.join(root.path, 'home')].map(
        dir => mkdir(dir, { recursive: true }),
      ),
    );
    const stories = 'stories' in options ? options.stories : openStories(2);
    const prd =
      options.prd ??
      (stories &&
        `${JSON.stringify({ project: 'Test', description: 'Make it work', userStories: stories }, null, 2)}\n`);
    if (prd !== undefined) {
      await workspace.write('.omc/prd.json', prd);
    }
    if (options.git !== false) {
      await gitRepo(workspace.folder);
    }
    return workspace;
  }

  /** Starts `ralph-fresh` in the workspace. */
  cli(...args: readonly string[]): RunningCli {
    return this.cliWith({}, ...args);
  }

  cliWith(extra: Readonly<Record<string, string>>, ...args: readonly string[]): RunningCli {
    const running = new RunningCli(args, this.folder, { ...this.env, ...extra });
    this.started.push(running);
    return running;
  }

  /** Starts a run with a fake agent. */
  run(fake: string, ...args: readonly string[]): RunningCli {
    return this.cli('run', ...this.runFlags, '--claude-path', fakeAgent(fake), ...args);
  }

  /** Starts a run with a fake agent that follows a script, call by call. */
  script(calls: readonly (readonly Step[])[], ...args: readonly string[]): RunningCli {
    return this.cliWith(
      { FAKE_AGENT_SCRIPT: JSON.stringify(calls) },
      ...['run', ...this.runFlags, '--claude-path', fakeAgent('scripted'), ...args],
    );
  }

  /** Like {@link script}, with the calls of each story, which may be made in parallel; of `review`, the reviewer's. */
  scriptOf(
    calls: Readonly<Record<string, readonly (readonly Step[])[]>>,
    ...args: readonly string[]
  ): RunningCli {
    return this.cliWith(
      { FAKE_AGENT_SCRIPT: JSON.stringify(calls) },
      ...['run', ...this.runFlags, '--claude-path', fakeAgent('scripted'), ...args],
    );
  }

  /** What git prints in the workspace, without the line break at the end. */
  git(...args: readonly string[]): string {
    return execFileSync('git', [...args], {
      cwd: this.folder,
      env: this.env,
      encoding: 'utf8',
    }).trimEnd();
  }

  /** The prompt of an iteration of the newest run. */
  async prompt(iteration: number): Promise<string> {
    const runId = (await this.runIds()).at(-1) ?? '';
    return readFile(path.join(this.files.iterationDir(runId, iteration), 'prompt.md'), 'utf8');
  }

  write(file: string, text: string): Promise<void> {
    return writeFile(path.join(this.folder, file), text);
  }

  read(file: string): Promise<string> {
    return readFile(path.join(this.folder, file), 'utf8');
  }

  /** Lets waiting fakes continue. */
  note(name: string): Promise<void> {
    return writeFile(path.join(this.notesDir, name), '');
  }

  /** All notes of the fakes so far. */
  async notes(): Promise<Note[]> {
    let text = '';
    try {
      text = await readFile(path.join(this.notesDir, 'agents.jsonl'), 'utf8');
    } catch {
      // No agent has started yet.
    }
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return whole.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as Note]));
  }

  /** Agents in the order of their start. */
  async agents(): Promise<number[]> {
    return (await this.notes()).flatMap(({ pid }) => pid ?? []);
  }

  /** Waits for the n-th agent (1-based). @returns its pid */
  agent(n = 1): Promise<number> {
    return until(`agent ${n}`, async () => (await this.agents())[n - 1]);
  }

  /** Waits for a whole file: git writes it in place when work lands. */
  stories(): Promise<PrdStory[]> {
    return until('a whole prd.json', async () => {
      try {
        const prd: { userStories: PrdStory[] } = JSON.parse(await this.read('.omc/prd.json'));
        return prd.userStories;
      } catch (error) {
        if (error instanceof SyntaxError || (error as NodeJS.ErrnoException).code === 'ENOENT') {
          return;
        }
        throw error;
      }
    });
  }

  /** Ids of the stories that are done in the file. */
  async done(): Promise<string[]> {
    return (await this.stories()).filter(({ passes }) => passes).map(({ id }) => id);
  }

  async runIds(): Promise<string[]> {
    try {
      return (await readdir(this.files.runsDir)).sort();
    } catch {
      return [];
    }
  }

  /** All lines of a run's journal; fails if one of them is not an event. */
  async journal(runId?: string): Promise<RunEvent[]> {
    const id = runId ?? (await this.runIds()).at(-1);
    if (id === undefined) {
      return [];
    }
    let text: string;
    try {
      text = await readFile(this.files.journalFile(id), 'utf8');
    } catch {
      return [];
    }
    const lines = text.slice(0, text.lastIndexOf('\n') + 1).split('\n');
    return lines.slice(0, -1).map(line => {
      const event = parseRunEvent(line);
      if (event === undefined) {
        throw new Error(`No event: ${line.slice(0, 500)}`);
      }
      return event;
    });
  }

  async events<T extends RunEvent['type']>(type: T, runId?: string): Promise<EventOf<T>[]> {
    return (await this.journal(runId)).filter((event): event is EventOf<T> => event.type === type);
  }

  /** Waits until the newest run's journal has an event of this type. */
  event<T extends RunEvent['type']>(type: T): Promise<EventOf<T>> {
    return until(type, async () => (await this.events(type))[0]);
  }

  /** Ends all processes of this test that are still running: command lines, loops, fakes, and their leftovers. */
  private async endProcesses(): Promise<void> {
    const loops: number[] = [];
    for (const runId of await this.runIds()) {
      const events = await this.journal(runId).catch(() => []);
      loops.push(...events.flatMap(event => (event.type === 'run.started' ? [event.pid] : [])));
    }
    const notes = await this.notes().catch(() => []);
    const fakes = notes.flatMap(({ pid, left }) => [...(pid ? [pid] : []), ...(left ?? [])]);
    const own = this.started.filter(
      ({ child }) => child.exitCode === null && child.signalCode === null,
    );
    for (const pid of [
      ...own.map(cli => cli.pid),
      ...[...loops, ...fakes].filter(pid => isOurs(pid)),
    ]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended by itself.
      }
    }
    await Promise.all(own.map(cli => cli.finished));
  }
}

/** A recorded pid may have been reused; our processes have our files on their command line. */
function isOurs(pid: number): boolean {
  try {
    return /fakeAgents|cli\.[tj]s/.test(readFileSync(`/proc/${pid}/cmdline`, 'utf8'));
  } catch {
    return !existsSync('/proc/self/stat') && isAlive(pid);
  }
}
