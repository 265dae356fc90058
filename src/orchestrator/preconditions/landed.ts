import { say, sentences } from '../../base/say.ts';
import { untrackedInTheWay } from '../git/filesInTheWay.ts';
import { moveAwayFirst } from '../git/mergeByHand.ts';
import { runGit } from '../git/runGit.ts';
import { readRefs } from '../workspace/refs.ts';
import { tipRef, tipRefsOf } from '../workspace/workRefs.ts';
import { landsOn } from './lanes.ts';
import type { Precondition } from './precondition.ts';

/** All refs of what has landed, of every folder that works with this repository. */
const ALL = 'refs/ralph-fresh/landed/';

/**
 * What an earlier run has landed is on a branch: otherwise its stories count as done, and the next run would continue
 * without their code. It can be forgotten if the branch is renamed, the folder is moved, or the next run has no lanes.
 */
export const landed: Precondition = {
  id: 'landed',
  needsGit: true,
  async judge({ files: { workspace }, folder, head, isContinued, isIsolated, settings, stories }) {
    const tips = await readRefs(workspace, ALL);
    if (tips.length === 0) {
      return undefined;
    }
    const branch = landsOn(settings.branch, stories, (await head()).branch);
    const own = tipRef(workspace, branch);
    const forgotten: string[] = [];
    for (const { commit, name } of tips) {
      // With lanes, the run itself brings it to its branch.
      if (!(isIsolated && name === own) && (await isOnNoBranch(workspace, commit))) {
        forgotten.push(name);
      }
    }
    const [first] = forgotten.toSorted((a, b) => Number(isOfOther(a)) - Number(isOfOther(b)));
    if (first === undefined) {
      return { level: 'holds', message: 'All that has landed is on a branch.' };
    }
    const { root = workspace } = await folder();
    return {
      level: isContinued || isOfOther(first) ? 'warns' : 'refuses',
      message: say(
        'What an earlier run has landed ({0}) is on no branch, although its stories are done.',
        first,
      ),
      next:
        first === own
          ? say('The same command with --isolate brings it to {0}.', branch)
          : sentences([
              ...moveAwayFirst(await untrackedInTheWay(root, 'HEAD', first)),
              say(
                'Bring it to your branch: git merge --no-overwrite-ignore {0}. To throw it away: git update-ref -d {0}',
                first,
              ),
            ]),
    };

    /** Another folder that works with the same repository may still need it, or this folder had another path. */
    function isOfOther(ref: string): boolean {
      return !ref.startsWith(tipRefsOf(workspace));
    }
  },
};

async function isOnNoBranch(dir: string, commit: string): Promise<boolean> {
  const found = await runGit(
    dir,
    ...['--no-optional-locks', 'rev-list', '--max-count=1', commit],
    ...['--not', '--branches', '--remotes'],
  );
  return found.trim() !== '';
}
