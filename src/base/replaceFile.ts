import { randomUUID } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  ftruncateSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { access, constants, type FileHandle, open, rm, stat } from 'node:fs/promises';

/**
 * In ms; an older temporary file is considered the leftover of a crashed process. Shorter than the patience of those
 * that wait for their turn: otherwise a killed loop would keep them from writing.
 */
const STALE_AFTER = 3_000;

/** No other file can get the name of one that is mounted by itself, as containers do it: only its content can change. */
const MOUNTED: ReadonlySet<string | undefined> = new Set(['EBUSY', 'EXDEV']);

/**
 * Replaces the content of a file atomically, keeping its mode and owner, if the file still contains `before`.
 * `path` must not be a link: the link would be replaced, not its target. A file that is mounted by itself is written in
 * place; until it is complete, a copy of `before` is next to it.
 *
 * The write-file-atomic library is not used because a change by another program would be lost if it happened between
 * our last check of the file and the rename; here both are one synchronous step. A lock would not protect against
 * agents and editors, which do not use it. Our own processes exclude each other through the name of the temporary file, which
 * only one of them can create, as git does with `index.lock`.
 *
 * @returns false if the content has changed, or another process of ours is writing the file; then it is not
 * modified
 */
export async function replaceFile(path: string, before: Buffer, after: Buffer): Promise<boolean> {
  // A rename would also replace a write-protected file.
  await access(path, constants.W_OK);
  const { mode, uid, gid } = await stat(path);
  const temporary = `${path}.ralph-fresh.tmp`;
  const file = await create(temporary, mode);
  if (file === undefined) {
    return false;
  }
  let isRenamed = false;
  try {
    let own: number;
    try {
      await file.writeFile(after);
      await keepOwner(file, mode, uid, gid);
      await file.sync();
      own = (await file.stat()).ino;
    } finally {
      await file.close();
    }
    // After a long sleep of the machine, the file with this name may be gone, or belong to another process.
    const now = statSync(temporary, { throwIfNoEntry: false });
    if (now?.ino !== own || !before.equals(readFileSync(path))) {
      return false;
    }
    isRenamed = isRenamedTo(path, temporary);
    if (!isRenamed) {
      overwrite(path, before, after, mode);
    }
    return true;
  } finally {
    if (!isRenamed) {
      await rm(temporary, { force: true });
    }
  }
}

/** @returns false if the file is mounted by itself */
function isRenamedTo(path: string, temporary: string): boolean {
  try {
    renameSync(temporary, path);
    return true;
  } catch (error) {
    // On Windows, a file that somebody reads is busy, too, and is soon free.
    if (process.platform !== 'win32' && MOUNTED.has((error as NodeJS.ErrnoException).code)) {
      return false;
    }
    throw error;
  }
}

/** After a crash in between, the copy is still there; a failure puts back what was there. */
function overwrite(path: string, before: Buffer, after: Buffer, mode: number): void {
  const kept = `${path}.${randomUUID()}.ralph-fresh.old`;
  try {
    write(kept, 'wx', before, mode);
  } catch (error) {
    rmSync(kept, { force: true });
    throw error;
  }
  try {
    write(path, 'r+', after);
  } catch (error) {
    write(path, 'r+', before);
    rmSync(kept);
    throw error;
  }
  rmSync(kept);
}

/** Cut to its new length only when all of it is written, so that a crash leaves as little damage as possible. */
function write(path: string, flags: 'wx' | 'r+', content: Buffer, mode?: number): void {
  const fd = openSync(path, flags, mode);
  try {
    for (let done = 0; done < content.length; ) {
      done += writeSync(fd, content, done, content.length - done, done);
    }
    ftruncateSync(fd, content.length);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

/** Creates the temporary file; `undefined` if another process has one. */
async function create(temporary: string, mode: number): Promise<FileHandle | undefined> {
  try {
    return await open(temporary, 'wx', mode);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw error;
    }
    const found = await stat(temporary).catch(() => undefined);
    // A time in the future is no sign of life either: the clock was set back.
    if (found !== undefined && Math.abs(Date.now() - found.mtimeMs) > STALE_AFTER) {
      await rm(temporary, { force: true });
    }
    return undefined;
  }
}

async function keepOwner(file: FileHandle, mode: number, uid: number, gid: number): Promise<void> {
  // Only root may change the owner, and some file systems support neither; the content matters more.
  await file.chown(uid, gid).catch(() => undefined);
  await file.chmod(mode).catch(() => undefined);
}
