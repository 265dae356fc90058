import { shorten } from '../base/text.ts';
import type { QueuedWork } from '../orchestrator/journal/laneHistory.ts';
import type { Translate } from './translate.ts';

/** Maximum length of a story's id in a list, in UTF-16 units. */
const MAX_ID = 60;

/**
 * What work in the queue waits for, or that it is checked now.
 * @param queue in the order in which it lands
 */
export function queueWords(queue: readonly QueuedWork[], iteration: number, t: Translate): string {
  const index = queue.findIndex(({ work }) => work.iteration === iteration);
  const own = queue[index];
  if (own === undefined) {
    return t('the work waits to land');
  }
  if (own.isReviewed) {
    return t('is being reviewed');
  }
  const [first, ...others] = queue.slice(0, index);
  if (own.isLanding) {
    const together = queue.filter(
      ({ isLanding, work }) => isLanding && work.iteration !== iteration,
    );
    return together.length === 0
      ? t('is being checked')
      : t('is being checked together with {0}', named(together, t));
  }
  if (first === undefined) {
    return t('is next to land');
  }
  if (others.length > 0) {
    return t('waits for {0}', named([first, ...others], t));
  }
  return first.isLanding
    ? t('waits for {0}, which is being checked', idOf(first))
    : t('waits for {0}', idOf(first));
}

/** The first one, and how many more. */
function named([first, ...others]: readonly QueuedWork[], t: Translate): string {
  const id = first === undefined ? '' : idOf(first);
  return others.length === 0 ? id : t('{0} and {1} more', id, others.length);
}

function idOf({ work }: QueuedWork): string {
  return shorten(work.storyId ?? '', MAX_ID);
}
