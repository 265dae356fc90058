import {
  type ChildProcess,
  type ChildProcessByStdio,
  type StdioOptions,
  spawn,
} from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync } from 'node:fs';
import path from 'node:path';
import type { Readable } from 'node:stream';
import { onExit } from 'signal-exit';
import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { treeOptions } from '../process/treeOptions.ts';
import type { AgentCommand } from './agent.ts';
import { openInput } from './agentInput.ts';

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
  /** Absolute path for a file that holds its standard input until it starts; gone afterwards. */
  readonly inputFile: string;
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
  // Nothing to read is the end of it at once.
  const input = command.stdin === '' ? 'ignore' : openInput(command.stdin, options.inputFile);
  try {
    return await (process.platform === 'win32'
      ? startOnWindows(command, options, input)
      : start(command, options, input));
  } finally {
    if (input !== 'ignore') {
      closeSync(input);
    }
  }
}

/** A file that is open, or nothing. */
type Input = number | 'ignore';

/** Those that would be left behind if this process ended now. */
const living = new Set<AgentTree>();
let endsThemAtExit = false;

async function start(
  { args, file }: AgentCommand,
  { cwd, env, killGraceMs }: AgentTreeOptions,
  input: Input,
): Promise<AgentTree | NotStarted> {
  let child: ReturnType<typeof spawnPiped>;
  try {
    child = spawnPiped(file, args, cwd, env, input);
  } catch (error) {
    // Such as an argument that is too long.
    return { problem: messageOf(error) };
  }
  const { pid } = child;
  if (pid === undefined) {
    const [error] = await once(child, 'error');
    return { problem: withoutInterpreter(file, error) ?? messageOf(error) };
  }
  // Told of by its exit.
  child.on('error', () => undefined);
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

/** The system says that a script is not there when the program is not that its first line names. */
function withoutInterpreter(file: string, error: unknown): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  return code === 'ENOENT' && path.isAbsolute(file) && existsSync(file)
    ? say(
        'The program that the first line of {0} names (after "#!") was not found. Correct that line; its end must not be a Windows line break.',
        file,
      )
    : undefined;
}

function spawnPiped(
  file: string,
  args: readonly string[],
  cwd: string,
  env: Readonly<Record<string, string>>,
  input: Input,
) {
  const stdio = [input, 'pipe', 'pipe'] as const satisfies StdioOptions;
  const child = spawn(file, [...args], { cwd, env, detached: true, stdio: [...stdio] });
  // Its types do not know numbers of open files as standard input.
  return child as ChildProcessByStdio<null, Readable, Readable>;
}

async function startOnWindows(
  { args, file }: AgentCommand,
  { cwd, env, killGraceMs }: AgentTreeOptions,
  input: Input,
): Promise<AgentTree | NotStarted> {
  const { execa } = await import('execa');
  const subprocess = execa(file, [...args], {
    ...treeOptions({ cwd, env, killGraceMs }),
    // Its types know the numbers of open files up to 9 alone.
    stdin: input as 'ignore' | 3,
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
