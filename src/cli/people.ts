import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { say } from '../base/say.ts';
import { RUN_MARKER } from '../orchestrator/process/processTree.ts';

/**
 * Marks a command that controls runs: only people may call it. An agent, and everything it starts, has the mark of
 * its run in the environment. Otherwise it could tick its own story or lift its own limits.
 */
export function forPeople(command: Command): Command {
  return command.hook('preAction', (_marked, called) => {
    if ((process.env[RUN_MARKER] ?? '') !== '') {
      throw new HumanError(
        say(
          'An agent cannot use "{0}": only people control runs. If you are not an agent, unset {1} and try again.',
          typedName(called),
          RUN_MARKER,
        ),
      );
    }
  });
}

/** As people type it, such as `places clean`. */
function typedName(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${typedName(parent)} ${command.name()}` : command.name();
}
