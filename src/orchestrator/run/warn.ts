import { type Words, withTexts } from '../../base/say.ts';
import type { Journal } from '../journal/journal.ts';

/** Longest detail of a warning in the journal, in UTF-16 units. */
const MAX_DETAIL = 2_000;

/**
 * Records a problem that does not end the run.
 * @param to the journal, or the scope of the affected iteration
 * @param code one of docs/journal.md
 * @param iteration the affected one, if `to` is the journal
 */
export function warn(
  to: Pick<Journal, 'append'>,
  code: string,
  detail: Words,
  iteration?: number,
): void {
  to.append(
    { type: 'warning', code, detail: withTexts(detail, text => text.slice(0, MAX_DETAIL)) },
    iteration,
  );
}
