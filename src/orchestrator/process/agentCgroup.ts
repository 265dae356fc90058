import { mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { once } from '../../base/once.ts';

const PREFIX = 'ralph-fresh.';
/** Agents may make cgroups of their own below theirs; deeper ones than this are none of an agent's. */
const MAX_DEPTH = 8;

/**
 * A group of processes that the kernel keeps (cgroup v2, Linux). Whatever a member starts is a member, and neither `setsid` nor
 * an emptied environment changes that. There is one only where this process may make a group below its own: on
 * most desktops, for root, in a delegated container.
 */
export interface AgentCgroup {
  /** Its folder. */
  readonly dir: string;
}

/**
 * Makes a group below the one of the run, without a member; `undefined` where the system does not allow it.
 * @param call names it; absent: the run's own
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
    // Read-only, or somebody else's: the usual case in containers and for a plain log-in.
    return undefined;
  }
}

/**
 * Puts a process that has just been started into the group, and what it has started meanwhile.
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
 * Folders of the groups that a run may have left: the one that its journal names, and the one that this process would make.
 * @param recorded from a journal, and so from anybody: it counts only when it is this run's group, or directly below one
 * @param call only the group of this call, as this process makes it
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
  // The group of the run has those of all its calls.
  const named = isPlain
    ? [recorded, path.dirname(recorded)].filter(dir => path.basename(dir) === name)
    : [];
  return [...new Set([...(own === undefined ? [] : [own]), ...named])];
}

/** Its members and those of the groups below it; none when there is no such group. */
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

/** Ends all members at once, also those that start others faster than they can be listed (Linux 5.14 and later). */
export function killCgroup(dir: string): void {
  try {
    writeFileSync(path.join(dir, 'cgroup.kill'), '1', { flag: 'r+' });
  } catch {
    // Gone, or an older kernel: then each is ended by its pid.
  }
}

/** Removes a group that has no member any more; with the last one below a run, the run's. */
export function removeCgroup(dir: string): void {
  try {
    below(dir).forEach(removeCgroup);
    rmdirSync(dir);
    if (path.basename(path.dirname(dir)).startsWith(PREFIX)) {
      rmdirSync(path.dirname(dir));
    }
  } catch {
    // Never made, another agent's is left below it, or something in it cannot be ended; an empty group costs nothing.
  }
}

function nameOf(runId: string): string {
  return `${PREFIX}${runId.replaceAll(/[^\w.-]/g, '_')}`;
}

function ownPlace(runId: string): string | undefined {
  const mount = mounted();
  return mount && path.join(mount.own, nameOf(runId));
}

/** Where cgroup v2 is, and the group of this process in it. */
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

/** Of what is not there, or ended meanwhile: nothing. */
function textOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
