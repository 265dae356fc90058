import type { RunOutcome } from '../../orchestrator/journal/eventCodes.ts';
import type { RunSetting } from '../settings/windowSettings.ts';

/** The setting whose limit a run has ended at; `undefined` for every other end. Pure. */
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
