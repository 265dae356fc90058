import { shorten } from '../../base/text.ts';
import type { ReturnReason } from '../../orchestrator/journal/eventCodes.ts';
import type { IterationRow } from '../../orchestrator/journal/iterationRows.ts';
import type { LaneHistory } from '../../orchestrator/journal/laneHistory.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { reasonWords } from '../../presentation/iterationWords.ts';
import { queueWords } from '../../presentation/queueWords.ts';
import { storyStatus } from '../../presentation/storyState.ts';
import { type Translate, wholeNumber } from '../../presentation/translate.ts';
import type { ShownLanes, ShownReturned } from './laneProtocol.ts';
import { shownStory } from './timeline.ts';

/** Stories of the queue that are listed. */
const MAX_QUEUED = 12;
const MAX_RETURNED = 6;
const MAX_LANDED = 3;
const MAX_REASON = 300;

/** The landing queue in its order, what came back and why, and what has landed. Pure. */
export function shownLandings(
  run: WatchedRun,
  history: LaneHistory,
  rows: readonly IterationRow[],
  t: Translate,
): Pick<ShownLanes, 'queue' | 'moreQueued' | 'returned' | 'landed'> {
  const { isActive } = runStanding(run);
  const { queue, works } = history;
  const byNumber = new Map(rows.map(row => [row.number, row]));
  const landed = works
    .filter(({ landedAt }) => landedAt !== undefined)
    .sort((a, b) => (b.landedAt ?? 0) - (a.landedAt ?? 0));
  const more = queue.length - MAX_QUEUED;
  return {
    queue: queue.slice(0, MAX_QUEUED).map(({ isLanding, work }) => ({
      iteration: work.iteration,
      glyph: isLanding && isActive ? 'running' : 'waiting',
      story: shownStory(work.storyId, work.storyTitle),
      words: isActive ? queueWords(queue, work.iteration, t) : t('lands when the run continues'),
      since: isActive
        ? new Date(
            (isLanding ? work.landings.at(-1)?.from : undefined) ?? work.queuedAt ?? work.from,
          ).toISOString()
        : undefined,
    })),
    moreQueued: more > 0 ? t('and {0} more', more) : undefined,
    returned: cameBack(run, history, byNumber, t),
    landed:
      landed.length === 0
        ? undefined
        : {
            words:
              landed.length === 1
                ? t('1 story has landed')
                : t('{0} stories have landed', wholeNumber(landed.length, t)),
            last: landed.slice(0, MAX_LANDED).map(({ landedAt = 0, storyId, storyTitle }) => ({
              story: shownStory(storyId, storyTitle) ?? { id: '', title: '' },
              at: new Date(landedAt).toISOString(),
            })),
          },
  };
}

/** The last work of each story, if it did not land. */
function cameBack(
  run: WatchedRun,
  { works }: LaneHistory,
  rows: ReadonlyMap<number, IterationRow>,
  t: Translate,
): readonly ShownReturned[] {
  const settled = works.filter(work => work.landedAt !== undefined || work.returned !== undefined);
  const last = new Map(settled.map(work => [work.storyId, work]));
  return [...last.values()]
    .flatMap(work => (work.returned === undefined ? [] : { ...work, returned: work.returned }))
    .sort((a, b) => b.returned.at - a.returned.at)
    .slice(0, MAX_RETURNED)
    .map(({ iteration, returned, storyId, storyTitle }) => {
      const row = rows.get(iteration);
      const reason = row?.reason && reasonWords(row.reason, t);
      return {
        iteration,
        story: shownStory(storyId, storyTitle),
        reason:
          returned.reason === 'person' || reason === undefined
            ? returnWords(returned.reason, t)
            : shorten(reason, MAX_REASON),
        next: nextWords(storyId, run, t),
        hasChanges: row?.landing !== undefined,
      };
    });
}

function returnWords(reason: ReturnReason, t: Translate): string {
  const words: Readonly<Record<ReturnReason, string>> = {
    conflict: t('It conflicts with what has landed meanwhile.'),
    checks: t('Its checks failed.'),
    review: t('The reviewer did not approve it.'),
    person: t('A person took it back.'),
    gone: t('Its commits cannot be read.'),
  };
  return words[reason];
}

/** What happens with a story whose work did not land. */
function nextWords(storyId: string | undefined, run: WatchedRun, t: Translate): string | undefined {
  const { state } = run;
  if (!runStanding(run).isActive || storyId === undefined) {
    return undefined;
  }
  const status = storyStatus({ id: storyId, done: false }, run, [state]);
  switch (status?.kind) {
    case 'running':
      return t('Another agent works on it.');
    case 'skipped':
      return t('It is skipped.');
    case 'settling':
      return t('You settle its conflict.');
    default:
      // Whether it gets another agent depends on limits that the journal does not have.
      return t('The story is open again.');
  }
}
