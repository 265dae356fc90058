import { assertNever } from '../base/assertNever.ts';
import type { Words } from '../base/say.ts';
import { sentence, shorten } from '../base/text.ts';
import { type RunState, storyNotes } from '../orchestrator/journal/runState.ts';
import { openStatus } from '../orchestrator/journal/storyStatus.ts';
import type { Translate } from './translate.ts';

/** Maximum number of stories that are named with their reason. */
const MAX_NAMED = 3;
/** In UTF-16 units. */
const MAX_ID = 80;
const MAX_REASON = 200;

/** Why a run has left a story alone. Stories that only wait for others have no such reason. */
export type Hindrance = { readonly storyId: string } & (
  | { readonly kind: 'skipped' }
  | { readonly kind: 'blocked'; readonly reason: string }
  /** `check`: the command that failed; otherwise `reason`. */
  | {
      readonly kind: 'failed';
      readonly times: number;
      readonly check?: string;
      readonly reason?: Words;
    }
);

/** Why the run has left its open stories alone, in their order. */
export function hindrancesOf(
  state: Pick<RunState, 'open' | 'storyRecords' | 'storyNotes'>,
): readonly Hindrance[] {
  return (state.open ?? []).flatMap((storyId): readonly Hindrance[] => {
    const record = state.storyRecords.get(storyId);
    const status = record && openStatus(record, 0);
    switch (status?.kind) {
      case 'skipped':
        return [{ storyId, kind: 'skipped' }];
      case 'blocked':
        return [{ storyId, kind: 'blocked', reason: status.message }];
      case 'failed':
        return [{ storyId, kind: 'failed', times: status.times, ...lastFailure(state, storyId) }];
      default:
        return [];
    }
  });
}

/** The newest one of check, call and review. */
function lastFailure(
  state: Pick<RunState, 'storyNotes'>,
  storyId: string,
): { readonly check?: string; readonly reason?: Words } {
  const { failedCheck, lastError, review } = storyNotes(state, storyId);
  const found = [
    { iteration: failedCheck?.iteration, check: failedCheck?.command },
    { iteration: lastError?.iteration, reason: lastError?.message },
    { iteration: review?.iteration, reason: review?.objections[0] },
  ];
  const { iteration: _, ...newest } = found.sort(
    (a, b) => (b.iteration ?? 0) - (a.iteration ?? 0),
  )[0] ?? { iteration: 0 };
  return newest;
}

/** One sentence for each of the first stories; `undefined` if nothing is known of any of them. */
export function hindranceWords(
  all: readonly Hindrance[],
  t: Translate,
  { withSkipped }: { readonly withSkipped: boolean },
): string | undefined {
  const hindrances = all.filter(({ kind }) => withSkipped || kind !== 'skipped');
  if (hindrances.length === 0) {
    return undefined;
  }
  const named = hindrances.slice(0, MAX_NAMED).map(hindrance => words(hindrance, t));
  const more = hindrances.length - named.length;
  return [...named, ...(more > 0 ? [t('And {0} more.', more)] : [])].join(' ');
}

function words(hindrance: Hindrance, t: Translate): string {
  const id = shorten(hindrance.storyId, MAX_ID);
  switch (hindrance.kind) {
    case 'skipped':
      return t('{0} is skipped.', id);
    case 'blocked':
      return t('{0} is blocked: {1}', id, sentence(shorten(hindrance.reason, MAX_REASON)));
    case 'failed': {
      const { check, reason, times } = hindrance;
      const why =
        check === undefined
          ? sentence(shorten(t.said(reason ?? '') || t('no reason is known'), MAX_REASON))
          : t('its check "{0}" failed.', shorten(check, MAX_REASON));
      return times === 1
        ? t('{0} has failed: {1}', id, why)
        : t('{0} has failed {1} times in a row: {2}', id, times, why);
    }
    default:
      return assertNever(hindrance);
  }
}
