export type StoryCount = { readonly done: number; readonly total: number };

/** @returns only the counts, without fields that a newer journal may have added */
export function storyCount({ done, total }: StoryCount): StoryCount {
  return { done, total };
}
