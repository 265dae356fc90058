import { assertNever } from '../base/assertNever.ts';
import type { Message, Words } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { sentence, shorten } from '../base/text.ts';
import { type RunState, storyNotes, WHOLE_TASK } from '../orchestrator/journal/runState.ts';
import type { StoryNotes } from '../orchestrator/journal/storyNotes.ts';
import { MANY_UNCLAIMED } from '../orchestrator/journal/storyRecord.ts';
import type { WaitsAside } from '../orchestrator/stories/asideReason.ts';
import { unknownWords } from '../orchestrator/stories/unknownNeeds.ts';
import { warningWords } from './runLines.ts';
import { leftQueued, openStatus } from './storyState.ts';
import { iterationCount, type Translate } from './translate.ts';

/** Maximum number of stories that are named with their reason. */
const MAX_NAMED = 3;
/** The same for stories that made no progress when the iterations were used up. */
const MAX_FRUITLESS = 2;
/** In UTF-16 units. */
const MAX_ID = 80;
const MAX_REASON = 200;

/** Why a run has left a story alone. Stories that only wait for others have no such reason. */
export type Hindrance = { readonly storyId: string } & (
  | { readonly kind: 'skipped' }
  /** No longer: a person has given it another chance since. */
  | { readonly kind: 'reset' }
  | { readonly kind: 'blocked'; readonly reason: string }
  | { readonly kind: 'noProgress'; readonly iterations: number }
  /** Its agents make progress, and none marks it as done; `isShared`: nobody knows which story its id means. */
  | { readonly kind: 'unclaimed'; readonly iterations: number; readonly isShared?: boolean }
  /** It is not in the story file any more. */
  | { readonly kind: 'gone' }
  /** A person has settled its conflict since: its work lands when the run continues. */
  | { readonly kind: 'queued' }
  | { readonly kind: 'aside'; readonly on: string; readonly status?: string | undefined }
  /** It waits for a story that the file does not have. */
  | { readonly kind: 'unknown'; readonly words: Message }
  /**
   * `check`: the command that failed; `conflict`: the files in which it cannot be merged; `elsewhere`: its commits are on
   * another branch; `limit`: what ended the agent; `withheld`: the warning that said why it does not land; otherwise `reason`.
   */
  | {
      readonly kind: 'failed';
      readonly times: number;
      readonly check?: string;
      readonly conflict?: readonly string[];
      readonly elsewhere?: boolean;
      readonly limit?: Limit;
      readonly withheld?: StoryNotes['withheld'];
      readonly reason?: Words;
    }
);

type Limit = 'hardLimit' | 'idleLimit';

/** Why the run has left its open stories alone, in their order. */
export function hindrancesOf(
  state: Pick<
    RunState,
    | 'aside'
    | 'cutOff'
    | 'gone'
    | 'open'
    | 'running'
    | 'storyFile'
    | 'storyNotes'
    | 'storyRecords'
    | 'unknown'
  >,
): readonly Hindrance[] {
  return (state.open ?? []).flatMap((storyId): readonly Hindrance[] => {
    if (state.gone?.includes(storyId)) {
      return [{ storyId, kind: 'gone' }];
    }
    if (leftQueued(storyId, state) !== undefined) {
      return [{ storyId, kind: 'queued' }];
    }
    const record = state.storyRecords.get(storyId);
    const status = record && openStatus(record, 0);
    switch (status?.kind) {
      case 'skipped':
        return [{ storyId, kind: 'skipped' }];
      case 'blocked':
        return [{ storyId, kind: 'blocked', reason: status.message }];
      case 'failed':
        return [{ storyId, kind: 'failed', times: status.times, ...lastFailure(state, storyId) }];
      default: {
        if (record?.reset) {
          return [{ storyId, kind: 'reset' }];
        }
        const waits = state.aside?.find(({ id }) => id === storyId);
        if (waits !== undefined) {
          return [{ storyId, kind: 'aside', on: waits.on, status: waits.status }];
        }
        const unknown = state.unknown?.find(({ id }) => id === storyId);
        return unknown === undefined
          ? []
          : [{ storyId, kind: 'unknown', words: unknownWords(unknown, state.storyFile ?? '') }];
      }
    }
  });
}

/**
 * The open stories whose last iterations brought nothing, or no claim, the latest first. Those that a run leaves alone are
 * others.
 */
export function fruitlessOf(
  state: Pick<RunState, 'sharedIds' | 'storyRecords' | 'storyNotes'>,
): readonly Hindrance[] {
  const lastOf = (id: string) => storyNotes(state, id).lastIteration?.number ?? 0;
  return [...state.storyRecords]
    .filter(
      ([id, { blocked, doneBy, failures, landed, skipped, stuckFor, unclaimed = 0 }]) =>
        id !== WHOLE_TASK &&
        doneBy === undefined &&
        landed === undefined &&
        blocked === undefined &&
        skipped === undefined &&
        (failures > 0 || stuckFor > 0 || unclaimed >= MANY_UNCLAIMED),
    )
    .sort(([a], [b]) => lastOf(b) - lastOf(a))
    .slice(0, MAX_FRUITLESS)
    .map(([storyId, { failures, stuckFor, unclaimed = 0 }]) =>
      failures > 0
        ? { storyId, kind: 'failed', times: failures, ...lastFailure(state, storyId) }
        : stuckFor > 0
          ? { storyId, kind: 'noProgress', iterations: stuckFor }
          : {
              ...{ storyId, kind: 'unclaimed', iterations: unclaimed },
              ...(state.sharedIds?.includes(storyId) && { isShared: true }),
            },
    );
}

/** The newest one of check, conflict, call, review, guard, and what does not land. */
function lastFailure(
  state: Pick<RunState, 'storyNotes'>,
  storyId: string,
): Pick<
  Extract<Hindrance, { kind: 'failed' }>,
  'check' | 'conflict' | 'elsewhere' | 'limit' | 'reason' | 'withheld'
> {
  const { conflict, elsewhere, failedCheck, guard, lastError, review, withheld } = storyNotes(
    state,
    storyId,
  );
  const found = [
    ...(guard?.idShared ? [{ iteration: guard.iteration, reason: guard.idShared }] : []),
    { iteration: failedCheck?.iteration, check: failedCheck?.command },
    ...(elsewhere ? [{ iteration: elsewhere.iteration, elsewhere: true }] : []),
    { iteration: conflict?.iteration, conflict: conflict?.files },
    { iteration: withheld?.iteration, withheld },
    { iteration: lastError?.iteration, reason: lastError?.message, ...limitOf(lastError?.kind) },
    { iteration: review?.iteration, reason: review?.objections[0] },
  ];
  const { iteration: _, ...newest } = found.sort(
    (a, b) => (b.iteration ?? 0) - (a.iteration ?? 0),
  )[0] ?? { iteration: 0 };
  return newest;
}

function limitOf(kind: string | undefined): { readonly limit?: Limit } {
  return kind === 'hardLimit' || kind === 'idleLimit' ? { limit: kind } : {};
}

/**
 * One sentence for each of the first stories; `undefined` if nothing is known of any of them.
 * @param resume flags of `run` with which the run continues
 */
export function hindranceWords(
  all: readonly Hindrance[],
  t: Translate,
  { resume, withSkipped }: { readonly withSkipped: boolean; readonly resume?: string },
): string | undefined {
  const hindrances = all.filter(({ kind }) => withSkipped || kind !== 'skipped');
  if (hindrances.length === 0) {
    return undefined;
  }
  const named = hindrances
    .slice(0, MAX_NAMED)
    .map(hindrance => words(hindrance, t, withSkipped ? 'window' : 'terminal', resume));
  const more = hindrances.length - named.length;
  return [...named, ...(more > 0 ? [t('And {0} more.', more)] : [])].join(' ');
}

function words(
  hindrance: Hindrance,
  t: Translate,
  door: 'window' | 'terminal',
  resume = '--resume',
): string {
  const id = shorten(hindrance.storyId, MAX_ID);
  switch (hindrance.kind) {
    case 'skipped':
      return t('{0} is skipped.', id);
    case 'reset':
      return door === 'window'
        ? t('{0} gets another chance when you start again.', id)
        : t('{0} gets another chance with "{1}".', id, `ralph-fresh run ${resume}`);
    case 'gone':
      return t('{0} is gone from the story file. Put it back, or run again without it.', id);
    case 'queued':
      return door === 'window'
        ? t('{0} waits to land, first when the run continues.', id)
        : t('{0} waits to land, first with "{1}".', id, `ralph-fresh run ${resume}`);
    case 'aside': {
      const { on, status } = hindrance;
      return asideWords({ id: hindrance.storyId, on, status }, t);
    }
    case 'unknown':
      return t.said(hindrance.words);
    case 'blocked':
      return t('{0} is blocked: {1}', id, sentence(shorten(hindrance.reason, MAX_REASON)));
    case 'noProgress':
      return t(
        'No progress on {0} for {1}; more iterations alone may not help.',
        id,
        iterationCount(hindrance.iterations, t),
      );
    case 'unclaimed': {
      const made = t(
        'No agent has marked {0} as done, although the last {1} brought progress.',
        id,
        iterationCount(hindrance.iterations, t),
      );
      if (hindrance.isShared) {
        return `${made} ${t('Several stories have this id: give each an id of its own.')}`;
      }
      const next =
        door === 'window'
          ? t('If it is done, mark it as done.')
          : t('If it is done, run "{0}".', `ralph-fresh tick ${shellWord(hindrance.storyId)}`);
      return `${made} ${next}`;
    }
    case 'failed': {
      const { times } = hindrance;
      const why = failureWords(hindrance, t, door);
      return times === 1
        ? t('{0} has failed: {1}', id, why)
        : t('{0} has failed {1} times in a row: {2}', id, times, why);
    }
    default:
      return assertNever(hindrance);
  }
}

function failureWords(
  { check, conflict, elsewhere, limit, reason, withheld }: Extract<Hindrance, { kind: 'failed' }>,
  t: Translate,
  door: 'window' | 'terminal',
): string {
  if (conflict !== undefined) {
    return t(
      'its work conflicts with what has landed: {0}.',
      shorten(conflict.join(', '), MAX_REASON),
    );
  }
  if (elsewhere) {
    return t('its commits are not on the branch of the run.');
  }
  if (check !== undefined) {
    return t('its check "{0}" failed.', shorten(check, MAX_REASON));
  }
  if (limit !== undefined) {
    const flag = limit === 'hardLimit' ? '--time-limit' : '--idle-limit';
    const why =
      limit === 'hardLimit'
        ? t('The agent reached the time limit.')
        : t('The agent was silent for too long.');
    return door === 'window' ? why : `${why} ${t('Allow more time with {0}.', flag)}`;
  }
  if (withheld !== undefined) {
    return sentence(warningWords(withheld, t, door));
  }
  return sentence(shorten(t.said(reason ?? '') || t('no reason is known'), MAX_REASON));
}

/**
 * That a story waits for one that is put aside, and what a person can do.
 * @param tick the command that marks a story of this file as done, without its id
 */
export function asideWords({ id, on, status }: WaitsAside, t: Translate, tick?: string): string {
  const story = shorten(id, MAX_ID);
  const other = shorten(on, MAX_ID);
  const waits =
    status === undefined
      ? t('{0} waits for {1}, which is put aside.', story, other)
      : t('{0} waits for {1}, which is put aside ({2}).', story, other, shorten(status, MAX_ID));
  return tick === undefined
    ? `${waits} ${t('Reopen {0} in the story file, or mark it as done.', other)}`
    : `${waits} ${t('Reopen {0} in the story file, or run "{1}".', other, `${tick} ${shellWord(on)}`)}`;
}
