import { assertNever } from '../base/assertNever.ts';
import { shorten } from '../base/text.ts';
import type { IterationReason, IterationRow } from '../orchestrator/journal/iterationRows.ts';
import type { ReturnedWork } from '../orchestrator/journal/returnedWork.ts';
import type { Translate } from './translate.ts';

/** Maximum length of a quotation of an agent, a check or a reviewer, in UTF-16 units. */
const MAX_REASON = 400;

/** The outcome of an iteration, as the short words of a list. */
export function outcomeWord(outcome: IterationRow['outcome'], t: Translate): string {
  const words: Readonly<Record<IterationRow['outcome'], string>> = {
    running: t('running'),
    storyDone: t('story done'),
    rejected: t('claim refused'),
    progress: t('progress'),
    noProgress: t('no progress'),
    failed: t('failed'),
    blocked: t('blocked'),
    needsHuman: t('needs you'),
    skipped: t('skipped'),
    stopped: t('stopped'),
    interrupted: t('interrupted'),
  };
  return words[outcome];
}

/** The same for an iteration of the journal, which may have a place of its own: then its work lands, or does not. */
export function rowWord(
  { isLanding, outcome, returned }: Pick<IterationRow, 'isLanding' | 'outcome' | 'returned'>,
  t: Translate,
): string {
  return outcome === 'running' && isLanding
    ? t('landing')
    : outcome === 'rejected' && returned !== undefined
      ? t('did not land')
      : outcomeWord(outcome, t);
}

/** Why it had that outcome, in a sentence; `undefined` if there is nothing to add. */
export function reasonWords(reason: IterationReason, t: Translate): string | undefined {
  switch (reason.kind) {
    case 'hardLimit':
      return t('The agent reached the time limit.');
    case 'idleLimit':
      return t('The agent was silent for too long.');
    case 'notStarted':
      return shorten(t.said(reason.message), MAX_REASON) || t('The agent could not be started.');
    case 'error':
      return (
        shorten(t.said(reason.message), MAX_REASON) ||
        (reason.exit === undefined
          ? t('The agent failed.')
          : t('The agent failed (exit code {0}).', reason.exit))
      );
    case 'blocked':
    case 'needsHuman':
      return shorten(t.said(reason.message), MAX_REASON) || undefined;
    case 'refusedPromise':
      return t('The agent said that everything is done, but there are open stories.');
    case 'failedCheck':
      return failedCheckWords(reason, t);
    case 'objections':
      return reason.objections.length === 0
        ? t('The reviewer did not approve it.')
        : t('The reviewer: {0}', shorten(reason.objections.map(t.said).join(' '), MAX_REASON));
    case 'conflict':
      return t(
        'It conflicts with what has landed meanwhile: {0}',
        shorten(reason.files.join(', '), MAX_REASON),
      );
    case 'guard':
      return reason.restored
        ? t('The agent changed stories other than its own; the changes were reverted.')
        : t('The agent changed stories other than its own.');
    default:
      return assertNever(reason);
  }
}

/** The same with a line for each objection of the reviewer, if there are several. */
export function reasonLines(reason: IterationReason, t: Translate): readonly string[] {
  if (reason.kind === 'objections' && reason.objections.length > 1) {
    return [
      t('The reviewer: {0}', '').trimEnd(),
      ...reason.objections.map(objection => `  ${shorten(t.said(objection), MAX_REASON)}`),
    ];
  }
  const words = reasonWords(reason, t);
  return words === undefined ? [] : [words];
}

function failedCheckWords(
  { command, exitCode, timedOut }: Extract<IterationReason, { kind: 'failedCheck' }>,
  t: Translate,
): string {
  const check = shorten(command, MAX_REASON);
  if (timedOut) {
    return t('The check {0} exceeded its time limit.', check);
  }
  return exitCode === undefined
    ? t('The check {0} failed.', check)
    : t('The check {0} failed (exit code {1}).', check, exitCode);
}

/** Why work did not land, in a sentence; `undefined` if there is nothing to add. */
export function returnedSentence(work: ReturnedWork, t: Translate): string | undefined {
  switch (work.reason) {
    case 'conflict':
      return reasonWords({ kind: 'conflict', files: work.files }, t);
    case 'checks':
      return reasonWords({ kind: 'failedCheck', ...work.check }, t);
    case 'review':
      return reasonWords({ kind: 'objections', objections: work.objections }, t);
    case 'other':
      return undefined;
    default:
      return assertNever(work);
  }
}
