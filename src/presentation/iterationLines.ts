import { titleNextTo } from '../base/storyTitle.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import type { StoryCount } from '../orchestrator/journal/storyCount.ts';
import { tellsCost } from '../orchestrator/journal/tellsCost.ts';
import { choiceWords } from './choiceWords.ts';
import { outcomeWord } from './iterationWords.ts';
import { isMixed } from './storyPrefix.ts';
import { type EventOf, line, own, type TranscriptLine } from './transcriptLine.ts';
import { dollars, duration, iterationCount, type Translate } from './translate.ts';
import { uncommittedWords } from './uncommittedWords.ts';

/** An iteration begins. */
export function iterationStarted(
  event: EventOf<'iteration.started'>,
  t: Translate,
  state: RunState,
): readonly TranscriptLine[] {
  return [
    line('plain', ''),
    own('heading', `=== ${iterationHeading(event, t, state)} ===`),
    // With lanes, the end of another agent has just said it.
    ...(state.isolated ? [] : statusLine(event.stories, t)),
    ...(event.storyId === undefined
      ? []
      : [own('plain', `${event.storyId}: ${titleNextTo(event.storyId, event.storyTitle ?? '')}`)]),
    ...chosenLine(event, t),
    ...(event.stuckFor > 0
      ? [own('warning', t('No progress on it for {0}', iterationCount(event.stuckFor, t)))]
      : []),
    own('plain', t('Spawning a fresh agent…')),
  ];
}

/** An iteration has ended: its outcome, and what it took. */
export function iterationEnded(
  event: EventOf<'iteration.ended'>,
  t: Translate,
  state: RunState,
): readonly TranscriptLine[] {
  return [
    ...(event.uncommitted ? [own('warning', uncommittedWords(event.uncommitted, t))] : []),
    own('dim', iterationFacts(event, t, tellsCost(state.agent ?? ''))),
    ...statusLine(event.stories, t),
  ];
}

/** Why this agent may differ from the run's settings. */
function chosenLine(event: EventOf<'iteration.started'>, t: Translate): TranscriptLine[] {
  const chosen = choiceWords(event, t);
  return chosen.length === 0
    ? []
    : [own('plain', t('Chosen by the story: {0}', chosen.join(' · ')))];
}

/** With several lanes, iterations need not begin in the order of their numbers. */
function iterationHeading(
  { iteration, lane, maxIterations }: EventOf<'iteration.started'>,
  t: Translate,
  state: RunState,
): string {
  return lane !== undefined && isMixed(state)
    ? t('Iteration {0}/{1}, lane {2}', iteration, maxIterations, lane)
    : t('Iteration {0}/{1}', iteration, maxIterations);
}

function iterationFacts(event: EventOf<'iteration.ended'>, t: Translate, isTold: boolean): string {
  return [
    t('Iteration {0}: {1}', event.iteration, outcomeWord(event.outcome, t)),
    // 0: it worked before the run was interrupted, or settled by a person, and nobody knows how long.
    ...(event.durationMs > 0 ? [duration(event.durationMs, t)] : []),
    event.commits === 1 ? t('1 commit') : t('{0} commits', event.commits),
    ...(event.turns === undefined || (event.turns === 0 && !isTold)
      ? []
      : [event.turns === 1 ? t('1 turn') : t('{0} turns', event.turns)]),
    ...(event.costUsd === undefined
      ? isTold
        ? []
        : [t('cost unknown')]
      : [dollars(event.costUsd, t, event.costEstimated)]),
  ].join(' · ');
}

/** How many stories are done. */
export function statusLine({ done, total }: StoryCount, t: Translate): readonly TranscriptLine[] {
  return total === 0 ? [] : [own('plain', t('PRD Status: {0}/{1} stories complete', done, total))];
}
