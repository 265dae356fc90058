import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';

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

/**
 * Git's message, for the person.
 * @param what the failed action, as the start of a sentence
 */
export function asHumanError(
  error: unknown,
  what = say('git cannot read this repository'),
): HumanError {
  if (error instanceof HumanError) {
    return error;
  }
  const words = messageOf(error);
  const message = isMissingProgram(error)
    ? say('git was not found on the PATH. Install it (https://git-scm.com) and try again.')
    : isGitLocked(error)
      ? say(
          '{0}: another git process is working in this repository, or one crashed and left its lock file behind. If none is running, remove that file and try again. {1}',
          what,
          shorten(words, 600),
        )
      : DISK_WORDS.test(words)
        ? say(
            '{0}, because no space is left on the disk. Free some space, and try again. {1}',
            what,
            shorten(words, 600),
          )
        : say('{0}: {1}', what, shorten(words, 600));
  return new HumanError(message, { cause: error });
}
