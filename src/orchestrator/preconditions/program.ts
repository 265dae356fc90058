import { say } from '../../base/say.ts';
import { ownSettingsFile } from '../settings/ownSettingsFile.ts';
import type { Precondition } from './precondition.ts';

/** The agent's program is there, and it is the one that the settings name. */
export const program: Precondition = {
  id: 'command',
  async judge({ env, findAgent, settings: { agent }, unusedProgram }) {
    const file = await findAgent?.();
    if (unusedProgram !== undefined) {
      const { name, setting } = unusedProgram;
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
