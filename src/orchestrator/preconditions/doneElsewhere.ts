import path from 'node:path';
import { say } from '../../base/say.ts';
import { shellText } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { GitRepository } from '../git/git.ts';
import { realPlace } from '../stories/outsideLinks.ts';
import { parseStoryFile } from '../stories/storyFile.ts';
import { committedStories } from '../workspace/committedStories.ts';
import { readRun } from '../workspace/runCheckpoint.ts';
import { newestRunId } from '../workspace/runIds.ts';
import type { Ground, Precondition } from './precondition.ts';

/** A new run does not begin again what the last one has done on another branch. */
export const doneElsewhere: Precondition = {
  id: 'doneElsewhere',
  needsGit: true,
  async judge(ground) {
    const { files, isContinued, isIsolated, settings, stories, storyFile } = ground;
    if (isContinued || stories === undefined || storyFile === undefined) {
      return undefined;
    }
    const newest = await newestRunId(files);
    const branch = newest === undefined ? undefined : (await readRun(files, newest)).branch;
    const git = new GitRepository(files.workspace);
    // Without lanes, the run switches to the branch that the list names.
    const goesThere =
      !isIsolated && settings.branch === 'checkout' && stories.branchName === branch;
    if (branch === undefined || branch === '' || goesThere || (await git.branch()) === branch) {
      return undefined;
    }
    const done = await doneOn(branch, git, ground);
    const again = stories.stories.filter(({ done: isDone, id }) => !isDone && done.has(id)).length;
    return again === 0
      ? undefined
      : {
          level: 'warns',
          message:
            again === 1
              ? say('On the branch {0}, 1 of these stories is done.', shorten(branch, 200))
              : say(
                  'On the branch {0}, {1} of these stories are done.',
                  shorten(branch, 200),
                  again,
                ),
          next: say('To continue there: git switch --merge {0}', shellText(branch)),
        };
  },
};

/** Ids of the stories that the list on a branch says are done. */
async function doneOn(
  branch: string,
  git: GitRepository,
  { root: asked, storyFile = '' }: Ground,
): Promise<ReadonlySet<string>> {
  const root = (await (asked ?? git.root())) ?? '';
  const relative = path.relative(realPlace(root) ?? root, realPlace(storyFile) ?? storyFile);
  const name = relative.split(path.sep).join('/');
  // The branch, or the file on it, may be gone.
  const bytes = await committedStories(root, `refs/heads/${branch}`, name).catch(() => undefined);
  const list = bytes && parseStoryFile(storyFile, bytes);
  return new Set(
    list?.kind === 'stories' ? list.stories.flatMap(({ done, id }) => (done ? [id] : [])) : [],
  );
}
