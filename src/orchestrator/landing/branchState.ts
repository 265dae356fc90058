import { runGit } from '../git/runGit.ts';

/** Where a branch is, and which work tree has it checked out. */
export interface BranchState {
  /** Full hash; absent if the branch does not exist. */
  readonly commit?: string;
  /** The user's work tree has it checked out. */
  readonly isHere: boolean;
  /** The folder of another work tree that has it checked out. */
  readonly elsewhere?: string;
  /** Full hash of the tip that the branch could not follow to; absent if there is none. */
  readonly tip?: string;
}

/**
 * Reads the branch and the ref of its tip with one process.
 * @param ref the branch with `refs/heads/`
 * @throws git's message
 */
export async function readBranchState(
  root: string,
  ref: string,
  tipRef: string,
): Promise<BranchState> {
  const format = '%(refname)%00%(objectname)%00%(HEAD)%00%(worktreepath)%00';
  const output = await runGit(
    root,
    ...['--no-optional-locks', 'for-each-ref', `--format=${format}`, ref, tipRef],
  );
  const fields = output.split('\0').map((field, i) => (i % 4 === 0 ? field.trimStart() : field));
  const at = (name: string) => fields.findIndex((field, i) => i % 4 === 0 && field === name);
  const tip = at(tipRef) === -1 ? undefined : fields[at(tipRef) + 1];
  const own = at(ref);
  if (own === -1) {
    return { isHere: false, tip };
  }
  const isHere = fields[own + 2] === '*';
  const folder = fields[own + 3] ?? '';
  return {
    commit: fields[own + 1],
    isHere,
    elsewhere: isHere || folder === '' ? undefined : folder,
    tip,
  };
}
