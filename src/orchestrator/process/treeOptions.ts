import type { Options } from 'execa';

interface TreeOptions {
  readonly cwd: string;
  /** All of it: nothing of this process's own is added. */
  readonly env: Readonly<Record<string, string>>;
  /** From SIGTERM to SIGKILL, in ms. */
  readonly killGraceMs: number;
}

/**
 * How execa starts what can print anything and start anything: it keeps nothing of what is printed, which is read from the
 * two pipes as bytes; it tells of every end by its result and never by an error; and it ends the tree as a whole.
 */
export function treeOptions({ cwd, env, killGraceMs }: TreeOptions) {
  return {
    cwd,
    env,
    extendEnv: false,
    stdout: 'pipe',
    stderr: 'pipe',
    buffer: false,
    encoding: 'buffer',
    reject: false,
    killDescendants: true,
    forceKillAfterDelay: killGraceMs,
    windowsHide: true,
  } as const satisfies Options;
}
