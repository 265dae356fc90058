import { isNumberId } from '../../../base/numberId.ts';
import type { NewStoryFile } from '../formats/newStories.ts';
import { isDoneWord } from '../formats/prdKeys.ts';
import { GRAPH_TYPE, isParkedTask } from '../formats/tasksFormat.ts';
import type { Story } from '../story.ts';

/** Stories of which each has an id of its own, as tasks of a graph need it; the ids of the others are kept. */
export function withOwnIds(stories: readonly Story[]): readonly Story[] {
  const used = new Set(stories.map(({ id }) => id));
  const given = new Map<string, string>();
  let next = 1;
  for (const { id } of stories) {
    if (isNumberId(id)) {
      while (used.has(`T-${next}`)) {
        next += 1;
      }
      used.add(`T-${next}`);
      given.set(id, `T-${next}`);
    }
  }
  const idOf = (id: string) => given.get(id) ?? id;
  return stories.map(story => ({
    ...story,
    id: idOf(story.id),
    // A title that is only the number of the story is none.
    title: story.title === story.id ? idOf(story.id) : story.title,
    dependsOn: story.dependsOn.map(idOf),
    ...(story.discoveredFrom !== undefined && { discoveredFrom: idOf(story.discoveredFrom) }),
  }));
}

/** Stories as the lines of a task graph. */
export function taskGraphText(file: NewStoryFile, now: Date): string {
  const { branchName, description, project } = file;
  const heading = Object.entries({ project, branchName, description }).filter(
    ([, text]) => text !== '',
  );
  const lines = [
    ...(heading.length === 0 ? [] : [{ type: GRAPH_TYPE, ...Object.fromEntries(heading) }]),
    ...file.stories.map(story => task(story, now.toISOString())),
  ];
  return lines.map(line => `${JSON.stringify(line)}\n`).join('');
}

function task(story: NewStoryFile['stories'][number], at: string): object {
  return {
    id: story.id,
    title: story.title,
    ...(story.description !== '' && { description: story.description }),
    ...(story.criteria.length > 0 && {
      acceptanceCriteria: story.criteria.map(({ done, text }) =>
        done === undefined ? text : { text, done },
      ),
    }),
    priority: story.priority,
    epic: story.epic,
    model: story.model,
    effort: story.effort,
    maxTurns: story.maxTurns,
    status: statusOf(story),
    blockedBy: story.dependsOn,
    discoveredFrom: story.discoveredFrom,
    created: at,
    updated: at,
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
