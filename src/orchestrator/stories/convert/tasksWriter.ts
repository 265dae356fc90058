import type { NewStoryFile } from '../formats/newStories.ts';
import { isDoneWord } from '../formats/prdKeys.ts';
import { GRAPH_TYPE, isParkedTask } from '../formats/tasksFormat.ts';

/** When a task was made and changed, if that is known. */
export type TaskDates = { readonly [key in 'created' | 'updated']?: string };

/**
 * Stories as the lines of a task graph.
 * @param dates of the stories, by place in the list
 */
export function taskGraphText(
  file: NewStoryFile,
  now: Date,
  dates: readonly TaskDates[] = [],
): string {
  const { branchName, description, project } = file;
  const heading = Object.entries({ project, branchName, description }).filter(
    ([, text]) => text !== '',
  );
  const lines = [
    ...(heading.length === 0 ? [] : [{ type: GRAPH_TYPE, ...Object.fromEntries(heading) }]),
    ...file.stories.map((story, index) => task(story, now.toISOString(), dates[index] ?? {})),
  ];
  return lines.map(line => `${JSON.stringify(line)}\n`).join('');
}

function task(story: NewStoryFile['stories'][number], at: string, dates: TaskDates): object {
  return {
    id: story.id,
    title: story.title,
    description: story.description !== '' ? story.description : undefined,
    acceptanceCriteria:
      story.criteria.length > 0
        ? story.criteria.map(({ done, text }) => (done === undefined ? text : { text, done }))
        : undefined,
    priority: story.priority,
    epic: story.epic,
    model: story.model,
    effort: story.effort,
    maxTurns: story.maxTurns,
    status: statusOf(story),
    blockedBy: story.dependsOn,
    discoveredFrom: story.discoveredFrom,
    created: dates.created ?? at,
    updated: dates.updated ?? at,
  };
}

/** The story's own word, if it says the same in a task graph. */
function statusOf({ done, parked, status }: NewStoryFile['stories'][number]): string {
  if (done) {
    return isDoneWord(status) ? status : 'done';
  }
  const isFit =
    status !== undefined &&
    status.trim() !== '' &&
    !isDoneWord(status) &&
    isParkedTask(status) === (parked === true);
  return isFit ? status : parked === true ? 'deferred' : 'ready';
}
