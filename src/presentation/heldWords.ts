import { sentence, shorten } from '../base/text.ts';
import { bringInCommand } from '../orchestrator/git/bringInCommand.ts';
import type { HeldReason } from '../orchestrator/journal/eventCodes.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import type { Translate } from './translate.ts';

/** Maximum length of the names of files, in UTF-16 units. */
const MAX_FILES = 200;

/**
 * That the branch does not have everything that has landed, and what to do; `undefined` if it has.
 * @param isActive the run's loop is alive, and brings it there by itself as soon as it can
 */
export function heldSentence(
  { branch = '', held }: Pick<RunState, 'branch' | 'held'>,
  isActive: boolean,
  t: Translate,
): string | undefined {
  if (held === undefined) {
    return undefined;
  }
  const { files, reason, ref } = held;
  if (!isActive) {
    // Somebody may have brought it there since, which no journal says.
    return [
      t('When the run ended, {0} did not have everything that has landed.', branch),
      ...moveAwayWords(held, t),
      t('If it still does not: {0}', bringInCommand(ref, reason)),
    ].join(' ');
  }
  const words = heldWords(branch, reason, t);
  const named = shorten(files.join(', '), MAX_FILES);
  return named === ''
    ? sentence(words.replace(/[:\uff1a]$/, ''))
    : `${words.replace(/(?<![:\uff1a])$/, ':')} ${named}`;
}

/** How a branch gets what has landed when no run is active. Local changes are put back on top. */
export function bringInWords(held: NonNullable<RunState['held']>, t: Translate): string {
  const { reason, ref } = held;
  const command = bringInCommand(ref, reason);
  const words =
    reason === 'diverged'
      ? t('Merge it by hand: {0}', command)
      : // Lanes that came from a flag are not remembered.
        t('"ralph-fresh run --isolate" brings it in; by hand: {0}', command);
  return [...moveAwayWords(held, t), words].join(' ');
}

/** What to do before a merge by hand. */
function moveAwayWords({ untracked = [] }: NonNullable<RunState['held']>, t: Translate): string[] {
  return untracked.length === 0
    ? []
    : [
        t(
          'Move these files away first, because a merge would overwrite them: {0}.',
          shorten(untracked.join(', '), MAX_FILES),
        ),
      ];
}

/** Why the branch cannot follow what has landed, and what to do. */
export function heldWords(branch: string, reason: HeldReason, t: Translate): string {
  const words: Readonly<Record<HeldReason, string>> = {
    localChanges: t(
      '{0} follows as soon as these files are committed, stashed or moved away:',
      branch,
    ),
    locked: t('{0} follows as soon as no other git process is working', branch),
    otherWorktree: t('{0} is checked out in another worktree, so it does not follow:', branch),
    operation: t('{0} follows as soon as the rebase, merge or bisect is finished', branch),
    diverged: t('New commits on {0} do not fit what has landed; merge it by hand', branch),
    refused: t('git refuses to move {0}:', branch),
  };
  return words[reason];
}
