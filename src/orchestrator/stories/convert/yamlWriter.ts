import { stringify } from 'yaml';
import { isNumberId } from '../../../base/numberId.ts';
import type { NewStoryFile } from '../formats/newStories.ts';
import { isDoneWord, isParkedWord } from '../formats/prdKeys.ts';

type NewStory = NewStoryFile['stories'][number];

/** Stories as the text of an orchestration: a phase for each epic, in the order of the stories. */
export function orchestrationText(file: NewStoryFile): string {
  const phases: { name: string | undefined; tasks: object[] }[] = [];
  let epic: string | undefined;
  for (const story of file.stories) {
    if (phases.length === 0 || story.epic !== epic) {
      epic = story.epic;
      phases.push({ name: epic, tasks: [] });
    }
    phases.at(-1)?.tasks.push(task(story));
  }
  const heading = withoutEmpty({
    name: file.project,
    branch: file.branchName,
    description: file.description,
  });
  // Without aliases: a task that shares its state with others cannot be ticked on its own.
  return stringify({ ...heading, phases }, { lineWidth: 0, aliasDuplicateObjects: false });
}

/** `stringify` leaves out what is undefined. */
function task(story: NewStory): object {
  return {
    id: isNumberId(story.id) ? undefined : story.id,
    name: story.title === story.id && story.description === '' ? undefined : story.title,
    ...withoutEmpty({ description: story.description }),
    done_criteria:
      story.criteria.length === 0
        ? undefined
        : story.criteria.map(({ done, text }) => (done === undefined ? text : { text, done })),
    status: statusOf(story),
    priority: story.priority,
    depends_on: story.dependsOn.length === 0 ? undefined : story.dependsOn,
    model: story.model,
    effort: story.effort,
    max_turns: story.maxTurns,
    discovered_from: story.discoveredFrom,
    commits: [],
  };
}

/** The story's own word, if it says the same in an orchestration. */
function statusOf({ done, parked, status }: NewStory): string {
  if (done) {
    return isDoneWord(status) ? status : 'completed';
  }
  const isFit =
    status !== undefined &&
    status.trim() !== '' &&
    !isDoneWord(status) &&
    isParkedWord(status) === (parked === true);
  return isFit ? status : parked ? 'skipped' : 'pending';
}

function withoutEmpty(texts: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(Object.entries(texts).filter(([, text]) => text !== ''));
}
