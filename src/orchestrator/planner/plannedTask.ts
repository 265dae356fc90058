import { readFile } from 'node:fs/promises';
import { requireInside } from '../stories/outsideLinks.ts';
import type { StoryList } from '../stories/story.ts';

/** The task from which a story file was planned, verbatim; `undefined` if it was not planned by us. Pure. */
export function plannedTaskOf(text: string): string | undefined {
  let root: unknown;
  try {
    root = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // Our plans are never broken JSON. Reading the stories reports the problem.
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
 * Whether a story file contains the plan of exactly this task, with stories that are still open.
 * @param stories the content, if it could be read
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
