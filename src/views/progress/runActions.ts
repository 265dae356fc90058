import { assertNever } from '../../base/assertNever.ts';
import type { PauseReason } from '../../orchestrator/journal/eventCodes.ts';
import { runStanding } from '../../orchestrator/journal/runStanding.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import type { Translate } from '../../presentation/translate.ts';
import { continuing, limitSetting } from '../run/fittingActions.ts';
import type { PageAction, ShownAction } from './protocol.ts';

/** How a living run was asked to stop. */
export type Stopping = 'now' | 'afterIteration';

/**
 * The buttons that fit the state of the run, the most likely one first. Pure.
 * @param stopping absent if no stop was requested, or the run is over
 * @param allDone another run would find nothing to do
 */
export function runActions(
  run: WatchedRun,
  stopping: Stopping | undefined,
  allDone: boolean,
  t: Translate,
): readonly ShownAction[] {
  const { state } = run;
  const { isActive, question, storyIds, waiting } = runStanding(run);
  if (!isActive) {
    const review: ShownAction = { action: 'openRunChanges', label: t('Review Changes') };
    const hasChanges = state.commits.length > 0;
    const isAsking = state.outcome === 'needsHuman' && question !== undefined;
    // When the work is done, another run is not the primary action.
    const reviewFirst = hasChanges ? [{ ...review, primary: true } as const] : [];
    if (allDone) {
      return reviewFirst;
    }
    return state.outcome === 'completed'
      ? [...reviewFirst, start(t)]
      : [
          // The answer has its own button, and continues the run.
          { ...start(t), ...(!isAsking && { primary: true as const }) },
          ...(limitSetting(state) === undefined
            ? []
            : [button('openLimitSetting', t('Open Settings'))]),
          ...(hasChanges ? [review] : []),
        ];
  }
  if (stopping === 'now') {
    return [{ action: 'stopRun', label: t('Stopping…'), pending: true }, terminal(t)];
  }
  const stop: ShownAction = { action: 'stopRun', label: t('Stop') };
  if (waiting?.kind === 'limit') {
    return [button('resumeRun', t('Try Now')), stop, terminal(t)];
  }
  if (waiting) {
    return [
      ...continuing(state).map(way => ({
        ...continueButton(way, waiting.reason, t),
        // The answer has its own button.
        ...(waiting.reason !== 'question' && { primary: true as const }),
      })),
      ...(waiting.reason === 'stuck' ? [button('giveHint', t('Give a Hint…'))] : []),
      ...(waiting.storyId === undefined ? [] : [button('skipStory', t('Skip Story'))]),
      stop,
      terminal(t),
    ];
  }
  return [
    // With lanes, one agent waits for a usage limit while others work.
    ...(state.limits.size > 0 && !state.pauseRequested ? [button('resumeRun', t('Try Now'))] : []),
    state.pauseRequested
      ? button('resumeRun', t('Do Not Pause'))
      : button('pauseRun', t('Pause After Iteration')),
    ...(stopping === 'afterIteration'
      ? []
      : [button('stopAfterIteration', t('Stop After Iteration'))]),
    stop,
    ...(storyIds.length === 0
      ? []
      : [button('skipStory', storyIds.length === 1 ? t('Skip Story') : t('Skip a Story…'))]),
    terminal(t),
  ];
}

function button(action: PageAction, label: string): ShownAction {
  return { action, label };
}

function continueButton(
  way: ReturnType<typeof continuing>[number],
  reason: PauseReason,
  t: Translate,
): ShownAction {
  switch (way) {
    case 'resume':
      return button(
        'resumeRun',
        reason === 'question' ? t('Continue Without an Answer') : t('Resume'),
      );
    case 'continueStory':
      return button(way, t('Continue a Story…'));
    case 'continueLane':
      return button(way, t('Continue a Lane…'));
    default:
      return assertNever(way);
  }
}

function start(t: Translate): ShownAction {
  return button('startRun', t('Start Fresh Run'));
}

function terminal(t: Translate): ShownAction {
  return button('showTerminal', t('Show Terminal'));
}
