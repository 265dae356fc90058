import { shorten } from '../base/text.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';

const MAX_FILES = 5;
const MAX_NAME = 200;

/** Work that is done but not committed, and how to commit it. */
export function uncommittedWords(
  { files, lock, more = 0, storyIds }: NonNullable<RunState['uncommitted']>,
  t: (message: string, ...args: (string | number)[]) => string,
): string {
  const ids = shorten(storyIds.join(', '), MAX_NAME);
  const shown = files.slice(0, MAX_FILES).map(file => shorten(file, MAX_NAME));
  const rest = files.length - shown.length + more;
  const named = rest > 0 ? t('{0} and {1} more', shown.join(', '), rest) : shown.join(', ');
  return [
    storyIds.length === 1
      ? t('{0} is done, but its changes are not committed: {1}.', ids, named)
      : t('Done, but not committed: {0}. Their changes: {1}.', ids, named),
    lock === undefined
      ? t('Fix what keeps git from committing, such as a hook, and commit them.')
      : t(
          '{0} exists: another git process is working in this repository, or one crashed and left it behind. If none is running, remove that file, then commit them.',
          lock,
        ),
  ].join(' ');
}
