import { spawn } from 'node:child_process';

const KILL_GRACE_MS = 2000;

/** Set by a test runner, an editor or a git hook, and wrong for the commands run here. */
const FOREIGN_VARIABLES = [
  'NODE_TEST_CONTEXT',
  'NODE_OPTIONS',
  'NODE_V8_COVERAGE',
  'NODE_CHANNEL_FD',
  'NODE_CHANNEL_SERIALIZATION_MODE',
  'NODE_UNIQUE_ID',
  'FORCE_COLOR',
  'GIT_DIR',
  'GIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_PREFIX',
];

export interface Exit {
  /** `undefined` if the program could not be started or was ended by a signal. */
  readonly code: number | undefined;
  /** Whether the program was found. */
  readonly started: boolean;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs the commands of a playback; aborting the signal ends the one that is running. */
export class ChildProcesses {
  readonly #cwd: string;
  readonly #signal: AbortSignal;
  readonly #env: NodeJS.ProcessEnv;

  constructor(cwd: string, env: NodeJS.ProcessEnv, signal: AbortSignal) {
    this.#cwd = cwd;
    this.#signal = signal;
    this.#env = { ...env, NO_COLOR: '1', GIT_TERMINAL_PROMPT: '0' };
    for (const name of FOREIGN_VARIABLES) {
      delete this.#env[name];
    }
    if (process.versions['electron'] !== undefined) {
      // Otherwise the editor's executable would open a window instead of running a script.
      this.#env['ELECTRON_RUN_AS_NODE'] = '1';
    }
  }

  /** Resolves for every exit code. @throws the abort reason, after the program has ended */
  async run(file: string, args: readonly string[]): Promise<Exit> {
    this.#signal.throwIfAborted();
    const child = spawn(file, args, {
      cwd: this.#cwd,
      env: this.#env,
      stdio: ['ignore', 'pipe', 'pipe'],
      windowsHide: true,
    });
    let killTimer: NodeJS.Timeout | undefined;
    const end = () => {
      child.kill();
      killTimer = setTimeout(() => child.kill('SIGKILL'), KILL_GRACE_MS);
    };
    this.#signal.addEventListener('abort', end, { once: true });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
      stdout += chunk;
    });
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => {
      stderr += chunk;
    });
    const exit = await new Promise<Pick<Exit, 'code' | 'started'>>(resolve => {
      child.on('error', error => {
        stderr += error.message;
        // An error without a pid is a failed start; after any other error the exit follows.
        if (child.pid === undefined) {
          resolve({ code: undefined, started: false });
        }
      });
      child.on('close', code => resolve({ code: code ?? undefined, started: true }));
      // A grandchild may keep the pipes open; a stop does not wait for it.
      child.on('exit', () => {
        if (this.#signal.aborted) {
          resolve({ code: undefined, started: true });
        }
      });
    });
    clearTimeout(killTimer);
    this.#signal.removeEventListener('abort', end);
    this.#signal.throwIfAborted();
    return { ...exit, stdout, stderr };
  }
}
