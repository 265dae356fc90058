import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { gitResult, writeGit } from './runGit.ts';

/** The first git version that can merge without a work tree. */
export const MERGE_TREE_GIT = '2.38';
/**
 * Options before the command. With `merge.renormalize`, git would run the filters that the repository names; the
 * only programs that a merge may run are its merge drivers.
 */
const CONFIG = ['--no-optional-locks', '-c', 'merge.renormalize=false'];

/** For temporary commits that only represent the sides of a merge; no ref ever points to them. */
const SCRATCH_IDENTITY = [
  ...['-c', 'user.name=Ralph Fresh', '-c', 'user.email=ralph-fresh@localhost'],
  ...['-c', 'commit.gpgSign=false'],
];

/** The result of a merge that only creates git objects. */
export type TreeMerge =
  | { readonly kind: 'merged'; readonly tree: string }
  | {
      readonly kind: 'conflict';
      /** With the marks of the conflicts in its files. */
      readonly tree: string;
      /** All paths that take part in a conflict, old and new ones of renamed files as well. */
      readonly paths: readonly string[];
    }
  /** The two commits have no common history. */
  | { readonly kind: 'unrelated' };

/**
 * Merges two commits without a checkout: work tree, index and refs are not read and not changed.
 * @param ours a full hash, like `theirs`
 * @param base full hash of the commit that counts as the one that both come from; absent: as their histories say
 * @throws {HumanError} if git is too old
 * @throws git's message
 */
export async function mergeTrees(
  dir: string,
  ours: string,
  theirs: string,
  base?: string,
): Promise<TreeMerge> {
  if (base !== undefined) {
    // The oldest supported version has no option for this.
    const sides = [`${ours}^{tree}`, `${theirs}^{tree}`];
    const [left, right] = await Promise.all(sides.map(tree => scratchCommit(dir, tree, base)));
    return mergeTrees(dir, left ?? ours, right ?? theirs);
  }
  const args = [...CONFIG, 'merge-tree', '--write-tree', '-z', '--messages', ours, theirs];
  const { code, stderr, stdout } = await gitResult(dir, args, { writes: true });
  const fields = stdout.toString('utf8').split('\0');
  const [tree = ''] = fields;
  // Git also ends with 1 if one of the commits does not exist.
  if (/^[0-9a-f]{40,64}$/.test(tree) && (code === 0 || code === 1)) {
    return code === 0 ? { kind: 'merged', tree } : { kind: 'conflict', tree, paths: paths(fields) };
  }
  if (isTooOld(stderr)) {
    throw new HumanError(
      say(
        'Bringing in the work of an agent needs git {0} or newer. Update git and try again.',
        MERGE_TREE_GIT,
      ),
    );
  }
  // The message is localized.
  const common = await gitResult(dir, ['--no-optional-locks', 'merge-base', ours, theirs]);
  if (common.code === 1 && common.stdout.length === 0) {
    return { kind: 'unrelated' };
  }
  throw new Error(stderr.trim() || `git merge-tree ended with ${code}.`);
}

/** A commit that stands for one side of a merge; nothing ever leads to it. */
export async function scratchCommit(
  dir: string,
  tree: string,
  parent: string | undefined,
): Promise<string> {
  const base = parent === undefined ? [] : ['-p', parent];
  const args = [...SCRATCH_IDENTITY, 'commit-tree', tree, ...base, '-m', 'side of a merge'];
  return (await writeGit(dir, args)).trim();
}

/** Older versions print their usage, with other options. */
export function isTooOld(stderr: string): boolean {
  return /git merge-tree /.test(stderr) && !stderr.includes('--write-tree');
}

/**
 * After the tree: `<mode> <object> <stage>\t<path>` for each side of a conflict, an empty field, then the messages,
 * each as a number of paths, the paths, its type and its text. There are conflicts of folders that only a message
 * names.
 */
function paths(fields: readonly string[]): string[] {
  const found = new Set<string>();
  let at = 1;
  for (let field = fields[at]; field !== undefined && field !== ''; field = fields[at]) {
    found.add(field.slice(field.indexOf('\t') + 1));
    at += 1;
  }
  for (at += 1; at < fields.length; ) {
    const count = Number.parseInt(fields[at] ?? '', 10);
    if (Number.isNaN(count)) {
      break;
    }
    const named = fields.slice(at + 1, at + 1 + count);
    // Not localized, unlike the text.
    if (fields[at + 1 + count]?.startsWith('CONFLICT')) {
      for (const name of named) {
        found.add(name);
      }
    }
    at += count + 3;
  }
  return [...found];
}
