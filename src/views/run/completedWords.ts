import { shorten } from '../../base/text.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import type { Translate } from '../../presentation/sentences.ts';

/** Maximum length of the ids of a run's stories, in UTF-16 units. */
const MAX_IDS = 100;

/** The result of a completed run, in one sentence. Pure. */
export function completedWords(
  { iteration, onlyStories, stories: { done, total } }: RunState,
  t: Translate,
): string {
  if (onlyStories !== undefined) {
    return t('Ralph is done with {0}.', shorten(onlyStories.join(', '), MAX_IDS));
  }
  if (iteration === 0) {
    return t('All stories were already done; there was nothing to do.');
  }
  if (total === 0) {
    return iteration === 1
      ? t('The task is done, after 1 iteration.')
      : t('The task is done, after {0} iterations.', iteration);
  }
  if (done < total) {
    return t('All stories are done, except those that are put aside.');
  }
  return iteration === 1
    ? t('All stories are done, after 1 iteration.')
    : t('All stories are done, after {0} iterations.', iteration);
}
