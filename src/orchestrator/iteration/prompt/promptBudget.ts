/**
 * Most tokens of each section, in the order of the prompt, by the estimate of `tokens.ts`. Together they
 * bound the prompt, whatever the files hold.
 */
export const PROMPT_BUDGET = {
  heading: 100,
  task: 1_200,
  warnings: 1_200,
  failedCheck: 1_600,
  review: 800,
  hints: 2_400,
  answers: 800,
  story: 8_500,
  state: 2_400,
  mission: 1_200,
  rules: 500,
} as const;

/** Stable: a context view and the user's own templates name sections by it. */
export type SectionName = keyof typeof PROMPT_BUDGET;

export const SECTION_NAMES = Object.keys(PROMPT_BUDGET) as readonly SectionName[];

/** Most tokens of a whole prompt without a template of the user's own. */
export const PROMPT_MAX_TOKENS = Object.values(PROMPT_BUDGET).reduce((sum, max) => sum + max, 0);

/** Most tokens of single texts within their sections. */
export const PART = {
  title: 90,
  description: 1_200,
  criterion: 174,
  criteria: 40,
  problem: 180,
  change: 90,
  files: 10,
  file: 40,
  changes: 8,
  output: 1_400,
  command: 60,
  commands: 8,
  objection: 150,
  hint: 400,
  question: 150,
  answer: 400,
  commit: 50,
  commits: 10,
  pattern: 115,
  patterns: 1_200,
  learnings: 600,
} as const;

/** So many tokens of hints are in a prompt, the latest. */
export const HINT_TOKENS = PROMPT_BUDGET.hints - 60;

/** @returns what a hint of so many tokens takes in a prompt, at most */
export function hintTokens(tokens: number): number {
  return Math.min(Math.ceil(tokens * 1.1), PART.hint) + 8;
}
