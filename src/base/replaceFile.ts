import { readFileSync, renameSync, statSync } from 'node:fs';
import { access, constants, type FileHandle, open, rm, stat } from 'node:fs/promises';

/** After so many milliseconds the temporary file of a process is taken to be left over from its crash. */
const STALE_AFTER = 30_000;

/**
 * Replaces the content of a file in one step, keeping its mode and owner, if the file still holds `before`.
 * `path` must not be a link: the link would be replaced, not its target.
 *
 * Not done with write-file-atomic, because everything it does between a last look at the file and its rename is
 * time in which the change of another program is lost; here both are one synchronous step. A lock would not help
 * against agents and editors, which ask for none. Our own processes exclude each other by the name of the
 * temporary file, which only one of them can create, as git does with `index.lock`.
 *
 * @returns false when the file holds something else by now, or another process of ours is writing it; then it is
 * left alone.
 */
export async function replaceFile(path: string, before: Buffer, after: Buffer): Promise<boolean> {
  // A rename would replace a write-protected file all the same.
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
    // After a long sleep of the machine the file of this name may be somebody else's.
    if (statSync(temporary).ino === own && before.equals(readFileSync(path))) {
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

/** Creates the temporary file; `undefined` when another process has it. */
async function create(temporary: string, mode: number): Promise<FileHandle | undefined> {
  try {
    return await open(temporary, 'wx', mode);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) {
      throw error;
    }
    const found = await stat(temporary).catch(() => undefined);
    if (found !== undefined && Date.now() - found.mtimeMs > STALE_AFTER) {
      await rm(temporary, { force: true });
    }
    return undefined;
  }
}

async function keepOwner(file: FileHandle, mode: number, uid: number, gid: number): Promise<void> {
  // Only root may give a file away, and some file systems know neither; the content matters more.
  await file.chown(uid, gid).catch(() => undefined);
  await file.chmod(mode).catch(() => undefined);
}
