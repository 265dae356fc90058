import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { Precondition } from './precondition.ts';

/** What gets a second try is a check of the run; otherwise it is set in vain, usually because of a typo. */
export const flakyChecks: Precondition = {
  id: 'flaky',
  async judge({ settings: { flakyChecks: flaky, verify } }) {
    if (flaky.length === 0) {
      return undefined;
    }
    const unknown = flaky.find(command => !verify.includes(command));
    if (unknown === undefined) {
      return { level: 'holds', message: 'Checks that sometimes fail get a second try.' };
    }
    return {
      level: 'warns',
      message: say(
        '"{0}" is to get a second try as a check that sometimes fails, but it is no check of this run.',
        shorten(unknown, 200),
      ),
      next:
        verify.length === 0
          ? say('Make it one with --verify, or take it out of "flakyChecks" (--flaky-check).')
          : say(
              'Write it in "flakyChecks" (--flaky-check) exactly as in "verify", which has: {0}',
              shorten(verify.join(', '), 300),
            ),
    };
  },
};
