import { HumanError } from '../../../base/humanError.ts';
import { say } from '../../../base/say.ts';
import type { GitRepository } from '../../git/git.ts';
import { asHumanError } from '../../git/gitErrors.ts';
import { gitResult } from '../../git/runGit.ts';

/** The difference between the work tree and a commit: committed and uncommitted changes. */
export interface WorkDiff {
  /** Lines added, lines removed (`-` for binary files) and path of each tracked file, as `git diff --numstat`. */
  readonly stat: string;
  /** The changes of tracked files, as a patch. */
  readonly text: string;
  /** New files that are neither tracked nor ignored; relative to the repository's top folder. */
  readonly untracked: readonly string[];
  /** A part was too long and has been cut. */
  readonly isCut: boolean;
}

/** Git's hooks and settings could run programs or change the format, so they are disabled. */
const PLAIN_DIFF: readonly string[] = [
  'diff',
  ...['--no-ext-diff', '--no-textconv', '--no-color', '--find-renames'],
  ...['--src-prefix=a/', '--dst-prefix=b/'],
];

/**
 * Reads the changes since a commit. Takes no lock and writes nothing.
 *
 * @param from a commit's hash; if absent, everything counts as new
 * @param options.maxBytes limit for each part
 * @param options.paths of the tracked files to include, relative to the repository's top folder; absent: all
 * @throws {HumanError} if there is no repository, no such commit, or git cannot read it
 */
export async function readWorkDiff(
  repository: GitRepository,
  from: string | undefined,
  options: { readonly maxBytes: number; readonly paths?: readonly string[] },
): Promise<WorkDiff> {
  const root = await repository.root();
  if (root === undefined) {
    throw new HumanError(
      say('The folder is no longer in a git repository, so nothing can be compared.'),
    );
  }
  const read = (args: readonly string[]) => readGit(root, args, options.maxBytes);
  // Git has a built-in empty tree, whose hash depends on the repository's hash algorithm.
  const base =
    from === undefined
      ? (await read(['hash-object', '-t', 'tree', '--stdin'])).text.trim()
      : await repository.resolveCommit(from);
  // A file name may look like a pattern.
  const paths = (options.paths ?? []).map(file => `:(top,literal)${file}`);
  const [stat, patch, others] = await Promise.all([
    read([...PLAIN_DIFF, '--numstat', base, '--', ...paths]),
    read([...PLAIN_DIFF, base, '--', ...paths]),
    read(['ls-files', '--others', '--exclude-standard', '-z']),
  ]);
  const names = others.text.split('\0');
  // After the last NUL there is nothing, or a name that was cut.
  const untracked = names.slice(0, -1);
  return {
    stat: stat.text,
    text: patch.text,
    untracked,
    isCut: stat.isCut || patch.isCut || others.isCut,
  };
}

async function readGit(
  cwd: string,
  args: readonly string[],
  maxBytes: number,
): Promise<{ text: string; isCut: boolean }> {
  const { code, isCut, stderr, stdout } = await gitResult(
    cwd,
    [
      ...['--no-optional-locks', '--no-pager'],
      ...['-c', 'core.quotepath=off', '-c', 'core.fsmonitor=false'],
      ...args,
    ],
    { maxBytes },
  );
  if (code !== 0) {
    throw asHumanError(new Error(stderr.trim() || `git ${args[0]} ended with ${code}.`));
  }
  return { text: new TextDecoder().decode(stdout), isCut };
}
