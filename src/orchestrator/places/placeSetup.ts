import { mkdir, open } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { shortenBlock } from '../../base/text.ts';
import { supervise } from '../process/supervise.ts';
import type { PlaceFiles } from './placeFiles.ts';

const SETUP_LIMIT_MS = 15 * 60_000;
const KILL_GRACE_MS = 5_000;
/** The end of the setup's output: for the message, and in all. */
const TAIL_CHARACTERS = 2_000;
const MAX_LOG_BYTES = 50 * 1024 * 1024;

/** The command that prepares a place (setting `placeSetup`). */
export interface Setup {
  /** A command line for the shell. */
  readonly command: string;
  /** The whole environment. */
  readonly env: Readonly<Record<string, string>>;
  /** Marks its processes. */
  readonly runId: string;
  /** In ms; default: 15 minutes. */
  readonly limitMs?: number;
  readonly signal: AbortSignal;
  /** Absolute path of the folder in which it runs. */
  readonly dir: string;
}

/**
 * Runs it, with its output in the place's log.
 * @throws {HumanError} if it fails
 * @throws the reason of the signal, if it was aborted
 */
export async function runSetup(setup: Setup, { setupLog }: PlaceFiles): Promise<void> {
  const { command, dir, env, limitMs = SETUP_LIMIT_MS, runId, signal } = setup;
  await mkdir(path.dirname(setupLog), { recursive: true });
  const log = await open(setupLog, 'w');
  let size = 0;
  let tail = '';
  const take = async (bytes: Buffer) => {
    tail = (tail + bytes.toString('utf8')).slice(-TAIL_CHARACTERS * 4);
    if (size < MAX_LOG_BYTES) {
      size += bytes.length;
      await log.write(bytes);
    }
  };
  try {
    const end = await supervise(
      // Two pipes would lose the order of the output; cmd.exe has no syntax for a whole line.
      { shellLine: process.platform === 'win32' ? command : `exec 2>&1; ${command}` },
      {
        ...{ cwd: dir, env, runId, signal, killSignal: new AbortController().signal },
        limits: { hardMs: limitMs, killGraceMs: KILL_GRACE_MS },
        ...{ onStarted: () => undefined, onStdout: take, onStderr: take },
      },
    );
    if (end.reason === 'cancelled') {
      signal.throwIfAborted();
    }
    if (end.reason !== 'exited' || end.exitCode !== 0) {
      const how =
        end.reason === 'hardLimit'
          ? say('it took longer than {0} s', Math.round(limitMs / 1000))
          : (end.problem ?? say('it ended with {0}', end.exitCode ?? end.signal ?? '?'));
      throw new HumanError(
        say(
          'The command that prepares the place of a lane (placeSetup: {0}) failed: {1}. Its output is in {2}. Correct the command or the project, and start again. {3}',
          command,
          typeof how === 'string' ? shortenBlock(how, TAIL_CHARACTERS) : how,
          setupLog,
          shortenBlock(tail.slice(-TAIL_CHARACTERS), TAIL_CHARACTERS),
        ),
      );
    }
  } catch (error) {
    signal.throwIfAborted();
    throw error instanceof HumanError
      ? error
      : new HumanError(
          say(
            'The command that prepares the place of a lane (placeSetup: {0}) could not run: {1}',
            command,
            messageOf(error),
          ),
          { cause: error },
        );
  } finally {
    await log.close();
  }
}
