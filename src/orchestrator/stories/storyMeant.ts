import { sameId } from './formats/backlogTask.ts';
import type { Story, StoryFormatName, StoryList } from './story.ts';

/** The story that a person means with an id as people type it, see {@link idMeant}. Pure. */
export function storyMeant(
  { format, stories }: Pick<StoryList, 'format' | 'stories'>,
  typed: string,
): Story | undefined {
  // Of several with this id, the first.
  const id = idMeant(
    format,
    stories.map(story => story.id),
    typed,
  );
  return id === undefined ? undefined : stories.find(story => story.id === id);
}

/**
 * The id that a person means: the exact one, or the only one that differs in upper and lower case, is the same in
 * Backlog.md (`7`, `task-007`), begins with this number in BMAD (`1.2`), or is the place in a list without ids (`2` for
 * `#2`, which a shell takes for a comment). Pure.
 */
export function idMeant(
  format: StoryFormatName | undefined,
  ids: Iterable<string>,
  typed: string,
): string | undefined {
  const all = new Set(ids);
  if (all.has(typed)) {
    return typed;
  }
  const wanted = typed.trim().toLowerCase();
  const [only, ...others] = [...all].filter(id => {
    const own = id.toLowerCase();
    return (
      own === wanted ||
      own === `#${wanted}` ||
      (format === 'backlog' && isSameTask(id, typed)) ||
      (format === 'bmad' && own.startsWith(`${wanted.replaceAll('.', '-')}-`))
    );
  });
  return others.length === 0 ? only : undefined;
}

function isSameTask(id: string, typed: string): boolean {
  const prefix = /^([A-Za-z]+)-/.exec(id)?.[1] ?? 'task';
  return sameId(id, prefix) === sameId(typed, prefix);
}
