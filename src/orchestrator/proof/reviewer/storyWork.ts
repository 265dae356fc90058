import { changesOf, findCommits } from '../../git/changes.ts';
import type { GitRepository } from '../../git/git.ts';
import { runGit } from '../../git/runGit.ts';

/** More paths may exceed the length of a command line on some systems; then the diff is not restricted. */
const MAX_PATHS = 200;

/** Where the work on a story started, and the files to look at. */
export interface StoryWork {
  /** Full hash; absent if there was no commit before. */
  readonly from?: string;
  /** Relative to the repository's root; absent: all files. */
  readonly paths?: readonly string[];
  /** Others have committed in between. */
  readonly isShared: boolean;
}

/**
 * Finds the whole work on a story that took several iterations of a run. If others have committed in between, only
 * the files changed by the story's own iterations count.
 *
 * @param options.startCommit HEAD before the last iteration
 * @param options.earlier the story's commits of earlier iterations, oldest first; those that are no longer in the
 * history of HEAD are ignored
 * @throws git's error if the repository cannot be read
 */
export async function storyWork(
  git: GitRepository,
  options: { readonly startCommit?: string; readonly earlier: readonly string[] },
): Promise<StoryWork> {
  const { earlier, startCommit } = options;
  const last = { from: startCommit, isShared: false };
  const root = earlier.length === 0 ? undefined : await git.root();
  if (root === undefined || startCommit === undefined) {
    return last;
  }
  const { found } = await findCommits(root, earlier);
  for (const { hash, parents } of found) {
    const [from] = parents;
    const since = await commitsSince(root, from);
    if (!since.includes(hash)) {
      // A rebase or a reset has removed it from the history.
      continue;
    }
    const own = new Set([...earlier, ...(await commitsSince(root, startCommit))]);
    const isShared = since.some(commit => !own.has(commit));
    const paths = isShared
      ? await touched(
          root,
          startCommit,
          found.map(commit => commit.hash),
        )
      : [];
    return {
      from,
      paths: paths.length > 0 && paths.length <= MAX_PATHS ? paths : undefined,
      isShared,
    };
  }
  return last;
}

/** @param from absent: all commits */
async function commitsSince(root: string, from: string | undefined): Promise<string[]> {
  const range = from === undefined ? ['HEAD'] : ['HEAD', `^${from}`];
  const output = await runGit(root, '--no-optional-locks', 'rev-list', ...range, '--');
  return output.split(/\r?\n/).filter(hash => hash !== '');
}

/** The files changed by some commits, or since the start of the last iteration, under old and new names. */
async function touched(
  root: string,
  startCommit: string,
  commits: readonly string[],
): Promise<string[]> {
  const { files } = await changesOf(root, commits);
  const now = await runGit(
    root,
    ...['--no-optional-locks', '-c', 'core.fsmonitor=false'],
    ...['diff', '--name-only', '-z', '--no-renames', '--no-ext-diff'],
    ...[startCommit, '--'],
  );
  return [
    ...new Set([
      ...files.flatMap(({ after, before }) => [before, after].flatMap(side => side?.path ?? [])),
      ...now.split('\0').filter(path => path !== ''),
    ]),
  ];
}
