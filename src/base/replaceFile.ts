import { readFileSync, renameSync, statSync } from 'node:fs';
import { access, constants, type FileHandle, open, rm, stat } from 'node:fs/promises';

/**
 * In ms; an older temporary file is considered the leftover of a crashed process. Shorter than the patience of those
 * that wait for their turn: otherwise a killed loop would keep them from writing.
 */
const STALE_AFTER = 3_000;

/**
 * Replaces the content of a file atomically, keeping its mode and owner, if the file still contains `before`.
 * `path` must not be a link: the link would be replaced, not its target.
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
  let isReplaced = false;
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
    if (now?.ino === own && before.equals(readFileSync(path))) {
      renameSync(temporary, path);
      isReplaced = true;
    }
    return isReplaced;
  } finally {
    if (!isReplaced) {
      await rm(temporary, { force: true });
    }
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
