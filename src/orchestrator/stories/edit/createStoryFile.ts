import { createFile } from '../../../base/createFile.ts';
import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import { tooLongName } from '../../../base/systemRefusal.ts';

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
    const isTooLong = (error as NodeJS.ErrnoException).code === 'ENAMETOOLONG';
    throw new HumanError(
      isTooLong
        ? tooLongName(file)
        : say('{0} cannot be written: {1}', file, (error as Error).message),
      { cause: error },
    );
  }
}
