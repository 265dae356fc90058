import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import type { Question } from '../../orchestrator/journal/storyNotes.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import type { Translate } from '../../presentation/translate.ts';
import { type AskedIn, questionsOf } from '../run/alertOf.ts';
import type { ShownQuestion } from './protocol.ts';

/**
 * The question that the page shows. If there are several, the one that was asked first: a newer one must not replace the
 * field in which somebody writes. Pure.
 */
export function questionOnPage(state: RunState): Question | undefined {
  return questionsOf(state)[0];
}

/** A question that the run waits for, next to which others work, or that ended the run. Pure. */
export function askedQuestion(
  runId: string,
  run: WatchedRun,
  t: Translate,
): ShownQuestion | undefined {
  const { isolated, outcome, pause } = run.state;
  const { isActive: active } = runStanding(run);
  const question = questionOnPage(run.state);
  const count = questionsOf(run.state).length;
  const isAsked = active
    ? pause === undefined
      ? isolated === true
      : pause.reason === 'question'
    : outcome === 'needsHuman';
  if (!question || !isAsked) {
    return undefined;
  }
  return {
    id: shownQuestionId(runId, question),
    storyId: question.storyId,
    // The text above the field says that an answer continues an ended run.
    send: active ? t('Send Answer') : t('Answer and Continue'),
    help: [
      ...(count > 1 ? [t('Question 1 of {0}; the next one follows.', count)] : []),
      t('The next agent is told the question and your answer.'),
    ].join(' '),
  };
}

/** Distinguishes a question from others. */
function shownQuestionId(runId: string, { iteration }: Question): string {
  return `${runId}/${iteration}`;
}

/** The question with an id that the page has. */
export function askedIn(id: string): AskedIn {
  const end = id.lastIndexOf('/');
  return { runId: id.slice(0, end), iteration: Number(id.slice(end + 1)) };
}
