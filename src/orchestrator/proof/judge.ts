import type { AgentCallResult } from '../agents/call/agentCall.ts';
import { failedCallSentence } from '../agents/call/failedCall.ts';
import { type Signal, signalOf } from '../iteration/signals.ts';
import type { IterationOutcome } from '../journal/eventCodes.ts';
import { isFatalError } from '../journal/fatalError.ts';
import type { Verdict } from '../run/verdict.ts';
import type { Story } from '../stories/story.ts';
import { isDoneIn, storyChanges } from '../stories/storyChanges.ts';

/** The results of an iteration. */
export interface Evidence {
  readonly story?: Story;
  readonly storiesBefore: readonly Story[];
  /** After the guard and the gate have reset what they do not accept. */
  readonly storiesAfter: readonly Story[];
  readonly commits: number;
  /** Absent if the loop was killed before the call ended: then only the files count. */
  readonly result?: AgentCallResult;
  readonly completionPromise: string;
  /**
   * Stories that a person ticked (true) or unticked (false) meanwhile; this does not count as the agent's work.
   */
  readonly handled: ReadonlyMap<string, boolean>;
  readonly stopped: boolean;
  /** A person skipped the story meanwhile. */
  readonly skipped: boolean;
  /** The gate or the reviewer refused the iteration's claim. */
  readonly refused: boolean;
  /** During a wait, the story stopped needing an agent: done, removed, or skipped by a person. */
  readonly notWanted?: boolean;
}

/** The loop's judgment. */
export interface Judgement {
  readonly outcome: IterationOutcome;
  /** A commit, a story or a criterion changed. */
  readonly progress: boolean;
  readonly signal?: Signal & { readonly accepted: boolean };
  readonly verdict?: Verdict;
}

/** Judges an iteration by the files; what the agent says is only a claim. Pure. */
export function judge(evidence: Evidence): Judgement {
  const { commits, refused, result, story, storiesAfter } = evidence;
  const spoken = signalOf(result, evidence.completionPromise);
  const signal = spoken && {
    ...spoken,
    accepted: spoken.kind !== 'complete' || (!refused && storiesAfter.every(({ done }) => done)),
  };
  const storyDone =
    !refused && story !== undefined && isDoneIn(storiesAfter, story, evidence.storiesBefore);
  const progress = commits > 0 || storyDone || hasChanges(evidence);
  const isCut = evidence.stopped || evidence.skipped;
  const verdict = verdictOf(isCut ? undefined : result, signal);
  return {
    outcome: outcomeOf(evidence, storyDone, progress, signal),
    progress,
    signal,
    verdict,
  };
}

function outcomeOf(
  { notWanted, refused, result, skipped, stopped }: Evidence,
  storyDone: boolean,
  progress: boolean,
  signal: Signal | undefined,
): IterationOutcome {
  if (notWanted && !refused) {
    return 'skipped';
  }
  if (storyDone) {
    return 'storyDone';
  }
  if (refused) {
    return 'rejected';
  }
  if (skipped) {
    return 'skipped';
  }
  if (stopped) {
    return 'stopped';
  }
  if (signal?.kind === 'needsHuman') {
    return 'needsHuman';
  }
  if (signal?.kind === 'blocked') {
    return 'blocked';
  }
  if (progress) {
    return 'progress';
  }
  // A used-up budget says nothing about the story.
  return result?.error && result.error.kind !== 'budget' ? 'failed' : 'noProgress';
}

function verdictOf(
  result: AgentCallResult | undefined,
  signal: (Signal & { accepted: boolean }) | undefined,
): Verdict | undefined {
  if (result?.error && isFatalError(result.error)) {
    return { kind: 'fatal', message: failedCallSentence(result.error) };
  }
  return signal?.kind === 'complete' && signal.accepted ? { kind: 'complete' } : undefined;
}

/** Whether the iteration changed a story's state or one of its criteria. */
function hasChanges(evidence: Evidence): boolean {
  return (
    storyChanges(evidence).length > 0 ||
    criteriaMet(evidence, 'after') > criteriaMet(evidence, 'before')
  );
}

function criteriaMet({ storiesBefore, storiesAfter }: Evidence, when: 'before' | 'after'): number {
  const stories = when === 'before' ? storiesBefore : storiesAfter;
  return stories.reduce(
    (sum, { criteria }) => sum + criteria.filter(({ done }) => done === true).length,
    0,
  );
}
