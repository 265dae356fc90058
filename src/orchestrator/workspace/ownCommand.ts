import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { errorsAsData } from '../../base/errorOutput.ts';
import { HumanError } from '../../base/humanError.ts';
import { say, type Words } from '../../base/say.ts';
import { errorIn } from './errorIn.ts';
import { giveSecrets, SECRETS_FLAG, withoutSecrets } from './startSecrets.ts';

/** Longest answer and longest words about an error, in UTF-16 units. */
const MAX_OUTPUT = 16 * 1024 * 1024;
const MAX_WORDS = 8_000;

export interface OwnCommand {
  /** `dist/cli.js`. */
  readonly program: string;
  /** Absolute path of the folder it works in. */
  readonly workspace: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
}

/** A command of ours at work. */
interface StartedCommand {
  readonly child: ChildProcess;
  /** Rejects with the child's error if it cannot be started. */
  readonly ended: Promise<{
    readonly code: number | null;
    readonly output: string;
    /** What it said about an error; empty if it said nothing. */
    readonly error: Words;
  }>;
}

/**
 * Starts our command line for a window, in a process of its own.
 * @param stdin `pipe` for a command that ends when it is closed
 */
export function startOwnCommand(
  { args, env, program, workspace }: OwnCommand,
  stdin: 'ignore' | 'pipe',
): StartedCommand {
  const child = spawn(process.execPath, [program, ...args], {
    cwd: workspace,
    stdio: [stdin, 'pipe', 'pipe'],
    windowsHide: true,
    // Inside VS Code process.execPath is Electron (or a remote server's Node, which ignores this).
    env: { ...env, ...errorsAsData, ELECTRON_RUN_AS_NODE: '1' },
  });
  let output = '';
  let words = '';
  child.stdout?.setEncoding('utf8').on('data', (text: string) => {
    output = output.length > MAX_OUTPUT ? output : output + text;
  });
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-MAX_WORDS);
  });
  const ended = once(child, 'close').then(([code]) => ({ code, output, error: errorIn(words) }));
  return { child, ended };
}

/**
 * Runs our command line for a window, in a process of its own.
 * @returns what it printed
 * @throws {HumanError} with its own message if it failed
 */
export async function runOwnCommand(
  command: OwnCommand & {
    /** It takes the tokens of GitHub on its standard input (ADR 0082). */
    readonly takesSecrets?: boolean;
  },
): Promise<string> {
  const { args, takesSecrets = false, workspace } = command;
  const { env, secrets } = takesSecrets
    ? withoutSecrets(command.env)
    : { env: command.env, secrets: undefined };
  const flags = [`--cwd=${workspace}`, ...(secrets === undefined ? [] : [SECRETS_FLAG])];
  const { child, ended } = startOwnCommand(
    { ...command, env, args: [...args, ...flags] },
    secrets === undefined ? 'ignore' : 'pipe',
  );
  if (secrets !== undefined && child.stdin !== null) {
    giveSecrets(child.stdin, secrets);
  }
  const { code, error, output } = await ended;
  if (code !== 0) {
    throw new HumanError(
      error ||
        say(
          'The command ended without an answer (exit code {0}). Try again; "ralph-fresh {1}" in a terminal shows more.',
          String(code),
          args[0] ?? '',
        ),
    );
  }
  return output;
}
