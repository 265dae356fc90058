/**
 * Maximum number of tokens per section, in the order of the prompt, as estimated by `tokens.ts`. Together they
 * limit the prompt, whatever the files contain.
 */
export const PROMPT_BUDGET = {
  heading: 100,
  task: 1_200,
  warnings: 1_200,
  failedCheck: 1_600,
  review: 800,
  conflict: 3_200,
  hints: 2_400,
  answers: 800,
  story: 8_500,
  code: 2_000,
  state: 2_400,
  mission: 1_200,
  rules: 500,
} as const;

/** Stable: a context view and the user's own templates refer to sections by these names. */
export type SectionName = keyof typeof PROMPT_BUDGET;

export const SECTION_NAMES = Object.keys(PROMPT_BUDGET) as readonly SectionName[];

/** Maximum number of tokens of single texts within their sections. */
export const PART = {
  title: 90,
  group: 30,
  needs: 4,
  description: 1_200,
  criterion: 174,
  criteria: 40,
  problem: 180,
  misread: 3,
  change: 90,
  files: 10,
  file: 40,
  changes: 8,
  duplicate: 60,
  duplicates: 5,
  output: 1_400,
  diff: 1_400,
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

/** Maximum number of tokens of hints in a prompt; the latest ones are used. */
export const HINT_TOKENS = PROMPT_BUDGET.hints - 60;

/** @returns the maximum size in a prompt of a hint with this number of tokens */
export function hintTokens(tokens: number): number {
  return Math.min(Math.ceil(tokens * 1.1), PART.hint) + 8;
}
