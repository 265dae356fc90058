import type { StoryFormatName } from '../stories/story.ts';
import type { GivenSettings } from './settingTable.ts';

/**
 * Defaults for a kind of story file, in the place of the general ones: whatever a person, a file or a flag sets comes
 * before them. The tasks of an orchestration are small by its own rules, so that one agent finishes one at little cost.
 */
export function sourceDefaults(format: StoryFormatName | undefined): GivenSettings {
  return format === 'orchestration' ? ORCHESTRATION_DEFAULTS : {};
}

const ORCHESTRATION_DEFAULTS = {
  maxIterations: 10,
  maxTurnsPerIteration: 15,
  failThreshold: 3,
  iterationBudgetUsd: 5,
} as const satisfies GivenSettings;
