import { say } from '../../base/say.ts';
import { runGit } from '../git/runGit.ts';
import type { Precondition } from './precondition.ts';

/** A git repository with files to work on: iterations pass on their work through commits. */
export const repository: Precondition = {
  id: 'git',
  async judge({ files: { workspace }, folder, head: headNow }) {
    const { isBare, root } = await folder();
    if (root === undefined) {
      return isBare
        ? {
            level: 'refuses',
            message: say('{0} is a bare git repository, which has no files to work on.', workspace),
            next: say(
              'Start in a clone of it, or in a worktree: git worktree add ../work, then ralph-fresh run --cwd ../work.',
            ),
          }
        : {
            level: 'refuses',
            message: say(
              '{0} is not in a git repository, and commits are how iterations hand over their work.',
              workspace,
            ),
            next: say('Run "git init" there, commit once, and start again.'),
          };
    }
    const [{ head }, version] = await Promise.all([headNow(), runGit(workspace, 'version')]);
    if (head === undefined) {
      return {
        level: 'warns',
        message: say('The repository has no commit yet.'),
        next: say('Make a first commit, so that there is a state to go back to.'),
      };
    }
    const number = version.replace('git version', '').trim();
    return { level: 'holds', message: `git ${number}, repository ${root}` };
  },
};
