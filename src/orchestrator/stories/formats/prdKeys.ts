/**
 * The keys and words of the dialects of `prd.json`. Existing loops agree on no key except `id`, so each field is looked
 * up under several keys, and the first one present is used. `docs/story-files.md` documents the same order.
 */

/** Keys with the value `true`, or a word such as `passing`, for a done story, in order of precedence. */
export const DONE_KEYS = [
  'passes',
  'passed',
  'passing',
  'tested',
  'completed',
  'complete',
] as const;

/** Keys with a word for the state of a story, in order of precedence. They decide only if there is no done key. */
export const STATUS_KEYS = ['status', 'state'] as const;

/** A key that can decide whether a story is done. */
export type DoneKey = (typeof DONE_KEYS)[number] | StatusKey;
export type StatusKey = (typeof STATUS_KEYS)[number];

/** The keys that can decide whether a story is done, in order of precedence. */
export const STATE_KEYS: readonly DoneKey[] = [...DONE_KEYS, ...STATUS_KEYS];

/** Keys that name the stories that must be done before. All of them are combined. */
export const DEPENDENCY_KEYS = [
  'dependsOn',
  'depends_on',
  'dependencies',
  'blockedBy',
  'blocked_by',
] as const;

/** Keys that name the story during which an agent found this work. */
export const DISCOVERED_KEYS = ['discoveredFrom', 'discovered_from'] as const;

/** Keys under which an object contains its stories, in order of precedence. */
export const LIST_KEYS = [
  'userStories',
  'stories',
  'user_stories',
  'tasks',
  'features',
  'items',
] as const;

/** Keys of lists of groups, each of which may have stories. */
export const GROUP_KEYS = ['phases', 'sprints', 'epics', 'milestones'] as const;

export const TITLE_KEYS = [
  'title',
  'name',
  'heading',
  'summary',
  'description',
  'prdDescription',
  'story',
];
export const DESCRIPTION_KEYS = [
  'description',
  'details',
  'prdDescription',
  'story',
  'summary',
  'spec',
  'implementation',
];
export const EPIC_KEYS = [
  'epic',
  'phase',
  'milestone',
  'sprint',
  'group',
  'gate',
  'category',
  'prdCategory',
];
export const CRITERIA_KEYS = [
  'acceptanceCriteria',
  'acceptance_criteria',
  'acceptance',
  'criteria',
  'done_criteria',
  'doneCriteria',
  'verification',
  'validation',
  'stepsToVerify',
  'steps',
  'testSteps',
  'requirements',
  'actionItems',
  'tests',
  'expectedResult',
  'tasks',
];
export const DONE_WORDS = new Set([
  'done',
  'completed',
  'complete',
  'closed',
  'verified',
  'passed',
  'passing',
  'pass',
  'shipped',
  'resolved',
  'finished',
  'merged',
]);
/** Words for a story that nobody is to work on: it will not be done, or not now. */
export const PARKED_WORDS: ReadonlySet<string> = new Set([
  ...['skipped', 'cancelled', 'canceled', 'deferred', 'abandoned', 'archived', 'tombstone'],
  ...["won't do", 'wont do', "won't fix", 'wont fix', 'wontfix', 'not planned'],
  ...['duplicate', 'obsolete', 'superseded', 'dropped', 'discovered'],
]);
export const PRIORITY_WORDS: ReadonlyMap<string, number> = new Map([
  ['critical', 0],
  ['high', 1],
  ['medium', 2],
  ['normal', 2],
  ['low', 3],
  ['p0', 0],
  ['p1', 1],
  ['p2', 2],
  ['p3', 3],
  ['p4', 4],
]);

export function isStatusKey(key: string | undefined): key is StatusKey {
  return STATUS_KEYS.some(statusKey => statusKey === key);
}

/** Whether a value is one of the words for done, ignoring case and surrounding white space. */
export function isDoneWord(value: unknown): value is string {
  return typeof value === 'string' && DONE_WORDS.has(value.trim().toLowerCase());
}

/** Whether a status says that a story was put aside. */
export function isParkedWord(value: unknown): value is string {
  return typeof value === 'string' && PARKED_WORDS.has(normaliseWord(value));
}

/** A status in the form in which words are compared. */
export function normaliseWord(word: string): string {
  // Most words are in this form already.
  return /^[a-z]+$/.test(word)
    ? word
    : word
        .trim()
        .toLowerCase()
        .replaceAll('\u2019', "'")
        .replaceAll(/[\s_-]+/g, ' ');
}
