import { HumanError } from '../../base/humanError.ts';
import { openPlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { linkTarget } from '../stories/linkTarget.ts';
import { requireInside } from '../stories/outsideLinks.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { acquireRunLock } from '../workspace/runLock.ts';
import { ignoreStateDir } from '../workspace/stateIgnore.ts';
import { placeStories, relative } from './placeStories.ts';

export interface WritePlanOptions {
  readonly files: RunFiles;
  /** Absolute path of the JSON story file; may not exist yet. */
  readonly storyFile: string;
  /** Its new text. */
  readonly content: string;
  /**
   * The content when the person saw the plan, `undefined` if the file did not exist; absent: any content is
   * replaced.
   */
  readonly before?: { readonly text: string | undefined };
}

/**
 * Writes a plan that a person has seen; the previous file is moved to `.omc/archive`. Not during a run, and not if
 * the file has changed since.
 *
 * @returns the archive's folder, relative to the workspace, if there was something to keep
 * @throws {HumanError} with the next step; nothing was written then
 */
export async function writePlan(options: WritePlanOptions): Promise<{ archived?: string }> {
  const { files, storyFile, content, before } = options;
  await ignoreStateDir(files);
  const attempt = await acquireRunLock(files);
  if (attempt.kind === 'held') {
    throw new HumanError(
      say(
        'A run is active in this folder, so its stories cannot be replaced. Stop it first (ralph-fresh stop), then write the stories.',
      ),
    );
  }
  try {
    if (before !== undefined && (await readStoryText(storyFile)) !== before.text) {
      throw new HumanError(
        say(
          '{0} has changed since the plan was made, so it was left as it is. Plan again to see what the new stories would replace.',
          relative(files, storyFile),
        ),
      );
    }
    return await placeStories({ files, storyFile, content, now: new Date() });
  } finally {
    await attempt.lock.release();
  }
}

/** The current text of a story file, also through a link; `undefined` if there is none. */
export async function readStoryText(storyFile: string): Promise<string | undefined> {
  requireInside(storyFile);
  const handle = await openPlainFile(await linkTarget(storyFile));
  try {
    return await handle?.readFile('utf8');
  } finally {
    await handle?.close();
  }
}
