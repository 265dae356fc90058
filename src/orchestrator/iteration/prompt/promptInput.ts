import type { DuplicatesNote } from '../../journal/runState.ts';
import type { FailedCheck, StoryNotes } from '../../journal/storyNotes.ts';
import type { ConflictNote } from '../../run/scope.ts';
import type { Story } from '../../stories/story.ts';
import type { RalphFreshHandoff } from '../handoff.ts';
import type { Uncommitted } from './uncommitted.ts';

/** The files of the pure loop, relative to the workspace, with forward slashes. */
export interface PlanFiles {
  /** `.ralph/ralph-1` */
  readonly dir: string;
  /** `.ralph/ralph-1/plan.md`: the goal. */
  readonly planFile: string;
  /** `.ralph/ralph-1/progress.md`: finished work. */
  readonly progressFile: string;
  /** `.ralph/ralph-1/errors.log`: failures. */
  readonly errorsFile: string;
}

/** The input for the prompt, in addition to the handoff. */
export interface PromptInput {
  /** Shortened to fit, so its lists are short. */
  readonly handoff: RalphFreshHandoff;
  /** The person's whole task; the copy in the handoff may be shortened. */
  readonly task?: string;
  /** Absent in free-form mode. */
  readonly story?: Story;
  /** Where to look in the code; made by `codeSection`, within its own budget. */
  readonly code?: string;
  /** The Pin, relative to the agent's folder, with forward slashes; absent if there is none. */
  readonly pin?: string;
  /** Relative to the workspace, with forward slashes; absent in free-form mode. */
  readonly storyFile?: string;
  /** What a tick of the story would write, see `doneMark`; absent if that is not known. */
  readonly doneMark?: string;
  /** Relative to the workspace, with forward slashes. */
  readonly progressFile: string;
  readonly stuckThreshold: number;
  /** How many of the last iterations on this story in a row made progress without marking it as done. */
  readonly unclaimed?: number;
  /** The last iteration on this story, or on the whole task; absent if this is the first. */
  readonly previousIteration?: number;
  /** Commits that the last iteration made on another branch. */
  readonly elsewhere?: StoryNotes['elsewhere'];
  /** The last `complete` promise about this story, if the files contradicted it. */
  readonly refusedPromise?: { readonly iteration: number };
  /** Why the story file cannot be read now, if so. */
  readonly storyFileProblem?: string;
  /** What of this story is not read in the story file as it was meant, as sentences. */
  readonly misread?: readonly string[];
  /** Ids that several stories of the file have. */
  readonly sharedIds?: readonly string[];
  /** The check that refused the last claim. */
  readonly failedCheck?: Omit<FailedCheck, 'problem'>;
  /** Why the reviewer did not accept the last claim. */
  readonly review?: { readonly iteration: number; readonly objections: readonly string[] };
  readonly conflict?: ConflictNote;
  /** The agent's lane, if it works in a place of its own next to others. */
  readonly lane?: number;
  /** Files that are not committed; absent if git did not report them. */
  readonly uncommitted?: Uncommitted;
  /** Forbidden changes of an iteration, as sentences. */
  readonly guardNote?: { readonly iteration: number; readonly changes: readonly string[] };
  /** What the last new code repeats. */
  readonly duplicates?: DuplicatesNote;
  /** Hints from the person, oldest first. */
  readonly hints?: readonly string[];
  /** The person's answers to NEEDS_HUMAN questions, oldest first; without one, the person continued the run. */
  readonly answers?: readonly { readonly question: string; readonly answer?: string }[];
  /** Commands that the loop runs for the claim of a story. */
  readonly verify?: readonly string[];
  /** Only for the pure loop, which works from a plan. */
  readonly plan?: PlanFiles;
}
