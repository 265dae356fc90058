import { assertNever } from '../base/assertNever.ts';
import type { Words } from '../base/say.ts';
import { sentence, shorten } from '../base/text.ts';
import { type RunState, storyNotes } from '../orchestrator/journal/runState.ts';
import type { Translate } from './translate.ts';

/** Maximum number of stories that are named with their reason. */
const MAX_NAMED = 3;
/** In UTF-16 units. */
const MAX_ID = 80;
const MAX_REASON = 200;

/** Why a run has left a story alone; stories that only wait for others have no such reason. */
export type Hindrance = { readonly storyId: string } & (
  | { readonly kind: 'skipped' }
  | { readonly kind: 'blocked'; readonly reason: string }
  | { readonly kind: 'failed'; readonly times: number; readonly reason: Words | undefined }
);

/** Why no story of a run was ready, in the order of the stories; those that the run skips come first. */
export function hindrancesOf(state: Pick<RunState, 'open' | 'storyRecords' | 'storyNotes'>): {
  readonly hindrances: readonly Hindrance[];
  /** How many others wait for these. */
  readonly waiting: number;
} {
  const open = state.open ?? [];
  const hindrances = open.flatMap((storyId): readonly Hindrance[] => {
    const record = state.storyRecords.get(storyId);
    if (record?.skipped !== undefined) {
      return [{ storyId, kind: 'skipped' }];
    }
    if (record?.blocked !== undefined) {
      return [{ storyId, kind: 'blocked', reason: record.blocked }];
    }
    return record !== undefined && record.failures > 0
      ? [{ storyId, kind: 'failed', times: record.failures, reason: lastReason(state, storyId) }]
      : [];
  });
  return { hindrances, waiting: open.length - hindrances.length };
}

function lastReason(state: Pick<RunState, 'storyNotes'>, storyId: string): Words | undefined {
  const { failedCheck, lastError, review } = storyNotes(state, storyId);
  const reasons = [
    { iteration: failedCheck?.iteration, words: failedCheck?.command },
    { iteration: lastError?.iteration, words: lastError?.message },
    { iteration: review?.iteration, words: review?.objections[0] },
  ];
  return reasons.sort((a, b) => (b.iteration ?? 0) - (a.iteration ?? 0))[0]?.words;
}

/** One sentence for each of the first stories; `undefined` if nothing is known of any of them. */
export function hindranceWords(
  { hindrances: all, waiting }: ReturnType<typeof hindrancesOf>,
  t: Translate,
  { withSkipped }: { readonly withSkipped: boolean },
): string | undefined {
  const hindrances = all.filter(({ kind }) => withSkipped || kind !== 'skipped');
  if (hindrances.length === 0) {
    return undefined;
  }
  const named = hindrances.slice(0, MAX_NAMED).map(hindrance => words(hindrance, t));
  const more = hindrances.length - named.length;
  return [
    ...named,
    ...(more > 0 ? [t('{0} more are not ready either.', more)] : []),
    ...(waiting > 0 ? [t('The others wait for these.')] : []),
  ].join(' ');
}

function words(hindrance: Hindrance, t: Translate): string {
  const id = shorten(hindrance.storyId, MAX_ID);
  switch (hindrance.kind) {
    case 'skipped':
      return t('{0} is skipped.', id);
    case 'blocked':
      return t('{0} is blocked: {1}', id, sentence(shorten(hindrance.reason, MAX_REASON)));
    case 'failed': {
      const { reason, times } = hindrance;
      const why = sentence(shorten(t.said(reason ?? t('no reason is known')), MAX_REASON));
      return times === 1
        ? t('{0} has failed: {1}', id, why)
        : t('{0} has failed {1} times in a row: {2}', id, times, why);
    }
    default:
      return assertNever(hindrance);
  }
}
