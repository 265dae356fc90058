import { sameId } from './formats/backlogTask.ts';
import type { Story, StoryList } from './story.ts';

/**
 * The story that a person means with an id as people type it: the exact one, or the only one whose id differs in upper
 * and lower case, is the same in Backlog.md (`7`, `task-007`), or begins with this number in BMAD (`1.2`). Pure.
 */
export function storyMeant(
  { format, stories }: Pick<StoryList, 'format' | 'stories'>,
  typed: string,
): Story | undefined {
  const exact = stories.find(({ id }) => id === typed);
  if (exact !== undefined) {
    return exact;
  }
  const wanted = typed.trim().toLowerCase();
  const [only, ...others] = stories.filter(({ id }) => {
    const own = id.toLowerCase();
    return (
      own === wanted ||
      (format === 'backlog' && isSameTask(id, typed)) ||
      (format === 'bmad' && own.startsWith(`${wanted.replace('.', '-')}-`))
    );
  });
  return others.length === 0 ? only : undefined;
}

function isSameTask(id: string, typed: string): boolean {
  const prefix = /^([A-Za-z]+)-/.exec(id)?.[1] ?? 'task';
  return sameId(id, prefix) === sameId(typed, prefix);
}
