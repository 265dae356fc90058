import { statSync } from 'node:fs';
import { dirname } from 'node:path';
import { type Message, say, sentences } from './say.ts';
import { shorten } from './text.ts';

/** Error codes of a full disk, an exceeded quota, or an exceeded file size limit. */
const DISK_FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What to do about a file or folder that the system refuses, by error code. */
const ABOUT_FILES: Readonly<Record<string, (file: string) => Message>> = {
  EACCES: file =>
    say('This user account may not use {0}. Give it the permissions, or run as the owner.', file),
  EPERM: file =>
    say('This user account may not use {0}. Give it the permissions, or run as the owner.', file),
  EEXIST: file => say('Something else is in the place of {0}. Move it out of the way.', file),
  EISDIR: file =>
    say('There is a folder at {0}, where a file is needed. Move it out of the way.', file),
  ELOOP: file => say('{0} is a link that leads in a circle. Put a file in its place.', file),
  ENAMETOOLONG: tooLongName,
  ENOTDIR: file => {
    const inTheWay = noFolderOn(file);
    return inTheWay === undefined
      ? say('Something on the path to {0} is not a folder. Move it out of the way.', file)
      : say(
          'There is no folder at {0}, where one is needed. Move what is there out of the way.',
          inTheWay,
        );
  },
};

/** With these codes, the obstacle is at the target of the rename. */
const OF_THE_PLACE: ReadonlySet<string> = new Set(['EISDIR', 'EEXIST']);

const TOO_MANY_FILES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);

/** The message for a file whose name is longer than the system allows. */
export function tooLongName(file: string): Message {
  return say('The name of {0} is too long. Choose a shorter one.', shorten(file, 200));
}

/** The first thing on the way to a file that is no folder; `undefined` if it is gone by now, or cannot be seen. */
export function noFolderOn(file: string): string | undefined {
  const parent = dirname(file);
  const above = parent === file ? undefined : noFolderOn(parent);
  try {
    return above ?? (statSync(file).isDirectory() ? undefined : file);
  } catch {
    return undefined;
  }
}

/** @returns the system's code if the disk had no space left */
export function diskFullCode(error: unknown): string | undefined {
  return refusalOf(error, isFull)?.code;
}

/**
 * The message for a disk that cannot be written: full, read-only, or failing.
 * @param file the written file, if the system's error does not include it
 * @returns `undefined` for another error
 */
export function diskRefusal(error: unknown, file?: string): Message | undefined {
  const refusal = refusalOf(error, at => isFull(at) || at.code === 'EROFS' || at.code === 'EIO');
  if (refusal === undefined) {
    return undefined;
  }
  const { code = '', path = file } = refusal;
  if (code === 'EIO') {
    return say(
      'The disk reports an error ({0}). Check the disk and its connection, and try again.',
      code,
    );
  }
  if (code === 'EROFS') {
    return path === undefined
      ? say('The disk cannot be written ({0}). Make it writable, and try again.', code)
      : say(
          '{0} is on a disk that cannot be written ({1}). Make it writable, or work in another folder.',
          path,
          code,
        );
  }
  return path === undefined
    ? say('No space is left on the disk ({0}). Free some space, and try again.', code)
    : say(
        'No space is left on the disk ({0}), so {1} cannot be written. Free some space, and try again.',
        code,
        path,
      );
}

/**
 * The system's error as one sentence with the next step. The only function for such sentences, so that all commands
 * report, for example, a full disk in the same way.
 * @returns `undefined` for any other error, which is a bug of the program
 */
export function systemRefusal(error: unknown): Message | undefined {
  const ofDisk = diskRefusal(error);
  if (ofDisk !== undefined) {
    return ofDisk;
  }
  const refusal = refusalOf(error, isKnown);
  const code = refusal?.code ?? '';
  // For a rename, the target: the other file is a temporary one of ours, which is gone by now.
  const path = OF_THE_PLACE.has(code) ? (refusal?.dest ?? refusal?.path) : refusal?.path;
  if (TOO_MANY_FILES.has(code)) {
    return say(
      'Too many files are open ({0}). Close other programs, or raise the limit (ulimit -n).',
      code,
    );
  }
  const tell = ABOUT_FILES[code];
  return tell === undefined || path === undefined
    ? undefined
    : sentences([tell(path), `(${code})`]);
}

type Refusal = NodeJS.ErrnoException & { readonly dest?: string };

/** The error itself, or its cause. */
function refusalOf(error: unknown, isMeant: (refusal: Refusal) => boolean): Refusal | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isMeant(at)) {
      return at;
    }
  }
  return undefined;
}

/** A file watch fails with the same code if the system has no more of them. */
function isFull({ code = '', syscall }: Refusal): boolean {
  return DISK_FULL.has(code) && syscall !== 'watch';
}

function isKnown({ code = '', path }: Refusal): boolean {
  return (path !== undefined && code in ABOUT_FILES) || TOO_MANY_FILES.has(code);
}
