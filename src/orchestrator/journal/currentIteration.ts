import type { TokenCounts } from './tokenCounts.ts';

/** What runs now. */
export interface CurrentIteration {
  readonly number: number;
  readonly storyId?: string;
  readonly storyTitle?: string;
  readonly startedAt: string;
  readonly startCommit?: string;
  /** The one that it is to work on; '' for a detached HEAD. */
  readonly branch?: string;
  /** Where the story file led when it began, when that was a link. */
  readonly storyLink?: string;
  /** Hashes of commits that it left on another branch, and that nobody has brought back. */
  readonly leftElsewhere?: readonly string[];
  /** The agent's process, or the one of the check that runs. */
  readonly agentPid?: number;
  readonly agentStartId?: string;
  /** An agent of it has been started. */
  readonly hasWorked?: true;
  /** The agent is done and what it left is judged: guard, gate, reviewer. */
  readonly step?: 'agent' | 'gate' | 'review';
  /** What the calls of this iteration have cost so far. */
  readonly costUsd: number;
  /** Part of it is an estimate: a call ended without a result. */
  readonly costEstimated?: true;
  readonly usage?: TokenCounts;
  /** Stories that a person ticked (true) or unticked (false) meanwhile: the last word. */
  readonly handled: ReadonlyMap<string, boolean>;
  /** The newest thing the agent did: a tool's name and gist, or the last line it said. */
  readonly activity?: string;
  /** Commits recorded so far in this iteration. */
  readonly commits: number;
}

/** Its process has ended. */
export function withoutProcess({
  agentPid: _pid,
  agentStartId: _startId,
  ...current
}: CurrentIteration): CurrentIteration {
  return current;
}
