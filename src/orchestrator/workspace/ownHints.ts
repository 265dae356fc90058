import { existsSync } from 'node:fs';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { GitRepository } from '../git/git.ts';
import { isTracked } from '../git/trackedFile.ts';
import type { RunFiles } from './runFiles.ts';

/**
 * Hints that came with a repository are not given to agents, so a hint added to them would not be either.
 * @throws {HumanError} if the file of waiting hints is tracked by git
 */
export async function requireOwnHints({ hintsFile, stateDir }: RunFiles): Promise<void> {
  if (
    existsSync(hintsFile) &&
    (await new GitRepository(stateDir).root()) !== undefined &&
    (await isTracked(hintsFile))
  ) {
    throw new HumanError(
      say(
        '{0} is in git, so its hints may not be from a person, and no agent gets them. Remove it with "git rm --cached" and delete the file, then give the hint again.',
        hintsFile,
      ),
    );
  }
}
