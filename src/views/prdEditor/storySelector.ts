/** Files that may hold stories, for the providers of an editor; others are not even asked about. */
export const STORY_DOCUMENTS = {
  scheme: 'file',
  pattern: '**/*.{json,jsonl,ndjson,md,markdown,mdx,yaml,yml}',
} as const;
