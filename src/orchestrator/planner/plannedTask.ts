import { readFile } from 'node:fs/promises';
import { requireInside } from '../stories/outsideLinks.ts';
import type { StoryList } from '../stories/story.ts';

/** The task that a story file was planned for, word for word; `undefined` when it was not planned by us. Pure. */
export function plannedTaskOf(text: string): string | undefined {
  let root: unknown;
  try {
    root = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // No plan of ours is broken JSON; whoever reads the stories tells what is wrong.
    return undefined;
  }
  return typeof root === 'object' &&
    root !== null &&
    'originalTask' in root &&
    typeof root.originalTask === 'string'
    ? root.originalTask
    : undefined;
}

/**
 * Whether a story file holds the plan of this very task, with stories that are still to be done.
 * @param stories what was read from it, when it could be read
 */
export async function isPlannedFor(
  task: string,
  storyFile: string,
  stories: Pick<StoryList, 'stories'> | undefined,
): Promise<boolean> {
  if (stories === undefined || stories.stories.every(({ done }) => done)) {
    return false;
  }
  requireInside(storyFile);
  return plannedTaskOf(await readFile(storyFile, 'utf8')) === task;
}
