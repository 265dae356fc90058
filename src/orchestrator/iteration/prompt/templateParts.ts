import { SECTION_NAMES, type SectionName } from './promptBudget.ts';

/** Maximum number of tokens per fact. */
export const FACTS = {
  N: 4,
  MAX: 4,
  original_prompt: 1_200,
  project: 60,
  branch: 60,
  completed: 4,
  total: 4,
  remaining: 4,
  nextStoryId: 60,
  nextStoryTitle: 90,
  lastCompletedStory: 60,
  lastError: 180,
  completion_promise: 60,
  storyFile: 120,
  progressFile: 120,
} as const;

/** Maximum number of items per list, and of tokens. */
export const LISTS = {
  recentCommits: { items: 10, tokens: 80 },
  patterns: { items: 100, tokens: 115 },
  learnings: { items: 100, tokens: 115 },
  verify: { items: 8, tokens: 65 },
} as const;

/** A single fact. */
export type FactName = keyof typeof FACTS;
/** A list of facts. */
export type ListName = keyof typeof LISTS;

/** All names that a template may use outside of `{{#each}}`. */
export const PLACEHOLDERS: readonly string[] = [
  ...SECTION_NAMES,
  ...Object.keys(FACTS),
  ...Object.keys(LISTS),
];

/** A part of the text that is repeated for each item of a list. */
export type ItemPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'field'; readonly name: string };

/** A part of a template. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  /** `alone`: nothing else is on its line, which is removed if the section is empty. */
  | { readonly kind: 'section'; readonly name: SectionName; readonly alone: boolean }
  | { readonly kind: 'fact'; readonly name: FactName }
  | { readonly kind: 'list'; readonly name: ListName }
  | { readonly kind: 'each'; readonly name: ListName; readonly item: readonly ItemPart[] };

/** The item fields of each list. */
export function fieldsOf(list: ListName): readonly string[] {
  return list === 'recentCommits' ? ['hash', 'message', 'this'] : ['this'];
}
