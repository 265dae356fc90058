import type { AgentCallResult } from '../agents/call/agentCall.ts';
import { failedCallSentence } from '../agents/call/failedCall.ts';
import { type Signal, signalOf } from '../iteration/signals.ts';
import type { IterationOutcome } from '../journal/eventCodes.ts';
import { isFatalError } from '../journal/fatalError.ts';
import type { Verdict } from '../run/verdict.ts';
import type { Story } from '../stories/story.ts';
import { storyChanges } from '../stories/storyChanges.ts';

/** What an iteration left behind. */
export interface Evidence {
  readonly story?: Story;
  readonly storiesBefore: readonly Story[];
  /** After the guard and the gate have put back what they do not let pass. */
  readonly storiesAfter: readonly Story[];
  readonly commits: number;
  /** Absent when the loop was killed before the call ended: then the files alone tell. */
  readonly result?: AgentCallResult;
  readonly completionPromise: string;
  /** What a person ticked (true) or unticked (false) meanwhile; that state is not the agent's doing. */
  readonly handled: ReadonlyMap<string, boolean>;
  readonly stopped: boolean;
  /** A person skipped the story meanwhile. */
  readonly skipped: boolean;
  /** The gate or the reviewer said no to what the iteration claims. */
  readonly refused: boolean;
  /** While it waited, its story came to need no agent any more: done, removed, or skipped by a person. */
  readonly notWanted?: boolean;
}

/** What the loop makes of it. */
export interface Judgement {
  readonly outcome: IterationOutcome;
  /** A commit, a story or a criterion changed. */
  readonly progress: boolean;
  readonly signal?: Signal & { readonly accepted: boolean };
  readonly verdict?: Verdict;
}

/** Judges an iteration by what it left in the files; what the agent says is only a claim. Pure. */
export function judge(evidence: Evidence): Judgement {
  const { commits, refused, result, story, storiesAfter } = evidence;
  const spoken = signalOf(result, evidence.completionPromise);
  const signal = spoken && {
    ...spoken,
    accepted: spoken.kind !== 'complete' || (!refused && storiesAfter.every(({ done }) => done)),
  };
  const storyDone = !refused && isDone(story, storiesAfter);
  const progress = commits > 0 || storyDone || hasChanges(evidence);
  const isCut = evidence.stopped || evidence.skipped;
  const verdict = verdictOf(isCut ? undefined : result, signal);
  return {
    outcome: outcomeOf(evidence, storyDone, progress, signal),
    progress,
    ...(signal && { signal }),
    ...(verdict && { verdict }),
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
  // A budget that is used up says nothing about the story.
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

/** Whether a story's state or one of its criteria is another than before, by the iteration's doing. */
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

function isDone(story: Story | undefined, stories: readonly Story[]): boolean {
  if (story === undefined) {
    return false;
  }
  // Where a file repeats an id, only all of them together are sure to include the one that was meant.
  const named = stories.filter(({ id }) => id === story.id);
  return named.length > 0 && named.every(({ done }) => done);
}
