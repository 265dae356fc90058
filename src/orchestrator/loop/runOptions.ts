import type { Agent } from '../agents/agent.ts';
import type { RunEvent } from '../journal/events.ts';
import type { Preparation } from '../planner/preparation.ts';
import type { RunConfig } from '../settings/config.ts';
import type { UnusedProgram } from '../settings/settings.ts';
import type { Tracker } from '../trackers/tracker.ts';
import type { OnLastWindow } from '../workspace/openWindows.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import type { StopSwitch } from '../workspace/stopSwitch.ts';

/** What to do if another branch must be checked out and the work tree has uncommitted changes. */
export type BranchAnswer = 'stay' | 'takeAlong' | 'cancel';

/** @returns the person's answer; never rejects for anything the person does */
export type AskBranch = (question: {
  /** The branch named in the story file. */
  readonly wanted: string;
  /** The work tree's current branch; '' if HEAD is detached. */
  readonly current: string;
  /** Aborted: nobody waits for the answer any more. */
  readonly signal: AbortSignal;
}) => Promise<BranchAnswer>;

export interface RunOptions {
  readonly files: RunFiles;
  readonly runId: string;
  /** Continue with the journal of `runId`. */
  readonly resume?: boolean;
  readonly agent: Agent;
  /** Used if `agent` fails to start twice. */
  readonly fallbackAgent?: Agent;
  /** A program that the settings name, but do not choose as the agent. */
  readonly unusedProgram?: UnusedProgram;
  readonly config: RunConfig;
  /** Absolute path; absent in free-form and plan mode. */
  readonly storyFile?: string;
  /** Absolute path of a folder with plan.md, progress.md and errors.log: the pure loop. */
  readonly planDir?: string;
  readonly prepare?: Preparation;
  /** Where the stories really are, if the story file is only a copy. */
  readonly tracker?: Tracker;
  /** Ids of the stories to work on; absent: all. */
  readonly onlyStories?: readonly string[];
  /** What to do when the last window that shows the run is closed; absent: continue. */
  readonly onLastWindow?: OnLastWindow;
  /** How long it may be closed for a reload, in ms. */
  readonly windowGraceMs?: number;
  /** The person's task; defaults to the story file's description. */
  readonly task?: string;
  /** Whether an API key in the environment is used, or removed from the agents' environment. */
  readonly apiKey?: 'use' | 'remove';
  /** Environment for the agents. */
  readonly env: Readonly<Record<string, string | undefined>>;
  /** No token of GitHub is in `env`, because the stories are issues, or may be. */
  readonly withoutTokens?: boolean;
  /** The settings from the command line, which the run reuses when it continues; no secrets, no personal data. */
  readonly settings?: Readonly<Record<string, unknown>>;
  /** This program's version, for the journal. */
  readonly version: string;
  readonly stop: StopSwitch;
  /** Asks the person at the terminal; absent: uncommitted changes prevent the run. */
  readonly askBranch?: AskBranch;
  /** Called with every event, after it has been written to the journal. */
  readonly onEvent?: (event: RunEvent) => void;
  /** Called if there is nothing to do but to let the branch have what had landed, at this commit. */
  readonly onBroughtIn?: (branch: string, commit: string) => void;
}
