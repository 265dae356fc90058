import { gitResult } from './runGit.ts';

/**
 * The commits that no remote branch has, as far as this repository knows: after the last push or fetch.
 * @param dir absolute path of a folder in the work tree
 * @param hashes full hashes; one that the repository does not have counts as not pushed
 */
export async function unpushedCommits(
  dir: string,
  hashes: readonly string[],
): Promise<ReadonlySet<string>> {
  const unpushed = new Set<string>();
  for (const hash of hashes) {
    const { code, stdout } = await gitResult(dir, [
      ...['--no-optional-locks', 'for-each-ref', '--count=1', '--format=%(refname)'],
      ...[`--contains=${hash}`, 'refs/remotes'],
    ]);
    if (code !== 0 || stdout.length === 0) {
      unpushed.add(hash);
    }
  }
  return unpushed;
}
