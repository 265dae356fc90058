/**
 * The command with which a person brings a branch what has landed. Local changes are put back on top, and if files that
 * git ignores are in the way, it refuses and names them. No flag makes git do so in a merge of branches that have
 * diverged: then the person is told of these files before.
 * @param ref the one that holds what has landed
 * @param reason why the branch does not have it, see `HeldReason`
 */
export function bringInCommand(ref: string, reason?: string): string {
  return reason === 'diverged'
    ? `git merge --autostash ${ref}`
    : `git merge --ff-only --no-overwrite-ignore --autostash ${ref}`;
}
