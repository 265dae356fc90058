import type { CallChoice, Story, StoryFileHeading } from '../story.ts';

export interface NewStoryFile extends StoryFileHeading {
  readonly stories: readonly Pick<
    Story,
    | 'id'
    | 'title'
    | 'description'
    | 'criteria'
    | 'done'
    | 'priority'
    | 'dependsOn'
    | 'epic'
    | keyof CallChoice
  >[];
}

/**
 * Stories as the text of a `prd.json`, in the documented dialect. Reading it gives the same stories. If no story
 * has a priority, they are numbered in order.
 */
export function prdFileText({ project, branchName, description, stories }: NewStoryFile): string {
  const isNumbered = stories.some(({ priority }) => priority !== undefined);
  const userStories = stories.map((story, index) => {
    const { id, title, criteria, dependsOn, done, epic } = story;
    const priority = isNumbered ? story.priority : index + 1;
    return {
      id,
      title,
      description: story.description,
      acceptanceCriteria: criteria.map(({ text }) => text),
      priority,
      dependsOn: dependsOn.length === 0 ? undefined : dependsOn,
      epic,
      model: story.model,
      effort: story.effort,
      maxTurns: story.maxTurns,
      passes: done,
    };
  });
  return `${JSON.stringify({ project, branchName, description, userStories }, null, 2)}\n`;
}
