import type { AgentCaller } from '../agents/call/agentCaller.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import type { RunConfig } from '../settings/config.ts';
import type { KeptStories } from '../workspace/keptStories.ts';
import type { StopSwitch } from '../workspace/stopSwitch.ts';
import type { CommitOrigin } from './commitRecord.ts';
import type { RunWork } from './runWork.ts';
import type { StateMarker } from './stateMarker.ts';

/**
 * What all iterations of one run share. Everything in it can be read back from files; what an iteration has of its own
 * is in its {@link Scope}.
 */
export interface Run extends RunWork {
  readonly id: string;
  readonly config: RunConfig;
  /** Environment that agents and checks start from. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly journal: Journal;
  readonly caller: AgentCaller;
  readonly stop: StopSwitch;
  /** What people ask of the run. */
  readonly requests: {
    /** Takes what they have asked so far. */
    look(): Promise<void>;
  };
  readonly keptStories: KeptStories;
  readonly marker: StateMarker;
  /** The fold of the journal so far. */
  state(): RunState;
  /** The branch that the run works on, '' for a detached HEAD; absent until it is known. */
  branch: string | undefined;
  /** HEAD when its history was looked at last; absent until then. */
  seenHead: string | undefined;
  /** Commits that could not be recorded, since git could not be read after their iteration. */
  owedCommits: CommitOrigin | undefined;
}
