import { say } from '../../base/say.ts';
import type { Precondition } from './precondition.ts';

/**
 * HEAD is on a branch that keeps the agents' commits. Only a warning: build servers check out a commit instead of a
 * branch, and push commits there by hash.
 */
export const head: Precondition = {
  id: 'head',
  needsGit: true,
  async judge({ head: headNow, isIsolated, settings, stories }) {
    if (isIsolated) {
      // Agents do not commit here.
      return undefined;
    }
    const { branch } = await headNow();
    if (branch !== '') {
      return { level: 'holds', message: `The branch ${branch} is checked out.` };
    }
    const wanted = settings.branch === 'checkout' ? (stories?.branchName ?? '') : '';
    return wanted === ''
      ? {
          level: 'warns',
          message: say(
            "No branch is checked out (detached HEAD), so the agents' commits would belong to no branch and become unreachable after the next switch.",
          ),
          next: say('Make a branch for them: git switch -c ralph/work.'),
        }
      : { level: 'holds', message: 'HEAD is detached; the run goes to the branch of its stories.' };
  },
};
