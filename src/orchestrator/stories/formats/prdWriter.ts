import { isNumberId } from '../../../base/numberId.ts';
import type { NewStoryFile } from './newStories.ts';
import { isParkedWord } from './prdKeys.ts';
import { saysMore } from './statusWord.ts';

/**
 * Stories as the text of a `prd.json`, in the documented dialect. Reading it gives the same stories. If no story
 * has a priority, they are numbered in order, unless they are to stay as they are.
 */
export function prdFileText(
  { project, branchName, description, stories }: NewStoryFile,
  options: { readonly numbered?: boolean } = {},
): string {
  const isNumbered =
    options.numbered === false || stories.some(({ priority }) => priority !== undefined);
  const userStories = stories.map((story, index) => {
    const { id, title, criteria, dependsOn, done, epic, status } = story;
    const priority = isNumbered ? story.priority : index + 1;
    return {
      id: isNumberId(id) ? undefined : id,
      title,
      description: story.description,
      acceptanceCriteria: criteria.map(criterion =>
        criterion.done === undefined
          ? criterion.text
          : { text: criterion.text, done: criterion.done },
      ),
      priority,
      dependsOn: dependsOn.length === 0 ? undefined : dependsOn,
      epic,
      discoveredFrom: story.discoveredFrom,
      model: story.model,
      effort: story.effort,
      maxTurns: story.maxTurns,
      status: status !== undefined && saysMore(status, done) ? status : undefined,
      // Where the word does not say it.
      parked: story.parked === true && !done && !isParkedWord(status) ? true : undefined,
      passes: done,
    };
  });
  return `${JSON.stringify({ project, branchName, description, userStories }, null, 2)}\n`;
}
