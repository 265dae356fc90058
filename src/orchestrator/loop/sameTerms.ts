import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { RunState } from '../journal/runState.ts';
import { recalledSettings } from '../settings/settings.ts';
import type { GivenSettings, Settings } from '../settings/settingTable.ts';
import type { EarlierRun } from './resume.ts';

/**
 * The number of agents that a person has chosen while the run was active counts when it continues. With one, agents
 * still have a place of their own, as they had.
 */
export function chosenLanes({ isolated, lanesChosen }: RunState): GivenSettings {
  return isolated && lanesChosen !== undefined
    ? recalledSettings({ lanes: lanesChosen, isolate: true })
    : {};
}

/**
 * Checks whether a continued run would differ from what the person knows: another agent, or weaker checks because a
 * settings file has changed meanwhile. Flags given now are intentional.
 *
 * @param given the flags of now
 * @param remembered the flags of the run, combined with those of now
 * @throws {HumanError} naming what changed and how to confirm it
 */
export function requireSameTerms(
  { agent, state, wasReviewed }: EarlierRun,
  settings: Settings,
  { given, remembered }: { readonly given: GivenSettings; readonly remembered: GivenSettings },
): void {
  const namesAgent = [given.agent, given.command, given.preset].some(value => value !== undefined);
  if (agent !== '' && agent !== settings.agent && !namesAgent) {
    const began = shorten(agent, 40);
    throw new HumanError(
      agent === 'command'
        ? say(
            'The run was started with another program as its agent, which is not stored. Pass --preset or --command again, or choose --agent {0}.',
            settings.agent,
          )
        : say(
            'The run was started with the agent {0}, and {1} would continue it. Pass --agent {0} again, or choose --agent {1}.',
            began,
            settings.agent,
          ),
    );
  }
  const missing = state.verify.filter(command => !settings.verify.includes(command));
  if (missing.length > 0 && given.verify === undefined) {
    const named = missing.map(command => `--verify ${JSON.stringify(command)}`).join(' ');
    throw new HumanError(
      say(
        'The run was checked by commands that are no longer in the settings. Find out who changed .omc/config.json; then name the checks to use, such as {0}, or start a new run with --new.',
        shorten(named, 400),
      ),
    );
  }
  if (wasReviewed && !settings.reviewer && remembered.reviewer === undefined) {
    throw new HumanError(
      say(
        'The stories of the run were reviewed, and the settings no longer ask for a reviewer. Find out who changed .omc/config.json; then pass --reviewer or --no-reviewer, or start a new run with --new.',
      ),
    );
  }
}
