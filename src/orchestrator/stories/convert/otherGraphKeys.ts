import { isVoid } from '../formats/prdEntry.ts';
import { COMPACTED_TYPE, readTaskGraph } from '../formats/tasksFormat.ts';
import type { StoryFileHeading } from '../story.ts';
import { otherHeadingKeys } from './otherHeading.ts';

/**
 * What the lines of a task graph say that are no tasks, besides its heading: when it was imported, and which finished
 * tasks are in the archive (`compacted.ids`).
 */
export function otherGraphKeys(text: string, heading: StoryFileHeading): string[] {
  const graph = readTaskGraph(text);
  if (!('tasks' in graph)) {
    return [];
  }
  const lost = [
    ...graph.headings.flatMap(entry => otherHeadingKeys(entry, heading, 'type')),
    ...graph.archives.flatMap(entry =>
      Object.keys(entry).flatMap(key =>
        key === 'type' || isVoid(entry[key]) ? [] : [`${COMPACTED_TYPE}.${key}`],
      ),
    ),
  ];
  return [...new Set(lost)];
}
