import { assertNever } from '../base/assertNever.ts';
import { sentence, shorten } from '../base/text.ts';
import { atWork } from '../orchestrator/journal/atWork.ts';
import type { CurrentIteration } from '../orchestrator/journal/currentIteration.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import { heldWords } from './landingLines.ts';
import type { Translate } from './translate.ts';

/** Maximum length of the names of files, in UTF-16 units. */
const MAX_FILES = 200;

/** How many stories are at work, are landing, and wait for a usage limit; without those that are none. */
export function workCounts(state: Pick<RunState, 'limits' | 'running'>, t: Translate): string[] {
  const { landing, limited, working } = atWork(state);
  return [
    ...(working.length > 0 ? [t('{0} at work', working.length)] : []),
    ...(landing.length > 0 ? [t('{0} landing', landing.length)] : []),
    ...(limited.length > 0 ? [t('{0} waiting for the limit', limited.length)] : []),
  ];
}

/** Who is working on a running iteration now. */
export function stepWords(
  { number, step }: Pick<CurrentIteration, 'number' | 'step'>,
  { limits }: Pick<RunState, 'limits'>,
  t: Translate,
): string {
  if (limits.has(number)) {
    return t('the agent waits');
  }
  switch (step) {
    case 'gate':
      return t('the checks run');
    case 'review':
      return t('the reviewer checks the work');
    case 'queue':
      return t('the work waits to land');
    case 'agent':
    case undefined:
      return t('the agent works');
    default:
      return assertNever(step);
  }
}

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
    return t(
      'When the run ended, {0} did not have everything that has landed. If it still does not: git merge {1}',
      branch,
      ref,
    );
  }
  const words = heldWords(branch, reason, t);
  const named = shorten(files.join(', '), MAX_FILES);
  return named === ''
    ? sentence(words.replace(/[:：]$/, ''))
    : `${words.replace(/(?<![:：])$/, ':')} ${named}`;
}
