import { say } from '../orchestrator/say.ts';

/** What to do about a file or folder that the system refuses, by the system's code. */
const MENDS: Readonly<Record<string, (file: string) => string>> = {
  EACCES: file =>
    say('This account may not use {0}. Give it the rights, or run as its owner.', file),
  EPERM: file =>
    say('This account may not use {0}. Give it the rights, or run as its owner.', file),
  EROFS: file => say('{0} is on a disk that cannot be written.', file),
  EEXIST: file => say('Something else is in the place of {0}. Move it away.', file),
  EISDIR: file => say('A folder is in the place of the file {0}. Move it away.', file),
  ENOTDIR: file => say('Something else than a folder is on the way to {0}. Move it away.', file),
};

/** One sentence with the mend; `undefined` for what is no refusal of the system, and so a fault of the program. */
export function fileProblem(error: unknown): string | undefined {
  const { code = '', path } = error as NodeJS.ErrnoException;
  const mend = MENDS[code];
  return mend === undefined || path === undefined ? undefined : `${mend(path)} (${code})`;
}
