import type { StoryList } from '../stories/story.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { DEFAULT_SETTINGS, type GivenSettings, type Settings } from './settingTable.ts';

/** The settings with which the stories of a file are worked on. */
export async function settingsForStories(
  given: GivenSettings,
  storyFile: string | undefined,
): Promise<Settings> {
  const list = storyFile === undefined ? undefined : await readStoryList(storyFile);
  return { ...DEFAULT_SETTINGS, ...sourceDefaults(list), ...given };
}

/**
 * Defaults for a kind of story file, in the place of the general ones: whatever a person, a file or a flag sets comes
 * before them. The tasks of an orchestration with phases are small by its own rules, so that one agent finishes one at little cost.
 */
export function sourceDefaults(
  file: Pick<StoryList, 'format' | 'hasPhases'> | undefined,
): GivenSettings {
  return file?.format === 'orchestration' && file.hasPhases === true ? ORCHESTRATION_DEFAULTS : {};
}

const ORCHESTRATION_DEFAULTS = {
  maxIterations: 10,
  maxTurnsPerIteration: 15,
  failThreshold: 3,
  iterationBudgetUsd: 5,
} as const satisfies GivenSettings;
