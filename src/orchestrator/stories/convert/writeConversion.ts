import { readFile } from 'node:fs/promises';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { createStoryFile } from '../edit/createStoryFile.ts';
import { replaceUnchanged } from '../edit/fileEdit.ts';
import { requireInside } from '../outsideLinks.ts';
import { requireReadableSize } from '../storyFile.ts';

/**
 * Writes converted stories in one step. A file that is there is only replaced on request, and only while it does not
 * change meanwhile.
 *
 * @param file absolute path
 * @throws {HumanError} if there is a file that is not to be replaced, or it cannot be written. Nothing was written then.
 */
export async function writeConversion(
  file: string,
  text: string,
  { replaces }: { readonly replaces: boolean },
): Promise<void> {
  requireInside(file);
  const content = Buffer.from(text);
  requireReadableSize(
    file,
    content.length,
    say('Move finished stories out of the list first, or split it.'),
  );
  if (await createStoryFile(file, content)) {
    return;
  }
  if (!replaces) {
    throw new HumanError(
      say('{0} exists, so nothing was written. Name another file, or have it replaced.', file),
    );
  }
  await replaceUnchanged(file, {
    before: await readFile(file),
    after: content,
    changed: say(
      '{0} has just been changed by another program, so it was not replaced. Look at it, then try again.',
      file,
    ),
  });
}
