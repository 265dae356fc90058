import { existsSync } from 'node:fs';
import path from 'node:path';
import { type Message, say } from '../../base/say.ts';
import { shellText } from '../../base/shellWord.ts';
import { shorten } from '../../base/text.ts';
import { runGit } from './runGit.ts';

/**
 * The other worktree that has a branch checked out: git does not allow a second one.
 * @param dir absolute path of a folder in the work tree
 * @param ref the branch with `refs/heads/`
 * @returns its folder; `undefined` if there is none
 * @throws git's message
 */
export async function worktreeWith(dir: string, ref: string): Promise<string | undefined> {
  const output = await runGit(dir, '--no-optional-locks', 'worktree', 'list', '--porcelain');
  const [own = '', gitDir = ''] = (
    await runGit(dir, 'rev-parse', '--show-toplevel', '--absolute-git-dir')
  ).split(/\r?\n/);
  const besideGitDir = path.basename(gitDir) === '.git' ? path.dirname(gitDir) : gitDir;
  for (const entry of output.split(/\r?\n\r?\n/)) {
    const lines = entry.split(/\r?\n/);
    const folder = lines.find(line => line.startsWith('worktree '))?.slice('worktree '.length);
    // Where git's folder is elsewhere, as in a submodule, the list names that in the place of this work tree.
    const isHere = folder === own || folder === gitDir || folder === besideGitDir;
    if (folder !== undefined && !isHere && lines.includes(`branch ${ref}`)) {
      return folder;
    }
  }
  return undefined;
}

/** Why a branch that is checked out in another worktree cannot be checked out, and what to do. */
export function heldElsewhere(
  branch: string,
  folder: string,
): { readonly message: Message; readonly next: Message } {
  return {
    message: say(
      'The story file asks for the branch {0}, which is checked out in {1}; git allows it in only one folder.',
      shorten(branch, 200),
      folder,
    ),
    next: say('{0} Or work here with --branch stay.', adviceOnWorktree(folder)),
  };
}

/** What to do about a branch that is checked out in another worktree. */
export function adviceOnWorktree(folder: string): Message {
  return existsSync(folder)
    ? say(
        'Work there: ralph-fresh run --cwd {0}, with the same options. Or remove that worktree.',
        shellText(folder),
      )
    : say("That folder no longer exists, so remove it from git's list: git worktree prune.");
}
