import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import type { Readable } from 'node:stream';
import { onExit } from 'signal-exit';
import type { AgentCommand } from './agent.ts';
import { treeOptions } from './treeOptions.ts';

/** An agent's process, and all that it starts. */
export interface AgentTree {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** SIGTERM to all of it, which becomes a SIGKILL after the grace, or another signal. */
  kill(signal: NodeJS.Signals): void;
  /** To be called when nobody waits for it any more: no signal goes out after that. */
  letGo(): void;
}

export interface AgentTreeOptions {
  readonly cwd: string;
  readonly env: Readonly<Record<string, string>>;
  /** From SIGTERM to SIGKILL, in ms. */
  readonly killGraceMs: number;
}

/** Why it could not be started. */
export interface NotStarted {
  readonly problem: string;
}

/** Whether it could be started. */
export function isStarted(start: AgentTree | NotStarted): start is AgentTree {
  return 'pid' in start;
}

/**
 * Starts an agent as the root of a tree that can be ended as a whole. Ends it when this process ends in any way that can
 * be heard of.
 *
 * Every iteration waits for this, so that elsewhere than on Windows, whose shims and trees are a matter of their own, it
 * is Node's own `spawn`: the library takes half as long again (docs/adr/0028).
 */
export async function startAgentTree(
  command: AgentCommand,
  options: AgentTreeOptions,
): Promise<AgentTree | NotStarted> {
  return process.platform === 'win32' ? startOnWindows(command, options) : start(command, options);
}

/** Those that would be left behind if this process ended now. */
const living = new Set<AgentTree>();
let endsThemAtExit = false;

async function start(
  { args, file, stdin }: AgentCommand,
  { cwd, env, killGraceMs }: AgentTreeOptions,
): Promise<AgentTree | NotStarted> {
  let child: ReturnType<typeof spawnPiped>;
  try {
    child = spawnPiped(file, args, cwd, env);
  } catch (error) {
    // Such as an argument that is too long.
    return { problem: messageOf(error) };
  }
  const { pid } = child;
  if (pid === undefined) {
    const [error] = await once(child, 'error');
    return { problem: messageOf(error) };
  }
  // Told of by its exit; what it does not read of its prompt (EPIPE) is its own affair.
  child.on('error', () => undefined);
  child.stdin.on('error', () => undefined);
  child.stdin.end(stdin);
  let timer: NodeJS.Timeout | undefined;
  const signalAll = (signal: NodeJS.Signals) => {
    try {
      // It leads its own process group, which lives on as long as any of it does.
      process.kill(-pid, signal);
    } catch {
      child.kill(signal);
    }
  };
  const tree: AgentTree = {
    pid,
    child,
    stdout: child.stdout,
    stderr: child.stderr,
    kill(signal) {
      signalAll(signal);
      if (signal === 'SIGTERM') {
        timer ??= setTimeout(() => signalAll('SIGKILL'), killGraceMs);
      }
    },
    letGo() {
      clearTimeout(timer);
      living.delete(tree);
    },
  };
  living.add(tree);
  if (!endsThemAtExit) {
    endsThemAtExit = true;
    onExit(() => {
      for (const { kill } of living) {
        kill('SIGTERM');
      }
    });
  }
  return tree;
}

function spawnPiped(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
) {
  return spawn(file, [...args], { cwd, env, detached: true, stdio: 'pipe' });
}

async function startOnWindows(
  { args, file, stdin }: AgentCommand,
  { cwd, env, killGraceMs }: AgentTreeOptions,
): Promise<AgentTree | NotStarted> {
  const { execa } = await import('execa');
  const subprocess = execa(file, [...args], {
    ...treeOptions({ cwd, env, killGraceMs }),
    input: stdin,
  });
  const { pid } = subprocess;
  if (pid === undefined) {
    // Told by the promise alone; its streams never open.
    const failed = await subprocess;
    return { problem: failed.originalMessage ?? failed.shortMessage ?? '' };
  }
  return {
    pid,
    child: subprocess.nodeChildProcess,
    stdout: subprocess.stdout,
    stderr: subprocess.stderr,
    kill: signal => void subprocess.kill(signal),
    // The library ends its timers with the process.
    letGo: () => undefined,
  };
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
