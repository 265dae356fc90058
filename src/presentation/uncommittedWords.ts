import { shorten } from '../base/text.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import type { Translate } from './translate.ts';

const MAX_FILES = 5;
const MAX_NAME = 200;

/** Work that is done but not committed, and how to commit it. */
export function uncommittedWords(
  { bytesFree, files, lock, more = 0, storyIds }: NonNullable<RunState['uncommitted']>,
  t: Translate,
): string {
  const ids = shorten(storyIds.join(', '), MAX_NAME);
  const shown = files.slice(0, MAX_FILES).map(file => shorten(file, MAX_NAME));
  const rest = files.length - shown.length + more;
  const named = rest > 0 ? t('{0} and {1} more', shown.join(', '), rest) : shown.join(', ');
  if (storyIds.length === 0) {
    return t(
      'Not committed since the run began: {0}. Commit what belongs to the work, and let git ignore the rest.',
      named,
    );
  }
  return [
    storyIds.length === 1
      ? t('{0} is done, but its changes are not committed: {1}.', ids, named)
      : t('Done, but not committed: {0}. Their changes: {1}.', ids, named),
    nextStep(lock, bytesFree, t),
  ].join(' ');
}

function nextStep(lock: string | undefined, bytesFree: number | undefined, t: Translate): string {
  if (lock !== undefined) {
    return t(
      '{0} exists: another git process is working in this repository, or one crashed and left it behind. If none is running, remove that file, then commit them.',
      lock,
    );
  }
  return bytesFree === undefined
    ? t('Fix what keeps git from committing, such as a hook, and commit them.')
    : t(
        'Only {0} KB are free on the disk, which may keep git from committing. Free some space, and commit them.',
        Math.floor(bytesFree / 1024),
      );
}
