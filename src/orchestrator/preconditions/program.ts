import path from 'node:path';
import { isWithin } from '../../base/isWithin.ts';
import { say } from '../../base/say.ts';
import { hasOnOtherBranch } from '../git/branch.ts';
import { ownSettingsFile } from '../settings/ownSettingsFile.ts';
import type { Ground, Precondition } from './precondition.ts';

/** The agent's program is there, and it is the one that the settings name. */
export const program: Precondition = {
  id: 'command',
  async judge(ground) {
    const { env, findAgent, settings, unusedProgram } = ground;
    const { agent } = settings;
    const file = await findAgent?.().catch(async (error: unknown) => {
      if (await comesWithBranch(ground)) {
        return ground.agentProgram;
      }
      throw error;
    });
    if (unusedProgram !== undefined) {
      const { instead, name, setting } = unusedProgram;
      if (instead !== undefined) {
        return {
          level: 'warns',
          message: say(
            'The agent {0} does the work, and not {1}: --agent {0} and --{2} contradict each other.',
            instead,
            name,
            setting,
          ),
          next: say('Leave out one of the two.'),
        };
      }
      return {
        level: 'warns',
        message: say(
          'Claude Code does the work, and not {0}: {1} has "{2}", but not "agent": "command".',
          name,
          ownSettingsFile(env, process.platform) ?? 'config.json',
          setting,
        ),
        next: say('Add "agent": "command" there, or remove "{0}".', setting),
      };
    }
    return file === undefined || agent !== 'command'
      ? undefined
      : { level: 'holds', message: `The agent is ${file}` };
  },
};

/** Whether the program will be there only after the checkout of the branch that the story file names. */
async function comesWithBranch({
  agentProgram = '',
  files: { workspace },
  settings,
  stories,
}: Ground): Promise<boolean> {
  const wanted = stories?.branchName ?? '';
  const file = path.resolve(workspace, agentProgram);
  return (
    settings.branch !== 'stay' &&
    wanted !== '' &&
    /[\\/]/.test(agentProgram) &&
    isWithin(workspace, file) &&
    // What is wrong with the branch, its own precondition says.
    hasOnOtherBranch(workspace, wanted, path.relative(workspace, file).replaceAll('\\', '/')).catch(
      () => false,
    )
  );
}
