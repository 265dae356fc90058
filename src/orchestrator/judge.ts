import type { IterationResult } from './iteration.ts';
import type { Verdict } from './policy.ts';
import type { IterationOutcome } from './run/events.ts';
import { readSignal, type Signal } from './signals.ts';
import { storyKeys } from './stories/select.ts';
import type { Story } from './stories/story.ts';

/** What an iteration left behind. */
export interface Evidence {
  readonly story?: Story;
  readonly storiesBefore: readonly Story[];
  readonly storiesAfter: readonly Story[];
  readonly commits: number;
  readonly result: IterationResult;
  readonly completionPromise: string;
  /** Stories that a person ticked or unticked meanwhile; not the agent's doing. */
  readonly handled: ReadonlySet<string>;
  readonly stopped: boolean;
}

/** What the loop makes of it. */
export interface Judgement {
  readonly outcome: IterationOutcome;
  /** Stories whose done state the iteration changed. */
  readonly changes: readonly { readonly storyId: string; readonly done: boolean }[];
  readonly signal?: Signal & { readonly accepted: boolean };
  readonly verdict?: Verdict;
}

/** Errors that no other iteration can mend. */
const FATAL_KINDS: ReadonlySet<string> = new Set(['billing', 'authentication', 'notStarted']);

/** Judges an iteration by what it left in the files; what the agent says is only a claim. Pure. */
export function judge(evidence: Evidence): Judgement {
  const { result, story, storiesAfter } = evidence;
  const changes = storyChanges(evidence);
  const spoken =
    result.end.result && !result.end.result.isError
      ? readSignal(result.end.result.text, evidence.completionPromise)
      : undefined;
  const signal = spoken && {
    ...spoken,
    accepted: spoken.kind !== 'complete' || storiesAfter.every(({ done }) => done),
  };
  const verdict = verdictOf(result, signal);
  return {
    outcome: outcomeOf(evidence, isDone(story, storiesAfter), signal),
    changes,
    ...(signal && { signal }),
    ...(verdict && { verdict }),
  };
}

/** Stories whose done state differs, identified by id; stories that came or went are not changes of state. */
export function storyChanges({
  storiesBefore,
  storiesAfter,
  handled,
}: Pick<Evidence, 'storiesBefore' | 'storiesAfter' | 'handled'>): Judgement['changes'] {
  const keysBefore = storyKeys(storiesBefore);
  const keysAfter = storyKeys(storiesAfter);
  const before = new Map(storiesBefore.map(story => [keysBefore.get(story), story.done]));
  return storiesAfter.flatMap(story => {
    const { id, done } = story;
    const was = before.get(keysAfter.get(story));
    return was !== undefined && was !== done && !handled.has(id) ? [{ storyId: id, done }] : [];
  });
}

function outcomeOf(
  { stopped, commits, result }: Evidence,
  storyDone: boolean,
  signal: Signal | undefined,
): IterationOutcome {
  if (storyDone) {
    return 'storyDone';
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
  if (commits > 0) {
    return 'progress';
  }
  return result.error ? 'failed' : 'noProgress';
}

function verdictOf(
  { error }: IterationResult,
  signal: (Signal & { accepted: boolean }) | undefined,
): Verdict | undefined {
  if (error && FATAL_KINDS.has(error.kind)) {
    return { kind: 'fatal', message: error.message };
  }
  if (signal?.kind === 'needsHuman') {
    return { kind: 'needsHuman', message: signal.message };
  }
  return signal?.kind === 'complete' && signal.accepted ? { kind: 'complete' } : undefined;
}

function isDone(story: Story | undefined, stories: readonly Story[]): boolean {
  if (story === undefined) {
    return false;
  }
  // Where a file repeats an id, only all of them together are sure to include the one that was meant.
  const named = stories.filter(({ id }) => id === story.id);
  return named.length > 0 && named.every(({ done }) => done);
}
