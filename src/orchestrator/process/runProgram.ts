import type { Result } from 'execa';

/** In ms. If the output is still open this long after the program has ended, something it left behind holds it. */
const HELD_OUTPUT_MS = 2_000;

export interface ProgramOptions {
  readonly cwd?: string | undefined;
  /** The whole environment: nothing of this process's own is added. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeLimitMs: number;
  /** Ends the program. */
  readonly signal?: AbortSignal | undefined;
  /** Of its output, in bytes. */
  readonly maxBuffer?: number | undefined;
}

/** How a program ended, and what it printed. */
export type ProgramEnd = Result<{ readonly reject: false; readonly stdin: 'ignore' }>;

/**
 * Runs a program that answers and ends, without a shell. At the limit, it is ended with everything that it started.
 * What it leaves running, such as a server of its own, is left alone, but never waited for.
 */
export async function runProgram(
  file: string,
  args: readonly string[],
  { cwd, env, maxBuffer, signal, timeLimitMs }: ProgramOptions,
): Promise<ProgramEnd> {
  // Loaded on demand: a run does not need it.
  const { execa } = await import('execa');
  const program = execa(file, [...args], {
    cwd,
    env: { ...env },
    extendEnv: false,
    stdin: 'ignore',
    timeout: timeLimitMs,
    killDescendants: true,
    cancelSignal: signal,
    maxBuffer,
    reject: false,
    windowsHide: true,
  });
  let held: NodeJS.Timeout | undefined;
  program.nodeChildProcess.once('exit', () => {
    held = setTimeout(() => {
      program.stdout.destroy();
      program.stderr.destroy();
    }, HELD_OUTPUT_MS);
  });
  try {
    return await program;
  } finally {
    clearTimeout(held);
  }
}
