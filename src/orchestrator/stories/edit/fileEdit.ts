import type { Stats } from 'node:fs';
import { readFile, realpath, stat } from 'node:fs/promises';
import { setTimeout as wait } from 'node:timers/promises';
import { HumanError } from '../../../base/humanError.ts';
import { replaceFile } from '../../../base/replaceFile.ts';
import { say, type Words } from '../../../base/say.ts';
import { diskRefusal } from '../../../base/systemRefusal.ts';
import { requireInside } from '../outsideLinks.ts';
import { pipeProblem, readFolderOrThrow, requireReadableSize } from '../storyFile.ts';
import { folderVersion } from '../storyFolder.ts';
import { replaceInFolder } from './folderEdit.ts';

// How long to retry, in ms: a file that is being written is complete again soon; a busy one needs longer.
const PATIENCE_HALF_WRITTEN = 300;
const PATIENCE_BUSY = 5000;
/** Minimum number of attempts: on a busy machine the time may be over before the other writer had a turn. */
const LOOKS_HALF_WRITTEN = 10;

/** Thrown by an edit that cannot use the content, perhaps only because somebody is writing the file. */
export class HalfWritten extends HumanError {}

/** How the bytes of a source are read and replaced. */
interface Access {
  /** Changes whenever somebody has written it. */
  version(target: string): Promise<string>;
  read(target: string): Promise<Buffer>;
  /** @returns false if it is not as before any more */
  replace(target: string, before: Buffer, after: Buffer): Promise<boolean>;
}

const FILE: Access = { version: versionOf, read: file => readFile(file), replace: replaceFile };
const FOLDER: Access = {
  version: folderVersion,
  read: readFolderOrThrow,
  replace: replaceInFolder,
};

/**
 * Edits a story file, or a folder of stories as one text, following links. `edit` receives the content and returns the new one; it is written
 * atomically, and only if the file has not changed since it was read: otherwise `edit` is called again with the new
 * content. Nothing is written if `edit` throws or changes nothing.
 *
 * @returns the content after the edit, and whether it was written
 * @throws HumanError if there is no such file, it leads out of the repository, it cannot be written, or it keeps
 * changing; and what `edit` throws.
 */
export async function editFile(
  path: string,
  edit: (before: Buffer) => Buffer,
): Promise<{ readonly changed: boolean; readonly after: Buffer }> {
  return editExisting(
    path,
    edit,
    say('There is no story file at {0}: create it, or choose another one.', path),
  );
}

/**
 * Replaces the content of a file that must still have the one that was looked at. Like {@link editFile}, it waits for
 * its turn, and is not kept from it by what a killed process has left next to the file.
 *
 * @throws HumanError like {@link editFile}; `changed`, if the file has another content or is gone
 */
export async function replaceUnchanged(
  path: string,
  { before, after, changed }: Replacement,
): Promise<void> {
  const edit = (now: Buffer) => {
    if (!now.equals(before)) {
      throw new HumanError(changed);
    }
    return after;
  };
  await editExisting(path, edit, changed);
}

interface Replacement {
  readonly before: Buffer;
  readonly after: Buffer;
  /** What is said if somebody else has changed or removed the file. */
  readonly changed: Words;
}

/** @param missing what is said if there is no such file */
async function editExisting(
  path: string,
  edit: (before: Buffer) => Buffer,
  missing: Words,
): Promise<{ readonly changed: boolean; readonly after: Buffer }> {
  requireInside(path);
  // Writes to the target of a link, so that the link is preserved.
  const target = await realpath(path).catch(error => {
    throw new HumanError(missing, { cause: error });
  });
  return inTurn(target, () => tryUntilWritten(target, path, edit));
}

async function tryUntilWritten(target: string, path: string, edit: (before: Buffer) => Buffer) {
  const begin = performance.now();
  let version: string | undefined;
  let versionSince = begin;
  let looks = 0;
  for (;;) {
    try {
      const access = accessOf(path, await stat(target));
      const seen = await access.version(target);
      if (seen !== version) {
        // Somebody is still writing: the incomplete content has changed.
        version = seen;
        versionSince = performance.now();
        looks = 0;
      }
      looks++;
      const before = await access.read(target);
      const after = edit(before);
      if (after.equals(before)) {
        return { changed: false, after };
      }
      if (access === FILE && after.length > before.length) {
        requireReadableSize(path, after.length);
      }
      if (!(await access.replace(target, before, after))) {
        throw new ChangedMeanwhile();
      }
      return { changed: true, after };
    } catch (error) {
      const waited = performance.now() - begin;
      const isHalfWritten = error instanceof HalfWritten;
      const isLeftSo =
        performance.now() - versionSince >= PATIENCE_HALF_WRITTEN && looks >= LOOKS_HALF_WRITTEN;
      if (isHalfWritten ? isLeftSo || waited >= PATIENCE_BUSY : waited >= patience(error)) {
        throw asHumanError(path, error);
      }
      // Random pauses, so that two writers do not keep colliding.
      await wait(5 + Math.random() * Math.min(50, 10 + waited));
    }
  }
}

function accessOf(path: string, found: Stats): Access {
  if (found.isDirectory()) {
    return FOLDER;
  }
  if (!found.isFile()) {
    // To read a pipe would wait forever.
    throw new HumanError(pipeProblem(path));
  }
  return FILE;
}

/** Changes whenever somebody has written the file. */
async function versionOf(file: string): Promise<string> {
  const { ino, size, mtimeNs } = await stat(file, { bigint: true });
  return `${ino} ${size} ${mtimeNs}`;
}

/** The file has changed since the edit was made. */
class ChangedMeanwhile extends Error {}

/** How long to retry after this error, in ms. Windows refuses a rename while somebody reads the file. */
function patience(error: unknown): number {
  const isLocked =
    process.platform === 'win32' &&
    ['EPERM', 'EBUSY', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '');
  return error instanceof ChangedMeanwhile || isLocked ? PATIENCE_BUSY : 0;
}

function asHumanError(path: string, error: unknown): HumanError {
  if (error instanceof HumanError) {
    return error;
  }
  if (error instanceof ChangedMeanwhile) {
    return new HumanError(
      say(
        'Another program keeps changing {0}, so nothing was written: try again when that program has ended.',
        path,
      ),
    );
  }
  const refused = diskRefusal(error, path);
  if (refused !== undefined) {
    return new HumanError(refused, { cause: error });
  }
  const code = codeOf(error);
  return new HumanError(
    code === 'ENOENT'
      ? say('{0} was removed in the meantime: restore it, then try again.', path)
      : say(
          '{0} cannot be written ({1}): check the permissions of the file and its folder.',
          path,
          code,
        ),
    { cause: error },
  );
}

function codeOf(error: unknown): Words {
  return error instanceof Error && 'code' in error ? String(error.code) : say('unknown error');
}

const turns = new Map<string, Promise<unknown>>();

/** Runs edits of the same file in this process one after another, so that they do not collide. */
function inTurn<T>(target: string, task: () => Promise<T>): Promise<T> {
  const turn = (turns.get(target) ?? Promise.resolve()).then(task);
  const settled = turn.then(
    () => undefined,
    () => undefined,
  );
  turns.set(target, settled);
  void settled.then(() => {
    if (turns.get(target) === settled) {
      turns.delete(target);
    }
  });
  return turn;
}
