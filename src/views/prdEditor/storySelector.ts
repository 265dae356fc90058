/** Files that may contain stories, for the providers of an editor; other files are not read at all. */
export const STORY_DOCUMENTS = {
  scheme: 'file',
  pattern: '**/*.{json,jsonl,ndjson,md,markdown,mdx,yaml,yml}',
} as const;

/** Files that may be plans. */
export const PLAN_DOCUMENTS = { scheme: 'file', pattern: '**/*.{md,markdown,mdx}' } as const;
