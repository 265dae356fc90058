import path from 'node:path';
import type { FileVersion } from './changes.ts';
import { GitRepository } from './git.ts';
import { runGit } from './runGit.ts';

/** Maximum number of commits of a file to examine. */
const MAX_COMMITS = 1_000;

/** The origin of lines in a file. */
export interface LineOrigin {
  /** Full hashes of the commits that last changed these lines, newest first. */
  readonly lines: readonly string[];
  /** Full hashes of the commits that changed the file, newest first. */
  readonly file: readonly string[];
}

/**
 * Asks git which commits changed lines of a file.
 * @param dir absolute path of a folder in the work tree
 * @param first 1-based
 * @param last 1-based, inclusive
 * @throws git's error if the commit has no such file
 */
export async function lineOrigin(
  dir: string,
  version: FileVersion,
  first: number,
  last: number,
): Promise<LineOrigin> {
  const file = version.path;
  const commit = await new GitRepository(dir).resolveCommit(version.commit);
  const up = (await runGit(dir, 'rev-parse', '--show-cdup')).replace(/\r?\n$/, '');
  const root = path.join(dir, up);
  const log = await runGit(
    root,
    ...['--no-optional-locks', '--literal-pathspecs', 'log', '--follow', '--format=%H'],
    ...[`--max-count=${MAX_COMMITS}`, commit, '--', file],
  );
  const commits = log.split(/\r?\n/).filter(hash => hash !== '');
  const writers = await blamed(root, { commit, path: file }, first, last);
  return { lines: commits.filter(hash => writers.has(hash)), file: commits };
}

async function blamed(
  root: string,
  { commit, path: file }: FileVersion,
  first: number,
  last: number,
): Promise<ReadonlySet<string>> {
  let output: string;
  try {
    output = await runGit(
      root,
      ...['--no-optional-locks', 'blame', '--porcelain'],
      ...[`-L${first},${last}`, commit, '--', file],
    );
  } catch {
    // An editor shows one line more than git has, the empty one at the end. The file's own commits are known.
    return new Set();
  }
  return new Set(
    [...output.matchAll(/^([0-9a-f]{40}|[0-9a-f]{64}) \d+ \d+/gm)].map(([, hash = '']) => hash),
  );
}
