import { mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { lock } from 'proper-lockfile';

/** Prints one line for the user who waits. */
export type Say = (line: string) => void;

export interface Installable {
  /** Name of the folder in the cache, without the version. */
  readonly folder: string;
  /** Its name in messages: "the VS Code server". */
  readonly title: string;
  /** Printed before the wait: "about 600 MB". */
  readonly size?: string;
}

const repoRoot = path.resolve(import.meta.dirname, '..', '..');
const staleTempMs = 60 * 60_000;

/** The folder of everything that a script downloads or builds and that is not committed. */
export function cacheRoot(): string {
  return path.resolve(process.env['RALPH_FRESH_CACHE'] || path.join(repoRoot, '.cache'));
}

/** A line about the setup; a prefix distinguishes it from the output of the program being started. */
export function setUpLine(text: string): string {
  return `[set-up] ${text}`;
}

/**
 * Returns the folder of one version of something, and installs it first if it is missing. The folder is created by a
 * rename, so that an incomplete install is never used.
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
  // The lock only saves a second process the download; the rename already prevents incomplete installs. So a lock that
  // was lost to a sleeping laptop is no reason to fail.
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
      // A virus scanner on Windows may still have one of the new files open.
      if (attempt === 10) {
        throw error;
      }
      await sleep(300);
    }
  }
}

/** Removes temporary folders of killed processes; those of running installs are younger. */
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
