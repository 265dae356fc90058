import type { Story } from '../../stories/story.ts';
import type { RalphFreshHandoff } from '../handoff.ts';
import type { Uncommitted } from './uncommitted.ts';

/** A command of the loop's own check that did not pass. */
export interface FailedCheck {
  readonly command: string;
  /** Absent when the command ended in another way than by itself. */
  readonly exitCode?: number;
  readonly timedOut?: boolean;
  /** What it printed, at least the end of it. */
  readonly output: string;
  /** After which it was run. */
  readonly iteration: number;
}

/** The files of the pure loop, relative to the workspace, with forward slashes. */
export interface PlanFiles {
  /** `.ralph/ralph-1` */
  readonly dir: string;
  /** `.ralph/ralph-1/plan.md`: the goal. */
  readonly planFile: string;
  /** `.ralph/ralph-1/progress.md`: what is done. */
  readonly progressFile: string;
  /** `.ralph/ralph-1/errors.log`: what failed. */
  readonly errorsFile: string;
}

/** What the prompt is made of, beside the handoff. */
export interface PromptInput {
  /** Fitted, so that its lists are short. */
  readonly handoff: RalphFreshHandoff;
  /** What the person asked for, in whole; the handoff's own copy may be cut. */
  readonly task?: string;
  /** Absent in free-form mode. */
  readonly story?: Story;
  /** Relative to the workspace, with forward slashes; absent in free-form mode. */
  readonly storyFile?: string;
  /** Relative to the workspace, with forward slashes. */
  readonly progressFile: string;
  readonly stuckThreshold: number;
  /** The last iteration on this story, or on the whole task; absent for its first. */
  readonly previousIteration?: number;
  /** The last `complete` promise about this story, when the files contradicted it. */
  readonly refusedPromise?: { readonly iteration: number };
  /** Why the story file cannot be read now, when it cannot. */
  readonly storyFileProblem?: string;
  /** The check that took the last claim back. */
  readonly failedCheck?: FailedCheck;
  /** Why the reviewer did not accept the last claim. */
  readonly review?: { readonly iteration: number; readonly objections: readonly string[] };
  /** Files that are not committed; absent when git did not tell. */
  readonly uncommitted?: Uncommitted;
  /** What an iteration changed that no agent may change, in sentences. */
  readonly guardNote?: { readonly iteration: number; readonly changes: readonly string[] };
  /** What the person said meanwhile, oldest first. */
  readonly hints?: readonly string[];
  /** What the person said to NEEDS_HUMAN questions, oldest first. */
  readonly answers?: readonly { readonly question: string; readonly answer: string }[];
  /** Commands that the loop runs when a story is claimed to be done. */
  readonly verify?: readonly string[];
  /** Given for the pure loop, which works by a plan. */
  readonly plan?: PlanFiles;
}
