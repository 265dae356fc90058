import type { AgentCaller } from '../agents/call/agentCaller.ts';
import type { CodeSearch } from '../context/codeSearch.ts';
import type { Journal } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import type { RunConfig } from '../settings/config.ts';
import type { Story } from '../stories/story.ts';
import type { KeptStories } from '../workspace/keptStories.ts';
import type { StopSwitch } from '../workspace/stopSwitch.ts';
import type { CommitOrigin } from './commitRecord.ts';
import type { RunWork } from './runWork.ts';
import type { StateMarker } from './stateMarker.ts';

/**
 * The state that all iterations of a run share. Everything in it can be restored from files; the state of a single
 * iteration is in its {@link Scope}.
 */
export interface Run extends RunWork {
  readonly id: string;
  readonly config: RunConfig;
  /** Environment for agents and checks. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly journal: Journal;
  readonly caller: AgentCaller;
  readonly stop: StopSwitch;
  /** Requests from people. */
  readonly requests: {
    /** Processes the requests so far. */
    look(): Promise<void>;
  };
  /** From now on, numbers of stories without ids mean what they mean in this list. */
  readonly followStories: (stories: readonly Story[] | undefined) => Promise<unknown>;
  readonly keptStories: KeptStories;
  readonly marker: StateMarker;
  readonly code: CodeSearch;
  /** The fold of the journal so far. */
  state(): RunState;
  /** The branch that the run works on, '' for a detached HEAD; absent until it is known. */
  branch: string | undefined;
  /** HEAD at the last check of the history; absent until then. */
  seenHead: string | undefined;
  /** Commits that could not be recorded, because git could not be read after their iteration. */
  owedCommits: CommitOrigin | undefined;
  /** The progress log could not be read when it was last looked at, which is told. */
  isProgressUnreadable?: boolean;
}
