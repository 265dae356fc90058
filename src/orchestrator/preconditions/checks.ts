import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { hasOnOtherBranch } from '../git/branch.ts';
import { type CheckLack, lackOfCheck } from '../proof/checks/checkLack.ts';
import type { Ground, Judgement, Precondition } from './precondition.ts';

/** Maximum length of a command or a name in a message, in UTF-16 units. */
const MAX_WORDS = 200;
/** Maximum number of commands that are named. */
const MAX_NAMED = 3;

/**
 * Each check can pass: no agent can make one green whose program is not there. It is a warning, because a story may
 * bring what is missing.
 */
export const checks: Precondition = {
  id: 'verify',
  async judge(ground) {
    const {
      env,
      files: { workspace },
      settings: { verify },
    } = ground;
    const found = await Promise.all(
      verify.map(async command => {
        const lack = await lackOfCheck(command, { env, folder: workspace });
        return lack === undefined || (lack.kind !== 'program' && (await comesWithBranch(ground)))
          ? []
          : [warning(shorten(command, MAX_WORDS), lack)];
      }),
    );
    const warnings = found.flat();
    if (verify.length === 0 || warnings.length > 0) {
      return warnings;
    }
    const named = verify.slice(0, MAX_NAMED).map(command => shorten(command, MAX_WORDS));
    const more = verify.length - named.length;
    return {
      level: 'holds',
      message: `Checks that must pass before a story is done: ${named.join(', ')}${more > 0 ? ` (and ${more} more)` : ''}`,
    };
  },
};

function warning(command: string, lack: CheckLack): Judgement {
  switch (lack.kind) {
    case 'program':
      return {
        level: 'warns',
        message: say(
          'The check "{0}" cannot pass: there is no program "{1}" in PATH.',
          command,
          shorten(lack.program, MAX_WORDS),
        ),
        next: lack.isLocal
          ? say('Write it as "npx {0}".', command)
          : say('Install it, or correct the check in "verify" (--verify).'),
      };
    case 'manifest':
      return {
        level: 'warns',
        message: say('The check "{0}" cannot pass: there is no package.json.', command),
        next: say('Let a first story create it, or correct the check in "verify" (--verify).'),
      };
    case 'script':
      return {
        level: 'warns',
        message: lack.isPlaceholder
          ? say(
              'The check "{0}" cannot pass: the script "{1}" in {2} is the one of "npm init", which always fails.',
              ...([command, lack.script, lack.manifest] as const),
            )
          : say(
              'The check "{0}" cannot pass: {2} has no script "{1}".',
              ...([command, lack.script, lack.manifest] as const),
            ),
        next: say('Let a first story add it, or correct the check in "verify" (--verify).'),
      };
  }
}

/** Whether package.json is another one after the checkout of the branch that the story file names. */
async function comesWithBranch({
  files: { workspace },
  settings,
  stories,
}: Ground): Promise<boolean> {
  const wanted = stories?.branchName ?? '';
  return (
    settings.branch !== 'stay' &&
    wanted !== '' &&
    // What is wrong with the branch, its own precondition says.
    hasOnOtherBranch(workspace, wanted, 'package.json').catch(() => false)
  );
}
