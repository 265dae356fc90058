import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  writeFileSync,
} from 'node:fs';
import path from 'node:path';
import { once } from '../../base/once.ts';

const PREFIX = 'ralph-fresh.';
/** Agents may create cgroups below their own; deeper ones than this are ignored. */
const MAX_DEPTH = 8;

/**
 * A group of processes managed by the kernel (cgroup v2, Linux). Every process started by a member is a member,
 * even after `setsid` or with an empty environment. Available only if this process may create a group below its
 * own: on most desktops, for root, in a delegated container.
 */
export interface AgentCgroup {
  /** Its folder. */
  readonly dir: string;
}

/**
 * Creates an empty group below the run's group; `undefined` if the system does not allow it.
 * @param call name of the group; absent: the run's own group
 */
export function makeCgroup(runId: string, call?: string): AgentCgroup | undefined {
  const run = ownPlace(runId);
  if (run === undefined) {
    return undefined;
  }
  const dir = call === undefined ? run : path.join(run, call);
  try {
    mkdirSync(dir, { recursive: true });
    return { dir };
  } catch {
    // Read-only, or owned by somebody else: the usual case in containers and for a normal login.
    return undefined;
  }
}

/**
 * Moves a process that has just been started into the group, together with its descendants so far.
 * @returns whether it is a member now
 */
export function enterCgroup({ dir }: AgentCgroup, pid: number): boolean {
  try {
    writeFileSync(path.join(dir, 'cgroup.procs'), String(pid));
  } catch {
    removeCgroup(dir);
    return false;
  }
  childrenOf(pid).forEach(child => void enterCgroup({ dir }, child));
  return true;
}

/**
 * Folders of the groups that a run may have left: the one named by its journal, and the one that this process would
 * create.
 * @param recorded from a journal, so not trusted: only used if it is this run's group, or directly below one
 * @param call only the group of this call, as this process would create it
 */
export function cgroupsOf(runId: string, recorded?: string, call?: string): string[] {
  const own = ownPlace(runId);
  if (call !== undefined) {
    return own === undefined ? [] : [path.join(own, call)];
  }
  const name = nameOf(runId);
  const mount = mounted();
  const isPlain =
    recorded !== undefined &&
    mount !== undefined &&
    path.resolve(recorded) === recorded &&
    recorded.startsWith(`${mount.dir}/`);
  // The run's group contains the groups of all its calls.
  const named = isPlain
    ? [recorded, path.dirname(recorded)].filter(dir => path.basename(dir) === name)
    : [];
  return [...new Set([...(own === undefined ? [] : [own]), ...named])];
}

/** Pids of its members, including groups below it; none if there is no such group. */
export function cgroupPids(dir: string, depth = 0): number[] {
  return [
    ...textOf(path.join(dir, 'cgroup.procs'))
      .split('\n')
      .map(Number)
      // 0 is a process of another namespace.
      .filter(pid => pid > 0),
    ...(depth < MAX_DEPTH ? below(dir).flatMap(child => cgroupPids(child, depth + 1)) : []),
  ];
}

/** Kills all members at once, even if they fork faster than they can be listed (Linux 5.14 and later). */
export function killCgroup(dir: string): void {
  try {
    writeFileSync(path.join(dir, 'cgroup.kill'), '1', { flag: 'r+' });
  } catch {
    // Gone, or an older kernel: then each member is killed by its pid.
  }
}

/**
 * Removes an empty group; if it was the last one of a run, also the run's group.
 * @returns false if something in it is still ending, so that it can be tried again
 */
export function removeCgroup(dir: string): boolean {
  try {
    below(dir).forEach(child => void removeCgroup(child));
    rmdirSync(dir);
    if (path.basename(path.dirname(dir)).startsWith(PREFIX)) {
      rmdirSync(path.dirname(dir));
    }
  } catch (error) {
    // Never created, still has another agent's group below it, or contains a process that cannot be killed; a
    // leftover group costs nothing.
    return !existsSync(dir) || (error as NodeJS.ErrnoException).code !== 'EBUSY';
  }
  return true;
}

function nameOf(runId: string): string {
  return `${PREFIX}${runId.replaceAll(/[^\w.-]/g, '_')}`;
}

function ownPlace(runId: string): string | undefined {
  const mount = mounted();
  return mount && path.join(mount.own, nameOf(runId));
}

/** The mount point of cgroup v2, and this process's own group in it. */
const mounted = once((): { readonly dir: string; readonly own: string } | undefined => {
  if (process.platform !== 'linux') {
    return undefined;
  }
  const own = /^0::(\/.*)$/m.exec(textOf('/proc/self/cgroup'))?.[1];
  for (const line of textOf('/proc/self/mountinfo').split('\n')) {
    const [before = '', after = ''] = line.split(' - ');
    const [, , , root = '', dir = ''] = before.split(' ');
    if (after.startsWith('cgroup2 ') && own !== undefined) {
      const inside = root === '/' ? own : isBelow(own, root) ? own.slice(root.length) : undefined;
      if (inside !== undefined) {
        return { dir, own: path.join(dir, inside) };
      }
    }
  }
  return undefined;
});

function isBelow(place: string, root: string): boolean {
  return place === root || place.startsWith(`${root}/`);
}

function below(dir: string): string[] {
  try {
    return readdirSync(dir, { withFileTypes: true }).flatMap(entry =>
      entry.isDirectory() ? [path.join(dir, entry.name)] : [],
    );
  } catch {
    return [];
  }
}

function childrenOf(pid: number): number[] {
  return textOf(`/proc/${pid}/task/${pid}/children`)
    .split(' ')
    .flatMap(word => (word === '' ? [] : [Number(word)]));
}

/** The text of a file; empty if it does not exist or its process has ended. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
