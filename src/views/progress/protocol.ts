import * as z from 'zod';
import type { ShownLanes } from './laneProtocol.ts';
import type { progressStrings } from './progressStrings.ts';
import type { Glyph, ShownStory } from './protocolParts.ts';

/**
 * Messages between the progress page and the extension. Both sides use this file, so it depends neither on VS Code
 * nor on a DOM; the page imports only its types.
 */

//#region to the page

/**
 * Everything the page draws. Always complete: a hidden page loses messages, so nobody knows which changes it has
 * seen.
 */
export interface SnapshotMessage {
  readonly type: 'snapshot';
  readonly strings: ProgressStrings;
  readonly snapshot: ProgressSnapshot;
}

export type ToPage = SnapshotMessage;

export type { Glyph, ShownStory };

/** Texts in it are plain text of any origin; ours are in the user's language. */
export interface ProgressSnapshot {
  /** By the extension's clock, in ms; the page may run on another machine. */
  readonly sentAt: number;
  /** Short sentences about the state of the run. Those that were not in the previous snapshot are read out. */
  readonly announcements: readonly string[];
  /**
   * A removed announcement needs no other one now: between two iterations, the one that replaces it is still to come; with
   * lanes, each change has its own.
   */
  readonly areRemovalsSilent?: boolean;
  /** The window's folders, if there are several to choose from. */
  readonly folders?: readonly ShownFolder[];
  /** Absent if there has been no run. */
  readonly run?: ShownRun;
}

export interface ShownFolder {
  /** Its path, which the page sends when it is chosen. */
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
  /** The message of the agent or the system that ended the run. */
  readonly quote?: string;
  /** Its loop is alive. */
  readonly active: boolean;
  /** ISO time at which a usage limit ends. */
  readonly until?: string;
  readonly actions: readonly ShownAction[];
  /** An agent's question that can be answered now. */
  readonly question?: ShownQuestion;
  /** The current activity; present while the loop is alive. */
  readonly now?: ShownNow;
  /** Present if agents work in places of their own. */
  readonly lanes?: ShownLanes;
  /** Absent without stories, for a task in free text. */
  readonly stories?: ShownMeter;
  /** Absent while the cost is unknown; `max` is the budget. */
  readonly cost?: ShownMeter;
  readonly facts: readonly ShownFact[];
  /** The last messages and actions of the agent and the loop, oldest first. */
  readonly activity: readonly ShownActivity[];
  readonly charts?: ShownCharts;
  readonly prompt?: ShownPrompt;
  readonly measures?: ShownMeasures;
  readonly timeline: ShownTimeline;
}

export interface ShownQuestion {
  /** Distinguishes it from other questions. */
  readonly id: string;
  /** Whose agent asks; absent without stories. */
  readonly storyId?: string | undefined;
  /** Label of the button, which also says what the answer causes. */
  readonly send: string;
  readonly help: string;
}

/** All buttons of the page's head, by the command they run. */
const PAGE_ACTIONS = [
  'startRun',
  'pauseRun',
  'resumeRun',
  'continueStory',
  'continueLane',
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
  /** Already requested, but not done yet. */
  readonly pending?: true;
}

/** A part of a whole, also in words. Without `max` there are only words. */
export interface ShownMeter {
  readonly value: number;
  readonly max?: number;
  readonly words: string;
}

export interface ShownNow {
  readonly story?: ShownStory;
  /** Which iteration of how many, or the activity between two; how many are at work, if there are several. */
  readonly words: string;
  /** The current actor: the agent, the checks, the reviewer. */
  readonly step?: string;
  /** ISO time; absent between two iterations. */
  readonly since?: string;
}

export interface ShownFact {
  readonly label: string;
  /** `at` is an ISO time: only the page knows the user's time zone. */
  readonly value: { readonly text: string } | { readonly at: string };
}

export interface ShownActivity {
  /** Time of its event; only the first of several lines of one event has a time. */
  readonly at?: string;
  readonly kind: 'text' | 'tool' | 'loop' | 'good' | 'warning' | 'bad';
  /** First line of an agent's message or action. It is preceded by a dot, which is hidden from screen readers. */
  readonly isOpening?: true;
  /** Id of the story that it is about, if several may be at work; only the first line of an event has it. */
  readonly storyId?: string;
  readonly text: string;
}

/** Iterations are grouped if there are too many for a chart. */
export interface ShownCharts {
  readonly points: readonly ShownPoint[];
  /** Remaining stories over iterations; absent without stories. */
  readonly stories?: ShownChart;
  /** Total cost, compared with the budget; absent while the cost is zero. */
  readonly sum?: ShownChart & { readonly budget?: number };
  /** Cost of each point's iterations. */
  readonly cost?: ShownChart;
}

export interface ShownChart {
  readonly title: string;
  /** The whole chart in one sentence. */
  readonly words: string;
  /** Top of the scale, a round number, and its label; the bottom is 0. */
  readonly top: number;
  readonly topWords: string;
  readonly zeroWords: string;
}

export interface ShownPoint {
  /** The iteration, or the first and the last of a group; the first point is the start. */
  readonly label: string;
  readonly left?: number;
  readonly cost?: number;
  readonly costWords?: string;
  readonly sum?: number;
  readonly sumWords?: string;
}

/** The composition of a prompt. */
export interface ShownPrompt {
  readonly iteration: number;
  /** The iterations with the prompts before and after it. */
  readonly earlier?: number | undefined;
  readonly later?: number | undefined;
  readonly words: string;
  /** In the prompt's order; empty for journals without this information. */
  readonly sections: readonly ShownSection[];
  /** The files of the code that it named, with the reasons; absent if it named none. */
  readonly named?: string;
}

export interface ShownSection {
  readonly title: string;
  readonly tokens: number;
  readonly tokenWords: string;
  readonly share: string;
  /** Its maximum; absent for the person's own template. */
  readonly budget?: string;
}

/** How well agents were led. */
export interface ShownMeasures {
  /** There are earlier runs to compare with. */
  readonly hasEarlier: boolean;
  readonly rows: readonly ShownMeasure[];
  /** Whether the order of the stories was right; several lines if it was not. */
  readonly order: string;
}

export interface ShownMeasure {
  readonly title: string;
  /** Of this run, and the mean of earlier ones. */
  readonly now: string;
  readonly before: string;
  /** '' if there is none. */
  readonly goal: string;
  /** The runs, oldest first, as parts of the largest value; empty if there is nothing to compare. */
  readonly trend: readonly number[];
}

export interface ShownTimeline {
  /** The newest first; one page of them, as many as can be drawn quickly. */
  readonly iterations: readonly ShownIteration[];
  /** Which ones of how many; absent if these are all. */
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
  /** The results of the checks and the reviewer. */
  readonly proofs: readonly ShownProof[];
  readonly commits: readonly ShownCommit[];
  /** Says how many more commits there are. */
  readonly moreCommits?: string;
  readonly documents: readonly IterationDocument[];
}

/** A check of the gate, or the reviewer. */
export interface ShownProof {
  readonly glyph: Glyph;
  /** A command, or who reviewed. */
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

/** Documents of an iteration, by the command that opens them. */
const ITERATION_DOCUMENTS = [
  'openIterationChanges',
  'openPrompt',
  'openTranscript',
  'openCheckOutput',
] as const;
export type IterationDocument = (typeof ITERATION_DOCUMENTS)[number];

/** Texts of the page that do not depend on the run, in the user's language. */
export type ProgressStrings = ReturnType<typeof progressStrings>;

//#endregion

//#region from the page

/** Maximum length of an answer, as in the run's inbox, in UTF-16 units. */
export const MAX_ANSWER = 8_000;

/** As in the orchestrator, whose code the page must not contain. */
const MAX_LANES = 16;

const iteration = z.number().int().positive();

/** The page shows text from agents and strangers, so its messages are validated like any input. */
const fromPageSchema = z.discriminatedUnion('type', [
  /** It has loaded, for the first time or again, and has no state. */
  z.strictObject({ type: z.literal('ready') }),
  z.strictObject({ type: z.enum(PAGE_ACTIONS) }),
  z.strictObject({
    type: z.literal('answer'),
    text: z.string().trim().min(1).max(MAX_ANSWER),
    /** The id of the question. */
    question: z.string().max(200),
    storyId: z.string().optional(),
  }),
  z.strictObject({
    type: z.literal('openCommit'),
    // SHA-1 or SHA-256; nothing that git could parse as an option or another revision.
    hash: z.string().regex(/^[0-9a-f]{7,64}$/),
  }),
  z.strictObject({ type: z.enum(ITERATION_DOCUMENTS), iteration }),
  /** The prompt that an agent would get now. */
  z.strictObject({ type: z.literal('showNextPrompt') }),
  /** What the prompt of an iteration contained. */
  z.strictObject({ type: z.literal('showPrompt'), iteration }),
  /** `section`: its index in the prompt, from 0. */
  z.strictObject({
    type: z.literal('openPromptSection'),
    iteration,
    section: z.number().int().nonnegative(),
  }),
  z.strictObject({ type: z.literal('showIterations'), page: z.number().int().nonnegative() }),
  z.strictObject({ type: z.literal('chooseFolder'), folder: z.string() }),
  /** One agent more or fewer at once than now. */
  z.strictObject({ type: z.enum(['moreLanes', 'fewerLanes']) }),
  z.strictObject({
    type: z.enum(['pauseLane', 'resumeLane']),
    lane: z.number().int().positive().max(MAX_LANES),
  }),
]);

export type FromPage = z.infer<typeof fromPageSchema>;

/** @returns `undefined` if it is not a message of the page */
export function parseFromPage(message: unknown): FromPage | undefined {
  return fromPageSchema.safeParse(message).data;
}

//#endregion
