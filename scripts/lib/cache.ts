import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lock } from 'proper-lockfile';

/** Takes one line for the person who waits. */
export type Say = (line: string) => void;

export interface Installable {
  /** Name of the folder in the cache, without the version. */
  readonly folder: string;
  /** What a person calls it: "the VS Code server". */
  readonly title: string;
  /** Said before the wait: "about 600 MB". */
  readonly size?: string;
}

const repoRoot = path.resolve(import.meta.dirname, '..', '..');
const staleTempMs = 60 * 60_000;

/** Everything that a script downloads or builds, but that nobody commits, is below this folder. */
export function cacheRoot(): string {
  return path.resolve(process.env['RALPH_FRESH_CACHE'] || path.join(repoRoot, '.cache'));
}

/** A line of the set-up; the mark tells these lines from those of the program being started. */
export function setUpLine(text: string): string {
  return `[set-up] ${text}`;
}

/**
 * Returns the folder of one version of something, and installs it before when it is not there yet.
 * The folder appears by a rename, so a half install never counts as one.
 */
export async function ensure(
  what: Installable,
  version: string,
  install: (folder: string) => Promise<void>,
  say: Say,
): Promise<string> {
  const root = cacheRoot();
  const target = path.join(root, `${what.folder}-${version}`);
  if (await exists(target)) {
    return target;
  }
  await mkdir(root, { recursive: true });
  // The lock only saves a second process the download; that no half install is ever seen is the rename's doing.
  // So a lock lost to a sleeping laptop is no reason to give up.
  const release = await lock(target, {
    realpath: false,
    stale: 30_000,
    retries: { retries: 1_800, factor: 1, minTimeout: 500, maxTimeout: 1_000 },
    onCompromised: () => {},
  });
  try {
    if (await exists(target)) {
      return target;
    }
    await removeAbandoned(root, what.folder);
    const temp = path.join(root, `.${what.folder}-${version}-${process.pid}`);
    const size = what.size === undefined ? 'once' : `${what.size}, once`;
    say(setUpLine(`Installing ${what.title} ${version} (${size}) …`));
    await rm(temp, { recursive: true, force: true });
    await mkdir(temp);
    try {
      await install(temp);
      await moveInto(temp, target);
    } finally {
      await rm(temp, { recursive: true, force: true, maxRetries: 5 });
    }
    return target;
  } finally {
    await release().catch(() => {});
  }
}

async function moveInto(temp: string, target: string): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    try {
      await rename(temp, target);
      return;
    } catch (error) {
      if (await exists(target)) {
        return;
      }
      // A virus scanner on Windows may still hold one of the new files.
      if (attempt === 10) {
        throw error;
      }
      await sleep(300);
    }
  }
}

/** Temporary folders whose process was killed; an install that is under way is younger. */
async function removeAbandoned(root: string, folder: string): Promise<void> {
  for (const name of await readdir(root)) {
    if (!name.startsWith(`.${folder}-`)) {
      continue;
    }
    const full = path.join(root, name);
    const info = await stat(full).catch(() => undefined);
    if (info !== undefined && Date.now() - info.mtimeMs > staleTempMs) {
      await rm(full, { recursive: true, force: true });
    }
  }
}

async function exists(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    () => false,
  );
}
