import { HumanError } from '../base/humanError.ts';
import { type Message, say } from '../base/say.ts';
import { shorten } from '../base/text.ts';
import { type LeftOnBranch, leftOnBranch } from '../orchestrator/workspace/leftOnBranch.ts';
import { readNewestRun } from '../orchestrator/workspace/runCheckpoint.ts';
import type { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { wayToBranch } from './wayToBranch.ts';

/**
 * Reports which branch contains the story file of the newest run, if it is missing here.
 * @throws {HumanError} in that case
 */
export async function requireRunsStoryFile(files: RunFiles): Promise<void> {
  const left = await newestLeftOnBranch(files);
  if (left !== undefined) {
    throw new HumanError(
      say(
        'There is no {0} in {1}. {2}',
        shorten(left.file, 200),
        files.workspace,
        await howToGoBack(files, left),
      ),
    );
  }
}

/** The story file of the newest run, if it is missing because another branch is checked out. */
export async function newestLeftOnBranch(files: RunFiles): Promise<LeftOnBranch | undefined> {
  const last = await readNewestRun(files);
  return last && leftOnBranch(files.workspace, last);
}

/** The way to the branch that has it. */
export async function howToGoBack(
  { workspace }: RunFiles,
  { branch, file }: LeftOnBranch,
): Promise<Message> {
  return say(
    'The last run worked on the branch {0}, which has {1}. {2}',
    shorten(branch, 200),
    shorten(file, 200),
    await wayToBranch(workspace, branch),
  );
}
