import { saidOf } from '../../base/messageOf.ts';
import type { GitRepository } from '../git/git.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import { warn } from '../run/warn.ts';
import { KeptStories } from '../workspace/keptStories.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/**
 * Keeps what iterations leave that are interrupted and not judged yet, before others can change it: their version of
 * the story file, and HEAD. Nothing is kept if the work is on another branch: what others do to bring it back is then
 * examined with it.
 * @returns HEAD for `run.ended`; `undefined` if there is no such iteration, or HEAD is unknown
 */
export async function keepBoundary(
  journal: Journal,
  git: GitRepository,
  {
    files,
    runId,
    state,
    storyFile,
  }: {
    readonly files: RunFiles;
    readonly runId: string;
    readonly state: RunState;
    readonly storyFile?: string;
  },
): Promise<string | undefined> {
  const open = state.running.filter(({ interrupted }) => !interrupted);
  if (open.length === 0) {
    return undefined;
  }
  try {
    const { branch, head } = await git.headAndBranch();
    const kept = new KeptStories(files, runId, storyFile);
    for (const iteration of open) {
      if (iteration.branch !== undefined && iteration.branch !== branch) {
        return undefined;
      }
      await kept.keepLeft(iteration.number);
    }
    return head ?? '';
  } catch (error) {
    // The end itself must be recorded, even if the disk has no space for anything else.
    warn(journal, 'leftNotKept', saidOf(error));
    return undefined;
  }
}
