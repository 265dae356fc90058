import { isWithin } from '../../base/isWithin.ts';
import { say } from '../../base/say.ts';
import { GitRepository } from '../git/git.ts';
import { namedFiles } from '../git/treeCommit.ts';
import { realPlace } from '../stories/outsideLinks.ts';
import type { Precondition } from './precondition.ts';
import { PROBE_NAME } from './state.ts';

/** Agents with places of their own start from commits, and do not see what the person has not committed. */
export const unseen: Precondition = {
  id: 'unseen',
  needsGit: true,
  async judge({ files: { workspace }, folder, isIsolated, progressFile, storyFile }) {
    if (!isIsolated) {
      return undefined;
    }
    const git = new GitRepository(workspace);
    const [{ changed }, { root = workspace }] = await Promise.all([git.status(), folder()]);
    // A place gets copies of these.
    const copied = [storyFile, progressFile].flatMap(file =>
      file === undefined ? [] : [realPlace(file) ?? file],
    );
    const top = realPlace(root) ?? root;
    const unseenFiles = changed.filter(
      // At the same time, the state folder is tested with a file.
      name =>
        !name.includes(PROBE_NAME) &&
        !copied.some(file => isWithin(`${top}/${name}`, file) || isWithin(file, `${top}/${name}`)),
    );
    return unseenFiles.length === 0
      ? { level: 'holds', message: 'The agents see everything: nothing is uncommitted.' }
      : {
          level: 'warns',
          message: say(
            'The agents start from the last commit, so they do not see your uncommitted changes in {0}.',
            namedFiles(unseenFiles),
          ),
          next: say('Commit what they need; what git ignores can be named in .worktreeinclude.'),
        };
  },
};
