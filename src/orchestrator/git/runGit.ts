import { type ChildProcess, execFile } from 'node:child_process';
import { shorten } from '../../base/text.ts';
import { answerInTime } from './gitPatience.ts';

/** How git is called. */
export interface GitOptions {
  /**
   * It changes the repository: then it is never ended half way, and knows who commits also where the environment says it.
   * Else it is ended when it gives no answer.
   */
  readonly writes?: boolean;
  /** Its standard input. */
  readonly input?: string;
  /** The whole environment; without it this process's own, with nothing that would point git to another repository. */
  readonly env?: Readonly<Record<string, string>>;
  /** Variables that are set besides. */
  readonly moreEnv?: Readonly<Record<string, string>>;
  /** It is ended when it prints more. */
  readonly maxBytes?: number;
}

/** What a git process came to. */
export interface GitResult {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
  /** It printed more than {@link GitOptions.maxBytes}. */
  readonly isCut: boolean;
}

/**
 * Runs git, the one way that all of it goes.
 * @throws the system's error when git cannot be started
 * @throws {HumanError} when it was ended because it gave no answer
 */
export async function gitResult(
  dir: string,
  args: readonly string[],
  options: GitOptions = {},
): Promise<GitResult> {
  const { env = gitEnv(), input = '', maxBytes, moreEnv, writes = false } = options;
  let child: ChildProcess | undefined;
  const answer = new Promise<GitResult>((resolve, reject) => {
    child = execFile(
      'git',
      [...args],
      {
        cwd: dir,
        env: { ...env, ...(writes && committer()), ...moreEnv },
        encoding: 'buffer',
        maxBuffer: maxBytes ?? Number.POSITIVE_INFINITY,
        windowsHide: true,
      },
      (error, stdout, stderr) => {
        const isCut = error?.code === 'ERR_CHILD_PROCESS_STDIO_MAXBUFFER';
        if (error && !isCut && typeof error.code !== 'number') {
          reject(error);
        } else {
          const code = error && !isCut ? Number(error.code) : 0;
          resolve({ code, stdout, stderr: stderr.toString('utf8'), isCut });
        }
      },
    );
    // A git that ends before it has read all of it says why itself.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
  return writes || child === undefined ? answer : answerInTime(child, questionIn(args), answer);
}

/**
 * Asks git something. A git that fails without a word has nothing to say.
 * @returns what it printed
 * @throws an error with git's own words, or the system's when git could not be started
 */
export async function runGit(dir: string, ...args: readonly string[]): Promise<string> {
  const { code, stderr, stdout } = await gitResult(dir, args);
  if (code !== 0 && stderr.trim() !== '') {
    throw new Error(stderr);
  }
  return stdout.toString('utf8');
}

/**
 * Has git change something.
 * @returns what it printed
 * @throws an error with git's own words
 */
export async function writeGit(
  dir: string,
  args: readonly string[],
  options: Pick<GitOptions, 'input' | 'moreEnv'> = {},
): Promise<string> {
  const { code, stderr, stdout } = await gitResult(dir, args, { ...options, writes: true });
  if (code !== 0) {
    throw new Error(stderr.trim() || `git ${args[0]} ended with ${code}.`);
  }
  return stdout.toString('utf8');
}

/** The command and what follows it, without what comes before for our own sake. */
function questionIn(args: readonly string[]): string {
  const at = args.findIndex((arg, i) => !arg.startsWith('-') && args[i - 1] !== '-c');
  return shorten(args.slice(Math.max(0, at)).join(' '), 100);
}

/** Without what would point git to another repository, or start an editor or a pager. */
function gitEnv(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value === undefined || /^(GIT_.*|PAGER|EDITOR|VISUAL|SSH_ASKPASS|PREFIX)$/i.test(name)
        ? []
        : [[name, value]],
    ),
  );
}

/** Who commits, where the environment says it and not the configuration. */
function committer(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) =>
      value !== undefined && /^GIT_(?:AUTHOR|COMMITTER)_(?:NAME|EMAIL)$/.test(name)
        ? [[name, value]]
        : [],
    ),
  );
}
