import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { type Message, say, sentences } from '../../base/say.ts';
import { sentence, shorten } from '../../base/text.ts';
import { FailedWrite } from './runGit.ts';

const LOCK_FILE = /[\\/](?:index|HEAD|packed-refs|config|shallow|refs[\\/][^\s'"]+)\.lock\b/;
/** The English messages of the system, as on build servers and most terminals; git adds no code. */
const DISK_WORDS = /No space left on device|Disk quota exceeded|File too large/;

/**
 * Whether git could not write because of a lock file of another git process, or of one that died. Git's message is
 * localized, but always includes the file name.
 */
export function isGitLocked(error: unknown): boolean {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (LOCK_FILE.test(at.message)) {
      return true;
    }
  }
  return false;
}

/** Whether git was not found in PATH. */
export function isMissingProgram(error: unknown): boolean {
  return /spawn git\S* ENOENT/.test(messageOf(error));
}

/** What to do about damage, by git's English message. The last step fits any damage and any language. */
const REPAIRS: readonly (readonly [RegExp, () => Message])[] = [
  [
    /index file (?:corrupt|smaller)/,
    () =>
      say(
        'The index is damaged: remove the file that "git rev-parse --git-path index" names, then run "git reset", which makes it again and leaves your files as they are.',
      ),
  ],
  [/bad config/, () => say('Correct that line, and try again.')],
  [
    /not a git repository: /,
    () =>
      say(
        'The file .git names a folder that is not there. If the repository of this worktree was moved, run "git worktree repair" in it, with the path of this folder. Otherwise save your files elsewhere, and make the folder again: a worktree with "git worktree add", a submodule with "git submodule update --init".',
      ),
  ],
  [/dubious ownership/, () => say('Do what git says there if you trust this repository.')],
  [
    /(?:)/,
    () =>
      say(
        'Fix what "git status" reports there. If the repository is damaged, restore the folder .git from a backup, or from a clone of the same repository, then try again.',
      ),
  ],
];

function repairOf(words: string): Message | undefined {
  return REPAIRS.find(([pattern]) => pattern.test(words))?.[1]();
}

/**
 * Git's message, for the person.
 * @param what the failed action, as the start of a sentence; absent: reading
 * @param next what to do about it
 */
export function asHumanError(error: unknown, what?: Message, next?: Message): HumanError {
  if (error instanceof HumanError) {
    return error;
  }
  const message =
    what === undefined
      ? problemOf(error, say('git cannot read this repository'), repairOf(messageOf(error)))
      : problemOf(error, what, next);
  return new HumanError(message, { cause: error });
}

/** A full disk first: then git also names the lock file that it could not write. */
function problemOf(error: unknown, what: Message, next: Message | undefined): Message {
  const words = messageOf(error);
  const said = shorten(words, 600);
  if (isMissingProgram(error)) {
    return say('git was not found on the PATH. Install it (https://git-scm.com) and try again.');
  }
  if (DISK_WORDS.test(words)) {
    return say(
      '{0}, because no space is left on the disk. Free some space, and try again. {1}',
      what,
      said,
    );
  }
  if (error instanceof FailedWrite && error.bytesFree !== undefined) {
    return say(
      '{0}, probably because only {1} KB are free on the disk. Free some space, and try again. {2}',
      what,
      Math.floor(error.bytesFree / 1024),
      said,
    );
  }
  if (isGitLocked(error)) {
    return say(
      '{0}: another git process is working in this repository, or one crashed and left its lock file behind. If none is running, remove that file and try again. {1}',
      what,
      said,
    );
  }
  return next === undefined
    ? say('{0}: {1}', what, said)
    : sentences([say('{0}: {1}', what, sentence(said)), next]);
}
