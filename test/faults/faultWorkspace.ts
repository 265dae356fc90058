import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { promisify } from 'node:util';
import { RunFiles } from '../../src/orchestrator/workspace/runFiles.ts';
import { cleanEnv, gitRepo, tempDir } from '../support/cleanEnv.ts';
import { fakeAgent, isAlive, RunningCli } from '../support/ralph.ts';

const run = promisify(execFile);

/** Options of test/support/fakeAgents/careful.mjs, in CAREFUL_AGENT. */
export interface Manner {
  readonly order: 'commitFirst' | 'tickFirst';
  readonly paceMs: number;
  readonly tornWrites: boolean;
  readonly outlives: boolean;
  readonly children: readonly string[];
}

/** One line that an agent wrote, or the check of a run with lanes. */
export interface AgentNote {
  readonly pid?: number;
  /** The check's process. */
  readonly check?: number;
  readonly left?: readonly (number | { readonly pid: number })[];
  readonly commit?: string;
  readonly did?: string;
  /** A story whose agent was told of a conflict. */
  readonly resolves?: string;
  /** A violation that the agent found. */
  readonly wrong?: string;
}

/** What git does with the story file. */
export type StoryFileKind = 'tracked' | 'untracked' | 'ignored';

/** A repository with stories, in which runs are killed. */
export class FaultWorkspace {
  /** Workspaces whose processes may still run. */
  static readonly open = new Set<FaultWorkspace>();
  readonly root: string;
  readonly folder: string;
  readonly files: RunFiles;
  readonly storyIds: readonly string[];
  private readonly notesDir: string;
  private readonly env: Record<string, string>;
  private readonly args: readonly string[];
  private readonly agent: string;
  private readonly started: RunningCli[] = [];

  private constructor(
    root: string,
    stories: number,
    {
      agent = 'careful',
      args,
      manner,
    }: { agent?: string; args: readonly string[]; manner: unknown },
  ) {
    this.root = root;
    this.folder = path.join(root, 'workspace');
    this.notesDir = path.join(root, 'notes');
    this.files = new RunFiles(this.folder);
    this.storyIds = storyIds(stories);
    this.args = args;
    this.agent = agent;
    const manners = { [`${agent.toUpperCase()}_AGENT`]: JSON.stringify(manner) };
    this.env = cleanEnv({
      home: path.join(root, 'home'),
      extra: { FAKE_AGENT_NOTES: this.notesDir, ...manners },
    });
  }

  static async create(
    stories: number,
    options: {
      readonly args: readonly string[];
      /** The fake agent; default: `careful`. */
      readonly agent?: string;
      /** Its options, in a variable with its name. */
      readonly manner: unknown;
      /** Requested by the story file. */
      readonly branch?: string;
      /** Default: `tracked`. */
      readonly storyFile?: StoryFileKind;
      /** Further files of the first commit, by path. */
      readonly files?: Readonly<Record<string, string>>;
    },
  ): Promise<FaultWorkspace> {
    const { path: root } = await tempDir('ralph-fresh-faults-');
    const workspace = new FaultWorkspace(root, stories, options);
    FaultWorkspace.open.add(workspace);
    for (const dir of [path.join(workspace.folder, '.omc'), workspace.notesDir]) {
      await mkdir(dir, { recursive: true });
    }
    const userStories = workspace.storyIds.map((id, i) => ({
      ...{ id, title: `Story ${id}`, acceptanceCriteria: ['It has three parts'] },
      ...{ priority: i + 1, passes: false, estimate: { points: i } },
    }));
    const file = {
      ...{ project: 'Faults', description: 'Survive', owner: 'somebody' },
      ...(options.branch === undefined ? {} : { branchName: options.branch }),
      userStories,
    };
    const { files = {}, storyFile = 'tracked' } = options;
    const ignore = storyFile === 'ignored' ? { '.gitignore': '.omc/\n' } : {};
    for (const [name, text] of Object.entries({ ...files, ...ignore })) {
      await writeFile(path.join(workspace.folder, name), text);
    }
    if (storyFile === 'untracked') {
      await gitRepo(workspace.folder);
    }
    await writeFile(workspace.storyFile, `${JSON.stringify(file, null, 2)}\n`);
    if (storyFile !== 'untracked') {
      await gitRepo(workspace.folder);
    }
    return workspace;
  }

  get storyFile(): string {
    return path.join(this.folder, '.omc', 'prd.json');
  }

  /** The same command each time. */
  start(): RunningCli {
    const cli = new RunningCli(
      ['run', '--agent', 'claude', '--claude-path', fakeAgent(this.agent), ...this.args],
      this.folder,
      this.env,
    );
    this.started.push(cli);
    return cli;
  }

  async git(...args: readonly string[]): Promise<string> {
    return (await run('git', [...args], { cwd: this.folder, env: this.env })).stdout;
  }

  notes(): AgentNote[] {
    const text = readOrNothing(path.join(this.notesDir, 'agents.jsonl'));
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    return whole.split('\n').flatMap(line => (line === '' ? [] : [JSON.parse(line) as AgentNote]));
  }

  /** The newest agent, if it runs. */
  livingAgent(): number | undefined {
    const pid = this.notes().findLast(note => note.pid !== undefined)?.pid;
    return pid !== undefined && this.isOurs(pid) ? pid : undefined;
  }

  /** All agents that run. */
  livingAgents(): number[] {
    return this.living(
      this.notes().flatMap(({ pid }) => pid ?? []),
      'fakeAgents',
    );
  }

  /** The checks that run. */
  livingChecks(): number[] {
    return this.living(
      this.notes().flatMap(({ check }) => check ?? []),
      'verify.mjs',
    );
  }

  /** Makes agents wait at their next step until {@link release}. */
  hold(): Promise<void> {
    return writeFile(path.join(this.notesDir, 'hold'), '');
  }

  release(): Promise<void> {
    return rm(path.join(this.notesDir, 'hold'), { force: true });
  }

  /** All living processes of this workspace's loops, agents and checks, and their descendants. */
  processes(): number[] {
    if (process.platform === 'linux') {
      return readdirSync('/proc')
        .map(Number)
        .filter(pid => Number.isInteger(pid) && this.isOurs(pid));
    }
    const noted = this.notes().flatMap(({ left = [], pid }) => [
      ...left.map(one => (typeof one === 'number' ? one : one.pid)),
      ...(pid ? [pid] : []),
    ]);
    return [...this.started.map(cli => cli.pid), ...noted].filter(isAlive);
  }

  endProcesses(): void {
    for (const pid of this.processes()) {
      kill(pid);
    }
  }

  /** Ends all its processes and removes it, unless it is kept for inspection. */
  async dispose(options: { readonly keep: boolean }): Promise<void> {
    this.endProcesses();
    await Promise.all(this.started.map(cli => cli.finished));
    FaultWorkspace.open.delete(this);
    if (!options.keep) {
      await rm(this.root, { recursive: true, force: true, maxRetries: 10 });
    }
  }

  /** @param name part of its command line: the pid may belong to a git of the loop by now */
  private living(pids: readonly number[], name: string): number[] {
    return [...new Set(pids)].filter(
      pid =>
        this.isOurs(pid) &&
        (process.platform !== 'linux' || readOrNothing(`/proc/${pid}/cmdline`).includes(name)),
    );
  }

  /** A pid may have been reused; our processes have our folder in their environment. */
  private isOurs(pid: number): boolean {
    return process.platform === 'linux'
      ? isAlive(pid) && readOrNothing(`/proc/${pid}/environ`).includes(this.notesDir)
      : isAlive(pid);
  }
}

export function storyIds(count: number): string[] {
  return Array.from({ length: count }, (_, i) => `US-${String(i + 1).padStart(3, '0')}`);
}

/** `kill -9`. @returns whether there was such a process */
export function kill(pid: number): boolean {
  try {
    return process.kill(pid, 'SIGKILL');
  } catch {
    return false;
  }
}

function readOrNothing(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
