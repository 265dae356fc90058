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
  readonly strings: ProgressStrings;
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
  | 'waiting'
  | 'interrupted';

/** Texts in it are plain text of any origin, in the user's language where they are ours. */
export interface ProgressSnapshot {
  /** By the extension's clock, in ms; the page's clock may be that of another machine. */
  readonly sentAt: number;
  /** Short sentences on where the run stands. Those that were not among the ones before are read out. */
  readonly announcements: readonly string[];
  /** The window's folders, when there are several to choose from. */
  readonly folders?: readonly ShownFolder[];
  /** Absent while there has been no run. */
  readonly run?: ShownRun;
}

export interface ShownFolder {
  /** Its path; what the page says when it is chosen. */
  readonly id: string;
  readonly name: string;
  readonly active: boolean;
}

export interface ShownRun {
  readonly id: string;
  readonly glyph: Glyph;
  /** The state in one or two words. */
  readonly status: string;
  /** What it means and what to do next. */
  readonly sentence?: string;
  /** The words of the agent or the system that ended the run. */
  readonly quote?: string;
  /** Its loop is alive. */
  readonly active: boolean;
  /** ISO time when a usage limit ends. */
  readonly until?: string;
  readonly actions: readonly ShownAction[];
  /** An agent's question that can be answered now. */
  readonly question?: ShownQuestion;
  /** What runs now; present while the loop is alive. */
  readonly now?: ShownNow;
  /** Absent without stories: a task in free words. */
  readonly stories?: ShownMeter;
  /** Absent while nothing is known of the cost; `max` is the budget. */
  readonly cost?: ShownMeter;
  readonly facts: readonly ShownFact[];
  /** What the agent and the loop said and did last, oldest first. */
  readonly activity: readonly ShownActivity[];
  readonly charts?: ShownCharts;
  readonly prompt?: ShownPrompt;
  readonly timeline: ShownTimeline;
}

export interface ShownQuestion {
  /** Tells it from another one. */
  readonly id: string;
  /** Words of the button, and what comes of the answer. */
  readonly send: string;
  readonly help: string;
}

/** Every button of the page's head, by the command it stands for. */
export const PAGE_ACTIONS = [
  'startRun',
  'pauseRun',
  'resumeRun',
  'stopAfterIteration',
  'stopRun',
  'skipStory',
  'giveHint',
  'openRunChanges',
  'openLimitSetting',
  'showTerminal',
] as const;
export type PageAction = (typeof PAGE_ACTIONS)[number];

export interface ShownAction {
  readonly action: PageAction;
  readonly label: string;
  readonly primary?: true;
  /** Asked for already, and not done yet. */
  readonly pending?: true;
}

/** A part of a whole, with the same in words. Without `max` there are only words. */
export interface ShownMeter {
  readonly value: number;
  readonly max?: number;
  readonly words: string;
}

export interface ShownNow {
  readonly story?: ShownStory;
  /** Which iteration of how many, or what goes on between two. */
  readonly words: string;
  /** Who works: the agent, the checks, the reviewer. */
  readonly step?: string;
  /** ISO time; absent between two iterations. */
  readonly since?: string;
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

export interface ShownActivity {
  /** Of its event; of several lines of one event only the first has a time. */
  readonly at?: string;
  readonly kind: 'text' | 'tool' | 'loop' | 'good' | 'warning' | 'bad';
  /** First line of what an agent says or does: a dot stands before it, to be seen and not to be heard. */
  readonly isOpening?: true;
  readonly text: string;
}

/** Iterations are put together where there are too many for a chart. */
export interface ShownCharts {
  readonly points: readonly ShownPoint[];
  /** Stories left over iterations; absent without stories. */
  readonly stories?: ShownChart;
  /** Cost in sum, against the budget; absent while nothing has cost anything. */
  readonly sum?: ShownChart & { readonly budget?: number };
  /** Cost of each point's iterations. */
  readonly cost?: ShownChart;
}

export interface ShownChart {
  readonly title: string;
  /** All of it in a sentence. */
  readonly words: string;
  /** Top of the scale, a round number, and what is written there; the bottom is 0. */
  readonly top: number;
  readonly topWords: string;
  readonly zeroWords: string;
}

export interface ShownPoint {
  /** The iteration, or the first and the last of several; the first point is the start. */
  readonly label: string;
  readonly left?: number;
  readonly cost?: number;
  readonly costWords?: string;
  readonly sum?: number;
  readonly sumWords?: string;
}

/** What the last prompt was made of. */
export interface ShownPrompt {
  readonly iteration: number;
  readonly words: string;
  /** In the prompt's order; empty for journals that do not tell. */
  readonly sections: readonly ShownSection[];
}

export interface ShownSection {
  readonly title: string;
  readonly tokens: number;
  readonly tokenWords: string;
  readonly share: string;
  /** The most it may have; absent for the person's own template. */
  readonly budget?: string;
}

export interface ShownTimeline {
  /** The newest first; one page of them, as many as can be drawn at ease. */
  readonly iterations: readonly ShownIteration[];
  /** Which ones of how many; absent when these are all. */
  readonly words?: string;
  /** Number of the page with newer or older ones; 0 has the newest. */
  readonly newer?: number;
  readonly older?: number;
}

export interface ShownIteration {
  readonly number: number;
  readonly glyph: Glyph;
  readonly outcome: string;
  readonly reason?: string;
  readonly story?: ShownStory;
  readonly time?: { readonly ms: number } | { readonly since: string };
  readonly tokens?: string;
  readonly cost?: string;
  /** What the checks and the reviewer said. */
  readonly proofs: readonly ShownProof[];
  readonly commits: readonly ShownCommit[];
  /** Says how many more commits there are. */
  readonly moreCommits?: string;
  readonly documents: readonly IterationDocument[];
}

/** A check of the gate, or the reviewer. */
export interface ShownProof {
  readonly glyph: Glyph;
  /** A command, or who judged. */
  readonly name: string;
  readonly isCommand: boolean;
  readonly verdict: string;
  readonly ms?: number;
}

export interface ShownCommit {
  readonly hash: string;
  readonly shortHash: string;
  readonly subject: string;
}

/** What can be opened of an iteration, by the command that does it. */
export const ITERATION_DOCUMENTS = [
  'openIterationChanges',
  'openPrompt',
  'openTranscript',
  'openCheckOutput',
] as const;
export type IterationDocument = (typeof ITERATION_DOCUMENTS)[number];

/** Words of the page that do not depend on the run, in the user's language. */
export interface ProgressStrings {
  readonly start: string;
  readonly folder: string;
  readonly actions: string;
  readonly run: string;
  readonly activity: string;
  readonly noActivity: string;
  readonly charts: string;
  readonly noCharts: string;
  readonly showTable: string;
  readonly iterationColumn: string;
  readonly leftColumn: string;
  readonly costColumn: string;
  readonly sumColumn: string;
  readonly budget: string;
  readonly prompt: string;
  readonly openPrompt: string;
  readonly timeline: string;
  readonly noIterations: string;
  readonly newer: string;
  readonly older: string;
  /** `{0}` number, `{1}` outcome. */
  readonly iterationHeading: string;
  /** `{0}` words of the button, `{1}` number of the iteration. */
  readonly ofIteration: string;
  readonly documents: Readonly<Record<IterationDocument, string>>;
  /** `{0}` hash, `{1}` subject. */
  readonly openCommit: string;
  /** Names what was read out. */
  readonly announced: string;
  /** `{0}` title, `{1}` tokens, `{2}` share. */
  readonly openSection: string;
  readonly answer: string;
  /** `{0}` a time. */
  readonly goesOnIn: string;
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

/** Longest answer, as the run's inbox takes it, in UTF-16 units. */
export const MAX_ANSWER = 8_000;

const iteration = z.number().int().positive();

/** The page shows text from agents and strangers, so what comes out of it is checked like any input. */
const fromPageSchema = z.discriminatedUnion('type', [
  /** It has loaded, for the first time or again, and knows nothing. */
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.enum(PAGE_ACTIONS) }),
  z.strictObject({ type: z.literal('answer'), text: z.string().trim().min(1).max(MAX_ANSWER) }),
  z.strictObject({
    type: z.literal('openCommit'),
    // SHA-1 or SHA-256; nothing that git could take for an option or another revision.
    hash: z.string().regex(/^[0-9a-f]{7,64}$/),
  }),
  z.strictObject({ type: z.enum(ITERATION_DOCUMENTS), iteration }),
  /** `section`: its place in the last prompt, from 0. */
  z.strictObject({
    type: z.literal('openPromptSection'),
    iteration,
    section: z.number().int().nonnegative(),
  }),
  z.strictObject({ type: z.literal('showIterations'), page: z.number().int().nonnegative() }),
  z.strictObject({ type: z.literal('chooseFolder'), folder: z.string() }),
]);

export type FromPage = z.infer<typeof fromPageSchema>;

/** @returns `undefined` for anything that is not a message of the page */
export function parseFromPage(message: unknown): FromPage | undefined {
  return fromPageSchema.safeParse(message).data;
}

//#endregion
