import * as z from 'zod';

/**
 * What the progress page and the extension say to each other. Both sides use this file, so it knows
 * neither VS Code nor a document; the page imports only its types.
 */

//#region to the page

/**
 * Everything the page draws. Always whole: a hidden page loses messages, so that after a change nobody
 * knows what it has seen.
 */
export interface SnapshotMessage {
  readonly type: 'snapshot';
  readonly snapshot: ProgressSnapshot;
}

export type ToPage = SnapshotMessage;

/** Which icon stands beside a state's words. The page decides what it looks like. */
export type Glyph =
  | 'running'
  | 'done'
  | 'progress'
  | 'noProgress'
  | 'failed'
  | 'blocked'
  | 'needsYou'
  | 'stopped'
  | 'interrupted';

/** Texts in it are plain text of any origin, in the user's language where they are ours. */
export interface ProgressSnapshot {
  readonly strings: ProgressStrings;
  /** By the extension's clock, in ms; the page's clock may be that of another machine. */
  readonly sentAt: number;
  /** A short sentence that is read out when it differs from the one before. */
  readonly announcement: string;
  /** Absent while there has been no run. */
  readonly run?: ShownRun;
}

export interface ShownRun {
  readonly glyph: Glyph;
  /** The state in one or two words. */
  readonly status: string;
  /** What it means and what to do next. */
  readonly sentence?: string;
  /** The words of the agent or the system that ended the run. */
  readonly quote?: string;
  /** Its loop is alive. */
  readonly active: boolean;
  readonly stopping: boolean;
  /** Absent without stories: a task in free words. */
  readonly stories?: { readonly done: number; readonly total: number; readonly words: string };
  /** What runs now; present while the loop is alive. */
  readonly now?: ShownNow;
  readonly facts: readonly ShownFact[];
  /** The newest first, and not more than the page can draw at ease. */
  readonly iterations: readonly ShownIteration[];
  /** Says how many older ones are not shown. */
  readonly olderIterations?: string;
}

export interface ShownNow {
  readonly story?: ShownStory;
  /** Which iteration of how many, or what goes on between two. */
  readonly words: string;
  /** ISO time; absent between two iterations. */
  readonly since?: string;
  readonly activity?: string;
}

export interface ShownStory {
  readonly id: string;
  readonly title: string;
}

export interface ShownFact {
  readonly label: string;
  /** `at` is an ISO time: only the page knows the time zone of the person who looks. */
  readonly value: { readonly text: string } | { readonly at: string };
}

export interface ShownIteration {
  readonly number: number;
  readonly glyph: Glyph;
  readonly outcome: string;
  readonly reason?: string;
  readonly story?: ShownStory;
  readonly time?: { readonly ms: number } | { readonly since: string };
  readonly cost?: string;
  readonly commits: readonly ShownCommit[];
  /** Says how many more commits there are. */
  readonly moreCommits?: string;
}

export interface ShownCommit {
  readonly hash: string;
  readonly shortHash: string;
  readonly subject: string;
}

/** Words of the page that do not depend on the run, in the user's language. */
export interface ProgressStrings {
  readonly start: string;
  readonly stop: string;
  readonly stopping: string;
  readonly showTerminal: string;
  readonly now: string;
  readonly run: string;
  readonly iterations: string;
  readonly noIterations: string;
  readonly iterationColumn: string;
  readonly outcomeColumn: string;
  readonly storyColumn: string;
  readonly timeColumn: string;
  readonly costColumn: string;
  readonly commitsColumn: string;
  /** `{0}` hash, `{1}` subject. */
  readonly openCommit: string;
  readonly emptyTitle: string;
  readonly emptyText: string;
  /** `{0}` seconds. */
  readonly seconds: string;
  /** `{0}` minutes, `{1}` seconds. */
  readonly minutes: string;
  /** `{0}` hours, `{1}` minutes. */
  readonly hours: string;
}

//#endregion

//#region from the page

/** The page shows text from agents and strangers, so what comes out of it is checked like any input. */
const fromPageSchema = z.discriminatedUnion('type', [
  /** It has loaded, for the first time or again, and knows nothing. */
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({
    type: z.literal('openCommit'),
    // SHA-1 or SHA-256; nothing that git could take for an option or another revision.
    hash: z.string().regex(/^[0-9a-f]{7,64}$/),
  }),
  z.strictObject({ type: z.literal('startRun') }),
  z.strictObject({ type: z.literal('stopRun') }),
  z.strictObject({ type: z.literal('showTerminal') }),
]);

export type FromPage = z.infer<typeof fromPageSchema>;

/** @returns `undefined` for anything that is not a message of the page */
export function parseFromPage(message: unknown): FromPage | undefined {
  return fromPageSchema.safeParse(message).data;
}

//#endregion
