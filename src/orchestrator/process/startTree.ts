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
import { say, type Words } from '../../base/say.ts';
import { openInput } from './openInput.ts';

/** A process and its descendants. */
export interface ProcessTree {
  readonly pid: number;
  readonly child: ChildProcess;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** Sends a signal to the whole tree; SIGTERM is followed by SIGKILL after the grace period. */
  kill(signal: NodeJS.Signals): void;
  /** Call it when nobody waits for the tree any more: no signal is sent after that. */
  letGo(): void;
}

/** A program with its arguments, or a command line for the platform's shell. */
export type ProcessCommand =
  | { readonly file: string; readonly args: readonly string[] }
  | { readonly shellLine: string };

export interface TreeOptions {
  readonly cwd: string;
  /** The whole environment: nothing of this process's own is added. */
  readonly env: Readonly<Record<string, string>>;
  /** From SIGTERM to SIGKILL, in ms. */
  readonly killGraceMs: number;
  /**
   * Standard input, and the absolute path of a file that contains it until the process starts; absent: no input.
   */
  readonly input?: { readonly text: string; readonly file: string };
}

/** Why it could not be started. */
export interface NotStarted {
  readonly problem: Words;
}

/** Whether it could be started. */
export function isStarted(start: ProcessTree | NotStarted): start is ProcessTree {
  return 'pid' in start;
}

/**
 * Starts a process as the root of a tree that can be ended as a whole. The tree is also ended when this process
 * ends, except by SIGKILL.
 *
 * Every iteration waits for this. Therefore it uses Node's own `spawn`, except on Windows, which needs special
 * handling of shims and trees: execa takes half as long again (docs/adr/0028).
 */
export async function startTree(
  command: ProcessCommand,
  options: TreeOptions,
): Promise<ProcessTree | NotStarted> {
  const { text = '', file = '' } = options.input ?? {};
  // Without input, standard input is at its end at once.
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

/** A file descriptor, or nothing. */
type Input = number | 'ignore';

/** The trees that would be left behind if this process ended now. */
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
    // For example, an argument that is too long.
    return { problem: messageOf(error) };
  }
  const { pid } = child;
  if (pid === undefined) {
    const [error] = await once(child, 'error');
    return { problem: problemOf(error, command, cwd) };
  }
  // Reported by its exit.
  child.on('error', () => undefined);
  let timer: NodeJS.Timeout | undefined;
  const signalAll = (signal: NodeJS.Signals) => {
    try {
      // It leads its own process group, which exists as long as any of its members.
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

/**
 * The system reports ENOENT for the program, even if its working directory or the interpreter in its first line is
 * missing.
 */
function problemOf(error: unknown, command: ProcessCommand, cwd: string): Words {
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
  // Its types do not allow file descriptors for standard input.
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
  // Output is not buffered but read from the two pipes as bytes; every end is reported as a result, never as an
  // error; and the tree is ended as a whole.
  const subprocess = execa(file, [...args], {
    ...{ cwd, env, extendEnv: false, shell: 'shellLine' in command },
    ...{ stdout: 'pipe', stderr: 'pipe', buffer: false, encoding: 'buffer', reject: false },
    ...{ killDescendants: true, forceKillAfterDelay: killGraceMs, windowsHide: true },
    // Its types only allow file descriptors up to 9.
    stdin: input as 'ignore' | 3,
  });
  const { pid } = subprocess;
  if (pid === undefined) {
    // Only the promise reports this; the streams are never opened.
    const failed = await subprocess;
    return { problem: failed.originalMessage ?? failed.shortMessage ?? '' };
  }
  return {
    pid,
    child: subprocess.nodeChildProcess,
    stdout: subprocess.stdout,
    stderr: subprocess.stderr,
    kill: signal => void subprocess.kill(signal),
    // The library clears its timers when the process ends.
    letGo: () => undefined,
  };
}
