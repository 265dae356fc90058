import type { Agent } from '../agents/agent.ts';
import type { RunEvent } from '../journal/events.ts';
import type { Preparation } from '../planner/preparation.ts';
import type { RunConfig } from '../settings/config.ts';
import type { OnLastWindow } from '../workspace/openWindows.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import type { StopSwitch } from '../workspace/stopSwitch.ts';

/** What to do where another branch is wanted and the work tree has uncommitted changes. */
export type BranchAnswer = 'stay' | 'takeAlong' | 'cancel';

/** @returns the person's answer; never rejects for what the person does */
export type AskBranch = (question: {
  /** The branch that the story file names. */
  readonly wanted: string;
  /** The one that the work tree is on; '' when HEAD is detached. */
  readonly current: string;
  /** Aborted: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}) => Promise<BranchAnswer>;

export interface RunOptions {
  readonly files: RunFiles;
  readonly runId: string;
  /** Go on with the journal of `runId`. */
  readonly resume?: boolean;
  readonly agent: Agent;
  /** Takes over when `agent` cannot be started twice. */
  readonly fallbackAgent?: Agent;
  readonly config: RunConfig;
  /** Absolute path; absent in free-form and plan mode. */
  readonly storyFile?: string;
  /** Absolute path of a folder with plan.md, progress.md and errors.log: the pure loop. */
  readonly planDir?: string;
  readonly prepare?: Preparation;
  /** Ids of the stories to work on; absent: on all. */
  readonly onlyStories?: readonly string[];
  /** What to do when the last window that shows the run is closed; absent: go on. */
  readonly onLastWindow?: OnLastWindow;
  /** So long it may be away for a reload, in ms. */
  readonly windowGraceMs?: number;
  /** What the person asked for; defaults to the story file's description. */
  readonly task?: string;
  /** Whether an API key of the environment pays, or is kept from the agents. */
  readonly apiKey?: 'use' | 'remove';
  /** Environment the agents start from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** What the command line set, for the run to have again when it goes on; no secrets, nothing personal. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** This program's version, for the journal. */
  readonly version: string;
  readonly stop: StopSwitch;
  /** Asks the person at the terminal; without it, uncommitted changes refuse the run. */
  readonly askBranch?: AskBranch;
  /** Told of every event, after it is in the journal. */
  readonly onEvent?: (event: RunEvent) => void;
}
