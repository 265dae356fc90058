import type { TokenCounts } from './tokenCounts.ts';

/** Work of an iteration that has not landed. */
export interface KeptWork {
  readonly iteration: number;
  /** Where it began. */
  readonly base: string;
  readonly head: string;
  /** A commit of ours on top of `head`, with what was not committed. */
  readonly uncommitted?: string | undefined;
}

/** An iteration that is running. */
export interface CurrentIteration {
  readonly number: number;
  readonly storyId?: string;
  readonly storyTitle?: string;
  /** The lane of its agent, from 1; absent if it works in the user's tree. */
  readonly lane?: number;
  /** Its work, held by a ref of the user's repository. */
  readonly kept?: KeptWork;
  /** Its work waits to land, or is landing. */
  readonly queued?: true;
  /** A person has settled its conflict, after it had ended. */
  readonly settled?: true;
  /** The commit that is to land, and the commit of the branch that it lands on. */
  readonly candidate?: { readonly commit: string; readonly onto: string };
  readonly startedAt: string;
  readonly startCommit?: string;
  /** It has been interrupted, and is only judged from then on. */
  readonly interrupted?: true;
  /**
   * HEAD when it was interrupted; later commits are not its work. '' before the first commit; absent if unknown.
   */
  readonly endCommit?: string;
  /** The branch it must work on; '' for a detached HEAD. */
  readonly branch?: string;
  /** The target of the story file at the start of the iteration, if the file was a link. */
  readonly storyLink?: string;
  /** Hashes of commits that it left on another branch and that were not brought back. */
  readonly leftElsewhere?: readonly string[];
  /** The agent's process, or the process of the running check. */
  readonly agentPid?: number;
  readonly agentStartId?: string;
  /** At least one of its agents has been started. */
  readonly hasWorked?: true;
  /** After `agent`, its work is judged: guard, gate, reviewer. `queue`: it waits to land. */
  readonly step?: 'agent' | 'queue' | 'gate' | 'review';
  /** The cost of this iteration's calls so far. */
  readonly costUsd: number;
  /** Part of it is an estimate: a call ended without a result. */
  readonly costEstimated?: true;
  readonly usage?: TokenCounts;
  /** Stories that a person ticked (true) or unticked (false) meanwhile; these override the agent. */
  readonly handled: ReadonlyMap<string, boolean>;
  /** The agent's latest activity: a tool's name and a summary, or the last line of text. */
  readonly activity?: string;
  /** Commits recorded so far in this iteration. */
  readonly commits: number;
}

/** The iteration after its process has ended. */
export function withoutProcess(current: CurrentIteration): CurrentIteration {
  return { ...current, agentPid: undefined, agentStartId: undefined };
}

/** What is to land has been made of its work, and is checked, reviewed or landed. */
export function isCandidate({ candidate, queued }: CurrentIteration): boolean {
  return queued === true && candidate !== undefined;
}
