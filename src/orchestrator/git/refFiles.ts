import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { readPlainFile } from '../../base/plainFile.ts';

/** What the files of a git folder say about its commits. */
export interface RefFiles {
  /** Whether there is a HEAD as git writes it. */
  readonly hasHead: boolean;
  /** The commit of HEAD; absent if HEAD is on a branch without commits. */
  readonly head?: string;
  /**
   * The other tips by name, with `refs/` (`refs/heads/main`): branches, tags, and what only a log or a file of git
   * names (stashes, the HEAD of a linked work tree).
   */
  readonly tips: ReadonlyMap<string, string>;
}

/** A full SHA-1 or SHA-256 hash; all zeros mean that there is none. */
const HASH = /^(?!0+$)(?:[0-9a-f]{40}|[0-9a-f]{64})$/;
const MAX_REF_BYTES = 4_096;
const MAX_LIST_BYTES = 64 * 1024 * 1024;
/** A loop of symbolic refs ends. */
const MAX_STEPS = 5;
/** Commits of uncommitted work that git itself put aside during a rebase or a merge. */
const AUTOSTASHES = ['rebase-merge/autostash', 'rebase-apply/autostash', 'MERGE_AUTOSTASH'];

/**
 * Reads HEAD and refs from the files of a git folder. Does not run git there, because git would follow the folder's
 * own configuration, which anybody may have written. Links are not followed. Only for folders that store refs as
 * files.
 *
 * @param gitDir absolute path
 */
export async function readRefFiles(gitDir: string): Promise<RefFiles> {
  const tips = await packedRefs(gitDir);
  await addLooseRefs(gitDir, 'refs', tips);
  const head = await resolve(gitDir, 'HEAD', tips);
  for (const file of AUTOSTASHES) {
    await addHash(gitDir, file, `refs/autostash/${path.posix.dirname(file)}`, tips);
  }
  for (const name of await namesIn(path.join(gitDir, 'worktrees'))) {
    await addHash(gitDir, `worktrees/${name}/HEAD`, `refs/worktrees/${name}`, tips);
  }
  const stashes = await read(path.join(gitDir, 'logs', 'refs', 'stash'), MAX_LIST_BYTES);
  for (const [index, line] of stashes.split('\n').entries()) {
    const hash = line.split(' ', 2)[1] ?? '';
    if (HASH.test(hash)) {
      tips.set(`refs/stashes/${index}`, hash);
    }
  }
  const hasHead = /^(?:ref:\s*refs\/|[0-9a-f]{40})/.test(
    await read(path.join(gitDir, 'HEAD'), MAX_REF_BYTES),
  );
  return { hasHead, head, tips };
}

async function packedRefs(gitDir: string): Promise<Map<string, string>> {
  const text = await read(path.join(gitDir, 'packed-refs'), MAX_LIST_BYTES);
  const tips = new Map<string, string>();
  for (const line of text.split('\n')) {
    const space = line.indexOf(' ');
    const hash = line.slice(0, space);
    const name = line.slice(space + 1).trimEnd();
    if (HASH.test(hash) && name.startsWith('refs/')) {
      tips.set(name, hash);
    }
  }
  return tips;
}

async function addLooseRefs(
  gitDir: string,
  folder: string,
  tips: Map<string, string>,
): Promise<void> {
  const entries = await readdir(path.join(gitDir, folder), { withFileTypes: true }).catch(() => []);
  for (const entry of entries) {
    const name = `${folder}/${entry.name}`;
    if (entry.isDirectory()) {
      await addLooseRefs(gitDir, name, tips);
    } else if (entry.isFile() && !entry.name.endsWith('.lock')) {
      await addHash(gitDir, name, name, tips);
    }
  }
}

/** A symbolic ref is left out: the ref that it names is read itself. */
async function addHash(
  gitDir: string,
  file: string,
  name: string,
  tips: Map<string, string>,
): Promise<void> {
  const text = (await read(path.join(gitDir, file), MAX_REF_BYTES)).trim();
  if (HASH.test(text)) {
    tips.set(name, text);
  }
}

async function resolve(
  gitDir: string,
  name: string,
  tips: ReadonlyMap<string, string>,
): Promise<string | undefined> {
  let at = name;
  for (let step = 0; step < MAX_STEPS; step += 1) {
    const isSafe = at === 'HEAD' || /^refs\/(?!.*\.\.)/.test(at);
    const text = isSafe ? (await read(path.join(gitDir, at), MAX_REF_BYTES)).trim() : '';
    const [, next] = /^ref:\s*(\S.*)$/.exec(text) ?? [];
    if (next === undefined) {
      return HASH.test(text) ? text : tips.get(at);
    }
    at = next;
  }
  return undefined;
}

/** '' if there is no such plain file. */
async function read(file: string, maxBytes: number): Promise<string> {
  // What cannot be opened names no commit that anybody could read.
  const bytes = await readPlainFile(file, maxBytes).catch(() => undefined);
  return bytes?.toString('utf8') ?? '';
}

async function namesIn(folder: string): Promise<string[]> {
  const found = await lstat(folder).catch(() => undefined);
  return found?.isDirectory() === true ? readdir(folder).catch(() => []) : [];
}
