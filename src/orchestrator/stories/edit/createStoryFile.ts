import { createFile } from '../../../base/createFile.ts';
import { HumanError } from '../../../base/humanError.ts';
import { type Message, say } from '../../../base/say.ts';
import { diskRefusal, systemRefusal, tooLongName } from '../../../base/systemRefusal.ts';

/**
 * Creates a story file, or a file of a folder of stories, if there is none.
 * @param file absolute path
 * @returns false if a file exists by now
 * @throws {HumanError} if it cannot be written
 */
export async function createStoryFile(file: string, content: Buffer): Promise<boolean> {
  try {
    return await createFile(file, content);
  } catch (error) {
    const refused = refusal(file, error);
    throw refused === undefined ? error : new HumanError(refused, { cause: error });
  }
}

/** @returns `undefined` if it is not an error of the system */
function refusal(file: string, error: unknown): Message | undefined {
  if (!(error instanceof Error && 'code' in error)) {
    return undefined;
  }
  const { code, path = file } = error as NodeJS.ErrnoException;
  if (code === 'ENAMETOOLONG') {
    return tooLongName(file);
  }
  // The name of the temporary file helps nobody.
  const words = path.startsWith(file)
    ? diskRefusal(Object.assign(error, { path: file }))
    : systemRefusal(error);
  return (
    words ??
    say(
      '{0} cannot be written ({1}): check the permissions of the file and its folder.',
      file,
      String(code),
    )
  );
}
