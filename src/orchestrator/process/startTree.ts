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
import { openInput } from './openInput.ts';

/** A process, and all that it starts. */
export interface ProcessTree {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** SIGTERM to all of it, which becomes a SIGKILL after the grace, or another signal. */
  kill(signal: NodeJS.Signals): void;
  /** To be called when nobody waits for it any more: no signal goes out after that. */
  letGo(): void;
}

/** A program with its arguments, or a line for the platform's shell. */
export type ProcessCommand =
  | { readonly file: string; readonly args: readonly string[] }
  | { readonly shellLine: string };

export interface TreeOptions {
  readonly cwd: string;
  /** All of it: nothing of this process's own is added. */
  readonly env: Readonly<Record<string, string>>;
  /** From SIGTERM to SIGKILL, in ms. */
  readonly killGraceMs: number;
  /** Standard input, and an absolute path for a file that holds it until the process starts; absent: there is none. */
  readonly input?: { readonly text: string; readonly file: string };
}

/** Why it could not be started. */
export interface NotStarted {
  readonly problem: string;
}

/** Whether it could be started. */
export function isStarted(start: ProcessTree | NotStarted): start is ProcessTree {
  return 'pid' in start;
}

/**
 * Starts a process as the root of a tree that can be ended as a whole. Ends it when this process ends in any way that can
 * be heard of.
 *
 * Every iteration waits for this, so that elsewhere than on Windows, whose shims and trees are a matter of their own, it
 * is Node's own `spawn`: the library takes half as long again (docs/adr/0028).
 */
export async function startTree(
  command: ProcessCommand,
  options: TreeOptions,
): Promise<ProcessTree | NotStarted> {
  const { text = '', file = '' } = options.input ?? {};
  // Nothing to read is the end of it at once.
  const input = text === '' ? 'ignore' : openInput(text, file);
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
const living = new Set<ProcessTree>();
let endsThemAtExit = false;

async function start(
  command: ProcessCommand,
  { cwd, env, killGraceMs }: TreeOptions,
  input: Input,
): Promise<ProcessTree | NotStarted> {
  let child: ReturnType<typeof spawnPiped>;
  try {
    child = spawnPiped(command, cwd, env, input);
  } catch (error) {
    // Such as an argument that is too long.
    return { problem: messageOf(error) };
  }
  const { pid } = child;
  if (pid === undefined) {
    const [error] = await once(child, 'error');
    return { problem: problemOf(error, command, cwd) };
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
  const tree: ProcessTree = {
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

/** The system says that a program is not there when what is not there is its folder, or what its first line names. */
function problemOf(error: unknown, command: ProcessCommand, cwd: string): string {
  if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
    if (!existsSync(cwd)) {
      return say('There is no folder {0}.', cwd);
    }
    if ('file' in command && path.isAbsolute(command.file) && existsSync(command.file)) {
      return say(
        'The program that the first line of {0} names (after "#!") was not found. Correct that line; its end must not be a Windows line break.',
        command.file,
      );
    }
  }
  return messageOf(error);
}

function spawnPiped(
  command: ProcessCommand,
  cwd: string,
  env: Readonly<Record<string, string>>,
  input: Input,
) {
  const stdio = [input, 'pipe', 'pipe'] as const satisfies StdioOptions;
  const options = { cwd, env, detached: true, stdio: [...stdio] };
  const child =
    'file' in command
      ? spawn(command.file, [...command.args], options)
      : spawn(command.shellLine, { ...options, shell: true });
  // Its types do not know numbers of open files as standard input.
  return child as ChildProcessByStdio<null, Readable, Readable>;
}

async function startOnWindows(
  command: ProcessCommand,
  { cwd, env, killGraceMs }: TreeOptions,
  input: Input,
): Promise<ProcessTree | NotStarted> {
  const { execa } = await import('execa');
  const [file, args] =
    'file' in command ? [command.file, command.args] : [command.shellLine, [] as string[]];
  // It keeps nothing of what is printed, which is read from the two pipes as bytes; it tells of every end by its result
  // and never by an error; and it ends the tree as a whole.
  const subprocess = execa(file, [...args], {
    ...{ cwd, env, extendEnv: false, shell: 'shellLine' in command },
    ...{ stdout: 'pipe', stderr: 'pipe', buffer: false, encoding: 'buffer', reject: false },
    ...{ killDescendants: true, forceKillAfterDelay: killGraceMs, windowsHide: true },
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
