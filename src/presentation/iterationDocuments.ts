import { withoutControls } from '../base/text.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { ofIteration } from '../orchestrator/journal/iterationEvents.ts';
import { receiptOf } from '../orchestrator/journal/receipt.ts';
import { receiptText } from './receiptTable.ts';
import { Transcript } from './transcript.ts';
import type { EventOf } from './transcriptLine.ts';
import { duration, type Translate } from './translate.ts';

/** What an iteration did, as its terminal showed it. @param events all events of its run */
export function transcriptText(
  events: readonly RunEvent[],
  iteration: number,
  t: Translate,
): string {
  const isShown = ofIteration(iteration);
  // All events, since an event's text may depend on events before the iteration.
  const transcript = new Transcript(t, 'window', { isOfOneStory: true, isShown });
  const lines = events.flatMap(event => transcript.describe(event).map(({ text }) => text));
  return `${lines.join('\n').trim()}\n`;
}

/** A check of an iteration and its output. */
export interface CheckOutput {
  readonly event: EventOf<'check.ended'>;
  /** `undefined` if its file is gone. */
  readonly output: string | undefined;
}

/**
 * The checks of an iteration in the order they ran. If a claim is checked again, only the last time counts, because
 * the logs are overwritten, too.
 * @param events all events of its run
 */
export function checksOf(
  events: readonly RunEvent[],
  iteration: number,
): readonly EventOf<'check.ended'>[] {
  const started = events.findLastIndex(
    event => event.type === 'gate.started' && event.iteration === iteration,
  );
  return events
    .slice(started + 1)
    .filter(
      (event): event is EventOf<'check.ended'> =>
        event.type === 'check.ended' && event.iteration === iteration,
    );
}

/** The output of an iteration's checks, each below its command. */
export function checksText(checks: readonly CheckOutput[], t: Translate): string {
  if (checks.length === 0) {
    return `${t('No check ran in this iteration.')}\n`;
  }
  return checks
    .map(({ event, output }) => {
      const { command, durationMs, exitCode, ok, problem, timedOut } = event;
      const time = duration(durationMs, t);
      const result = ok
        ? t('passed in {0}', time)
        : timedOut
          ? t('timed out after {0}', time)
          : exitCode === undefined
            ? t('failed after {0}', time)
            : t('failed after {0}, exit code {1}', time, exitCode);
      // If the file of a check is gone, the journal still has the end of its output.
      const text = problem ? t.said(problem) : (output ?? event.outputTail);
      return withoutControls(`$ ${command}\n[${result}]\n\n${text}`);
    })
    .map(text => `${text.trimEnd()}\n`)
    .join('\n\n');
}

/**
 * What a story cost in all runs, with one table for each run that worked on it.
 * @param runs events of each run, the oldest first
 */
export function storyReceiptText(
  runs: readonly (readonly RunEvent[])[],
  storyId: string,
  t: Translate,
): string {
  const texts = runs.flatMap(events => {
    const stories = new Map(
      events.flatMap(event =>
        event.type === 'iteration.started' ? [[event.iteration, event.storyId]] : [],
      ),
    );
    const receipt = receiptOf(
      events.filter(
        event =>
          event.type === 'run.started' ||
          ('iteration' in event &&
            typeof event.iteration === 'number' &&
            stories.get(event.iteration) === storyId),
      ),
    );
    return receipt.iterations.length === 0 ? [] : [receiptText(receipt, t)];
  });
  return texts.length === 0
    ? `${t('No iteration has worked on {0} yet.', withoutControls(storyId))}\n`
    : `${texts.join('\n\n\n')}\n`;
}
