import { changesOf, findCommits } from '../../git/changes.ts';
import type { GitRepository } from '../../git/git.ts';
import { runGit } from '../../git/runGit.ts';

/** More paths than this do not fit into one command line everywhere; then none is left out. */
const MAX_PATHS = 200;

/** Where the work on a story began, and what of it is to be looked at. */
export interface StoryWork {
  /** Full hash; absent when there was no commit before. */
  readonly from?: string;
  /** Relative to the repository's root; absent: all files. */
  readonly paths?: readonly string[];
  /** Others have committed in between. */
  readonly isShared: boolean;
}

/**
 * Finds the whole work on a story that took several iterations of a run. Where others have committed in between, only
 * the files count that the story's own iterations touched.
 *
 * @param options.startCommit HEAD before the last iteration
 * @param options.earlier the story's commits of the iterations before it, the oldest first; those that are not in the
 *   history of HEAD any more do not count
 * @throws git's error when the repository cannot be read
 */
export async function storyWork(
  git: GitRepository,
  options: { readonly startCommit?: string; readonly earlier: readonly string[] },
): Promise<StoryWork> {
  const { earlier, startCommit } = options;
  const last = { ...(startCommit === undefined ? {} : { from: startCommit }), isShared: false };
  const root = earlier.length === 0 ? undefined : await git.root();
  if (root === undefined || startCommit === undefined) {
    return last;
  }
  const { found } = await findCommits(root, earlier);
  for (const { hash, parents } of found) {
    const [from] = parents;
    const since = await commitsSince(root, from);
    if (!since.includes(hash)) {
      // A rebase or a reset has taken it out of the history.
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
      ...(from === undefined ? {} : { from }),
      ...(paths.length > 0 && paths.length <= MAX_PATHS ? { paths } : {}),
      isShared,
    };
  }
  return last;
}

/** @param from absent: since the beginning */
async function commitsSince(root: string, from: string | undefined): Promise<string[]> {
  const range = from === undefined ? ['HEAD'] : ['HEAD', `^${from}`];
  const output = await runGit(root, '--no-optional-locks', 'rev-list', ...range, '--');
  return output.split(/\r?\n/).filter(hash => hash !== '');
}

/** What some commits changed, and what has changed since the last iteration began, under old names and new ones. */
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
