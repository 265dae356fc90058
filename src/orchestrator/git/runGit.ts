import { type ChildProcess, execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { devNull } from 'node:os';
import { littleSpaceOn } from '../../base/diskSpace.ts';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { markerOf, newCallId } from '../process/processTree.ts';
import { gitDirOf } from './gitDir.ts';
import { answerInTime, answerWhole } from './gitPatience.ts';

/** Options before a git command that runs no hook. */
export const NO_HOOKS: readonly string[] = ['-c', `core.hooksPath=${devNull}`];

/** Options for running git. */
export interface GitOptions {
  /**
   * Whether the command changes the repository: then it has no time limit, a stop ends its hooks but lets it finish, and
   * it gets the committer from the environment. Otherwise it has a time limit.
   */
  readonly writes?: boolean;
  /** Standard input. */
  readonly input?: string | Buffer;
  /**
   * The whole environment; default: this process's own, without variables that point git to another repository.
   */
  readonly env?: Readonly<Record<string, string>>;
  /** Additional variables. */
  readonly moreEnv?: Readonly<Record<string, string>>;
  /** The process is ended if its output is larger. */
  readonly maxBytes?: number;
}

/** The result of a git process. */
export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** The output was larger than {@link GitOptions.maxBytes}. */
  readonly isCut: boolean;
}

/**
 * Runs git; all calls of git use this function.
 * @throws the system's error if git cannot be started
 * @throws {HumanError} if there is no such folder, or git was ended because of the time limit
 */
export async function gitResult(
  dir: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<GitResult> {
  const { env = gitEnv(), input = '', maxBytes, moreEnv, writes = false } = options;
  const call = newCallId();
  let child: ChildProcess | undefined;
  const answer = new Promise<GitResult>((resolve, reject) => {
    child = execFile(
      'git',
      [...args],
      {
        cwd: dir,
        env: { ...env, ...(writes && committer()), ...moreEnv, ...markerOf(call) },
        encoding: 'buffer',
        maxBuffer: maxBytes ?? Number.POSITIVE_INFINITY,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        const isCut = error?.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
        if (error && !isCut && typeof error.code !== 'number') {
          // The system says the same for a missing folder as for a missing program.
          reject(error.code === 'ENOENT' && !existsSync(dir) ? noFolder(dir) : error);
        } else {
          const code = error && !isCut ? Number(error.code) : 0;
          resolve({ code, stdout, stderr: stderr.toString('utf8'), isCut });
        }
      },
    );
    // If git ends before it has read everything, it reports the reason itself.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
  if (child === undefined) {
    return answer;
  }
  const git = { child, call, question: questionIn(args) };
  return writes ? answerWhole(git, answer) : answerInTime(git, answer);
}

function noFolder(dir: string): HumanError {
  return new HumanError(
    say('There is no folder {0}. If it was moved or renamed, move it back, and try again.', dir),
  );
}

/** What git says if an object is not there, or could not be fetched by a partial clone. */
const LACKS = /promisor remote|unable to read [0-9a-f]{40}|missing (?:blob|tree|commit)/;

function lacksObjects(dir: string, stderr: string): HumanError {
  const [reason = ''] = stderr.split('\n').filter(line => LACKS.test(line));
  return new HumanError(
    say(
      '{0} lacks a part of its history ({1}). If it is a partial clone, connect to its remote; otherwise clone it again. Then try again.',
      dir,
      shorten(reason.replace(/^fatal: /, ''), 200),
    ),
  );
}

/**
 * Runs a git query. A failure without a message is not an error.
 * @returns the output
 * @throws an error with git's own message, or the system's error if git could not be started
 * @throws {HumanError} if the repository is not whole
 */
export async function runGit(dir: string, ...args: readonly string[]): Promise<string> {
  const { code, stderr, stdout } = await gitResult(dir, args);
  if (code !== 0 && stderr.trim() !== '') {
    throw LACKS.test(stderr) ? lacksObjects(dir, stderr) : new Error(stderr);
  }
  return stdout.toString('utf8');
}

/**
 * Runs a git command that changes the repository.
 * @returns the output
 * @throws an error with git's own message
 */
export async function writeGit(
  dir: string,
  args: readonly string[],
  options: Pick<GitOptions, 'input' | 'moreEnv'> = {},
): Promise<string> {
  // Our refs are no business of a person's hooks (`reference-transaction`), and none must keep work from being safe.
  const all = args.includes('update-ref') ? [...NO_HOOKS, ...args] : args;
  return (await gitOutput(dir, all, { ...options, writes: true })).toString('utf8');
}

/**
 * Runs git like {@link gitResult}, where every code but 0 is an error.
 * @throws an error with git's own message
 */
export async function gitOutput(
  dir: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<Buffer> {
  const { code, stderr, stdout } = await gitResult(dir, args, options);
  if (code !== 0) {
    const [command] = questionIn(args).split(' ', 1);
    const words = stderr.trim() || `git ${command} ended with ${code}.`;
    throw options.writes === true ? new FailedWrite(words, littleSpaceFor(dir)) : new Error(words);
  }
  return stdout;
}

/** Git could not change a repository. */
export class FailedWrite extends Error {
  /** If the disk has almost no space left, which git does not always say. */
  readonly bytesFree: number | undefined;

  constructor(message: string, bytesFree: number | undefined) {
    super(message);
    this.bytesFree = bytesFree;
  }
}

/** @returns how many bytes are free, if it is too little for git to change a repository */
export function littleSpaceFor(dir: string): number | undefined {
  return littleSpaceOn(dir, gitDirOf(dir) ?? dir);
}

/** The command and its arguments, without our own options before it. */
function questionIn(args: readonly string[]): string {
  const at = args.findIndex((arg, i) => !arg.startsWith('-') && args[i - 1] !== '-c');
  return shorten(args.slice(Math.max(0, at)).join(' '), 100);
}

/** The environment without variables that point git to another repository, or start an editor or a pager. */
function gitEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(GIT_.*|PAGER|EDITOR|VISUAL|SSH_ASKPASS|PREFIX)$/i.test(name)
        ? []
        : [[name, value]],
    ),
  );
}

/** The committer, if it is set in the environment instead of the configuration. */
function committer(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)$/.test(name)
        ? [[name, value]]
        : [],
    ),
  );
}
