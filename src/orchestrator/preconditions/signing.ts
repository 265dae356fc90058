import { say } from '../../base/say.ts';
import { runGit } from '../git/runGit.ts';
import type { Precondition } from './precondition.ts';

/** The commits by which work lands are not signed. */
export const signing: Precondition = {
  id: 'signing',
  needsGit: true,
  async judge({ files: { workspace }, isIsolated }) {
    if (!isIsolated) {
      return undefined;
    }
    const signs = await runGit(workspace, 'config', '--type=bool', '--get', 'commit.gpgsign');
    return signs.trim() === 'true'
      ? {
          level: 'warns',
          message: say(
            'Your commits are signed (commit.gpgsign), but the commits by which work lands are not.',
          ),
          next: say(
            'If a server wants signed commits, sign them before you push: git rebase --rebase-merges --exec "git commit --amend --no-edit -S" origin/main',
          ),
        }
      : { level: 'holds', message: 'No commit has to be signed.' };
  },
};
