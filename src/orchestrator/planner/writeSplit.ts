import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { editFile } from '../stories/edit/fileEdit.ts';
import { livingRun } from '../workspace/livingRun.ts';
import { readRun } from '../workspace/runCheckpoint.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** @throws {HumanError} during a run: the guard would restore the story file */
export async function requireNobodyWorks(files: RunFiles): Promise<void> {
  const runId = (await livingRun(files))?.runId;
  if (runId !== undefined && (await readRun(files, runId)).pause === undefined) {
    throw new HumanError(
      say(
        'A run is working on the stories. Let it pause after this iteration ("ralph-fresh pause"; "ralph-fresh resume" continues it) or stop it ("ralph-fresh stop"), then split the story.',
      ),
    );
  }
}

/**
 * Writes the story file after a split, atomically, if it has not changed since the split was made.
 * @throws {HumanError} if it has changed since, cannot be written, or a run is active
 */
export async function writeSplit(
  files: RunFiles,
  storyFile: string,
  { after, before }: { readonly before: string; readonly after: string },
): Promise<void> {
  await requireNobodyWorks(files);
  await editFile(storyFile, now => {
    if (now.toString('utf8') !== before) {
      throw new HumanError(
        say(
          '{0} has changed since the story was split, so it was left as it is. Split it again.',
          storyFile,
        ),
      );
    }
    return Buffer.from(after);
  });
}
