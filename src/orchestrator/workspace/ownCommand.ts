import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { errorsAsData } from '../../base/errorOutput.ts';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { errorIn } from './errorIn.ts';

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

/**
 * Runs our command line for a window, in a process of its own.
 * @returns what it printed
 * @throws {HumanError} with its own message if it failed
 */
export async function runOwnCommand({
  args,
  env,
  program,
  workspace,
}: OwnCommand): Promise<string> {
  const child = spawn(process.execPath, [program, ...args, `--cwd=${workspace}`], {
    cwd: workspace,
    stdio: ['ignore', 'pipe', 'pipe'],
    windowsHide: true,
    // Inside VS Code process.execPath is Electron (or a remote server's Node, which ignores this).
    env: { ...env, ...errorsAsData, ELECTRON_RUN_AS_NODE: '1' },
  });
  let output = '';
  let words = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output = output.length > MAX_OUTPUT ? output : output + text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    words = (words + text).slice(-MAX_WORDS);
  });
  // Rejects with the child's error if it cannot be started.
  const [code] = await once(child, 'close');
  if (code !== 0) {
    throw new HumanError(
      errorIn(words) ||
        say(
          'The command ended without an answer (exit code {0}). Try again; "ralph-fresh {1}" in a terminal shows more.',
          code,
          args[0] ?? '',
        ),
    );
  }
  return output;
}
