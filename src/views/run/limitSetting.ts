import type { RunOutcome } from '../../orchestrator/journal/eventCodes.ts';
import type { RunSetting } from '../settings/windowSettings.ts';

/** The setting whose limit ended a run; `undefined` for any other end. Pure. */
export function limitSetting(outcome: RunOutcome | undefined): RunSetting | undefined {
  switch (outcome) {
    case 'budget':
      return 'budgetUsd';
    case 'maxIterations':
      return 'maxIterations';
    default:
      return undefined;
  }
}
