import { type Words, withTexts } from '../../base/say.ts';
import type { RunEvent, RunEventBody } from '../journal/events.ts';

/** Longest detail of a warning in the journal, in UTF-16 units. */
const MAX_DETAIL = 2_000;

/**
 * Records a problem that does not end the run.
 * @param to the journal, or the scope of the affected iteration
 * @param code one of docs/journal.md
 */
export function warn(
  to: { append(event: RunEventBody): RunEvent },
  code: string,
  detail: Words,
): void {
  to.append({
    type: 'warning',
    code,
    detail: withTexts(detail, text => text.slice(0, MAX_DETAIL)),
  });
}
