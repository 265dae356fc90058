import { say } from './say.ts';

/** Codes of a disk that takes nothing more: full, over the quota, over a limit for files. */
const DISK_FULL: ReadonlySet<string> = new Set(['ENOSPC', 'EDQUOT', 'EFBIG']);

/** What to do about a file or folder that the system refuses, by the system's code. */
const ABOUT_FILES: Readonly<Record<string, (file: string) => string>> = {
  EACCES: file =>
    say('This account may not use {0}. Give it the rights, or run as its owner.', file),
  EPERM: file =>
    say('This account may not use {0}. Give it the rights, or run as its owner.', file),
  EEXIST: file => say('Something else is in the place of {0}. Move it away.', file),
  EISDIR: file => say('A folder is in the place of the file {0}. Move it away.', file),
  ENOTDIR: file => say('Something else than a folder is on the way to {0}. Move it away.', file),
};

/** What is in the way is then at the place that something was to be renamed to. */
const OF_THE_PLACE: ReadonlySet<string> = new Set(['EISDIR', 'EEXIST']);

const TOO_MANY_FILES: ReadonlySet<string> = new Set(['EMFILE', 'ENFILE']);

/** @returns the system's code where the disk had no room for what was written */
export function diskFullCode(error: unknown): string | undefined {
  return refusalOf(error, isFull)?.code;
}

/**
 * What to tell of a disk that takes nothing: it has no room, cannot be written, or fails.
 * @param file what was written, where the system does not say it
 * @returns `undefined` for another error
 */
export function diskRefusal(error: unknown, file?: string): string | undefined {
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
    ? say('The disk takes nothing more ({0}). Make room on it, and try again.', code)
    : say(
        'The disk takes nothing more ({0}), so {1} cannot be written. Make room on it, and try again.',
        code,
        path,
      );
}

/**
 * What the system refused, in one sentence with the next step. The only place that makes such sentences, so that each
 * command tells the same of a full disk, wherever it met it.
 * @returns `undefined` for what is no refusal of the system, and so a fault of the program
 */
export function systemRefusal(error: unknown): string | undefined {
  const ofDisk = diskRefusal(error);
  if (ofDisk !== undefined) {
    return ofDisk;
  }
  const refusal = refusalOf(error, isKnown);
  const code = refusal?.code ?? '';
  // Of a rename the place that it was to take: the other file is a temporary one of ours, and gone by now.
  const path = OF_THE_PLACE.has(code) ? (refusal?.dest ?? refusal?.path) : refusal?.path;
  if (TOO_MANY_FILES.has(code)) {
    return say(
      'Too many files are open ({0}). Close other programs, or raise the limit (ulimit -n).',
      code,
    );
  }
  const tell = ABOUT_FILES[code];
  return tell === undefined || path === undefined ? undefined : `${tell(path)} (${code})`;
}

type Refusal = NodeJS.ErrnoException & { readonly dest?: string };

/** The error itself, or the one that it came from. */
function refusalOf(error: unknown, isMeant: (refusal: Refusal) => boolean): Refusal | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (isMeant(at)) {
      return at;
    }
  }
  return undefined;
}

/** A watch is refused by the same code, when the system has no more of them. */
function isFull({ code = '', syscall }: Refusal): boolean {
  return DISK_FULL.has(code) && syscall !== 'watch';
}

function isKnown({ code = '', path }: Refusal): boolean {
  return (path !== undefined && code in ABOUT_FILES) || TOO_MANY_FILES.has(code);
}
