import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { runGit } from '../git/runGit.ts';
import type { Precondition } from './precondition.ts';

/** Git does not track the state folder. */
export const trackedState: Precondition = {
  id: 'tracked',
  needsGit: true,
  async judge({ files: { workspace } }) {
    const output = await runGit(
      workspace,
      ...['--no-optional-locks', 'ls-files', '-z', '--', '.omc/state'],
    ).catch(error => {
      throw asHumanError(error);
    });
    const tracked = output.split('\0').filter(file => file !== '');
    const [first] = tracked;
    if (first === undefined) {
      return { level: 'holds', message: 'git does not see the state.' };
    }
    const named = shorten(first, 200);
    const more = tracked.length - 1;
    return {
      level: 'warns',
      message: say(
        'git tracks state files: {0}.',
        more > 0 ? say('{0} and {1} more', named, more) : named,
      ),
      next: say('Remove them from git: git rm -r --cached .omc/state, then commit.'),
    };
  },
};
