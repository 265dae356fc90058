import { say, sentences } from '../../base/say.ts';
import { shellText } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { untrackedInTheWay } from '../git/filesInTheWay.ts';
import { moveAwayFirst } from '../git/mergeByHand.ts';
import { runGit } from '../git/runGit.ts';
import type { RunState } from '../journal/runState.ts';
import { committedFile, committedList } from '../workspace/committedStories.ts';
import { readNewestRun } from '../workspace/runCheckpoint.ts';
import type { Ground, Judgement, Precondition } from './precondition.ts';

/** A new run neither begins again what the last one has done on another branch, nor takes it for done here. */
export const doneElsewhere: Precondition = {
  id: 'doneElsewhere',
  needsGit: true,
  async judge(ground) {
    const { files, head, isContinued, isIsolated, settings, stories, storyFile } = ground;
    if (isContinued || stories === undefined || storyFile === undefined) {
      return undefined;
    }
    const last = await readNewestRun(files);
    const branch = last?.branch;
    // Without lanes, the run switches to the branch that the list names.
    const goesThere =
      !isIsolated && settings.branch === 'checkout' && stories.branchName === branch;
    if (
      last === undefined ||
      branch === undefined ||
      branch === '' ||
      goesThere ||
      (await head()).branch === branch
    ) {
      return undefined;
    }
    const done = await doneOn(branch, ground);
    const again = stories.stories.filter(({ done: isDone, id }) => !isDone && done.has(id)).length;
    return again === 0
      ? notHere(branch, await onlyThere(last, ground), ground)
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
          next: say(
            'To continue there: git switch --no-overwrite-ignore --merge {0}',
            shellText(branch),
          ),
        };
  },
};

/** The list says that a story is done, but its commits are elsewhere. */
async function notHere(
  branch: string,
  count: number,
  { folder }: Ground,
): Promise<Judgement | undefined> {
  const name = shorten(branch, 200);
  const { root = '' } = await folder();
  return count === 0
    ? undefined
    : {
        level: 'warns',
        message:
          count === 1
            ? say('1 of these stories is done, but its commits are on the branch {0}.', name)
            : say(
                '{1} of these stories are done, but their commits are on the branch {0}.',
                name,
                count,
              ),
        next: sentences([
          ...moveAwayFirst(await untrackedInTheWay(root, 'HEAD', `refs/heads/${branch}`)),
          say('To have them here: git merge --no-overwrite-ignore {0}', shellText(branch)),
        ]),
      };
}

/**
 * How many stories are done in the list and have commits on the last run's branch that are missing here. In a list
 * that git tracks, what is done comes and goes with the commits.
 */
async function onlyThere(
  { branch = '', commits }: RunState,
  { files, folder, stories, storyFile = '' }: Ground,
): Promise<number> {
  const done = stories?.stories.filter(story => story.done) ?? [];
  const { root = '' } = await folder();
  if (done.length === 0 || commits.length === 0 || (await committedFile(root, 'HEAD', storyFile))) {
    return 0;
  }
  const range = ['--end-of-options', `refs/heads/${branch}`, '^HEAD'];
  // The branch may be gone.
  const missing = await runGit(files.workspace, 'rev-list', ...range).catch(() => '');
  const hashes = new Set(missing.split('\n'));
  const ids = new Set(commits.flatMap(({ hash, storyId }) => (hashes.has(hash) ? storyId : [])));
  return done.filter(({ id }) => ids.has(id)).length;
}

/** Ids of the stories that the list on a branch says are done. */
async function doneOn(
  branch: string,
  { folder, storyFile = '' }: Ground,
): Promise<ReadonlySet<string>> {
  const { root = '' } = await folder();
  const list = await committedList(root, `refs/heads/${branch}`, storyFile);
  return new Set(list?.stories.flatMap(({ done, id }) => (done ? [id] : [])));
}
