import { assertNever } from '../base/assertNever.ts';
import { englishOf } from '../base/say.ts';
import { sentence, shorten } from '../base/text.ts';
import { lackOf } from '../orchestrator/journal/runStanding.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import type { StoryList } from '../orchestrator/stories/story.ts';
import { unreadEntries } from '../orchestrator/stories/unreadParts.ts';
import type { Door } from './door.ts';
import { heldSentence } from './heldWords.ts';
import { hindranceWords } from './hindrances.ts';
import { fix, notReady } from './notReadyWords.ts';
import type { RunEnd } from './runEnd.ts';
import type { EventOf } from './transcriptLine.ts';
import { costWords, dollars, iterationCount, type Translate } from './translate.ts';
import { uncommittedWords } from './uncommittedWords.ts';
import { answerCommand, asksWords, MAX_IDS } from './waitingWords.ts';

/** Maximum length of an error in a sentence, in UTF-16 units. */
const MAX_DETAIL = 1_000;

/** How a run ended, and what to do next, in one or two sentences. */
export function outcomeSentence(
  end: RunEnd,
  t: Translate,
  door: Door = 'terminal',
): { readonly text: string; readonly good: boolean } {
  const text = endText(end, t, door);
  const good = end.outcome === 'completed' && lackOf(end) === undefined;
  return end.uncommitted === undefined
    ? { good, text }
    : { good, text: `${sentence(text)} ${uncommittedWords(end.uncommitted, t)}` };
}

/** What a person has to do about the work of a run: commit it, or bring it to its branch. */
export function leftToDo(
  state: Pick<RunState, 'branch' | 'held' | 'uncommitted'>,
  isActive: boolean,
  t: Translate,
): readonly string[] {
  const held = heldSentence(state, isActive, t);
  return [
    ...(state.uncommitted === undefined ? [] : [uncommittedWords(state.uncommitted, t)]),
    ...(held === undefined ? [] : [held]),
  ];
}

function endText(end: RunEnd, t: Translate, door: Door): string {
  const { iterations, stories } = end;
  const detail = englishOf(end.detail ?? '');
  switch (end.outcome) {
    case 'completed':
      return withAside(
        iterations === 0
          ? nothingToDo(end, t)
          : iterations === 1
            ? t('COMPLETE after 1 iteration')
            : t('COMPLETE after {0} iterations', iterations),
        end.putAside ?? 0,
        t,
      );
    case 'maxIterations':
      return stories.total === 0
        ? t(
            'Max iterations reached ({0}). {1}',
            iterations,
            raise('--max-iterations', 'ralphFresh.maxIterations', t, door),
          )
        : t(
            'Max iterations reached ({0}) with {1} of {2} stories complete. {3}',
            iterations,
            stories.done,
            stories.total,
            [
              hindranceWords(end.fruitless ?? [], t, { withSkipped: door === 'window' }) ?? [],
              raise('--max-iterations', 'ralphFresh.maxIterations', t, door),
            ]
              .flat()
              .join(' '),
          );
    case 'budget':
      if (end.detail !== undefined) {
        // Of the iteration: its calls so far stay spent, so another run with the same limit would not help.
        return door === 'terminal'
          ? t(
              '{0} Raise the limit with {1} and run with --resume, or continue without a reviewer (--no-reviewer).',
              t.said(end.detail),
              '--iteration-budget',
            )
          : t(
              '{0} Raise {1}, then start again to continue.',
              t.said(end.detail),
              'ralphFresh.iterationBudgetUsd',
            );
      }
      return `${usedUp(end, t)} ${raise('--budget', 'ralphFresh.budgetUsd', t, door)}`;
    case 'needsHuman':
      if (end.isAnswered) {
        return t(
          'The agent asked: {0} You have answered; run again to continue.',
          sentence(detail),
        );
      }
      return end.isSettled
        ? t('The agent asked: {0} That is settled; run again to continue.', sentence(detail))
        : needsYou(end, t, door);
    case 'noReadyStory':
      return withAside(notReady(end, t, door), end.putAside ?? 0, t);
    case 'stuck':
      // The story's id; without stories, the number of iterations.
      return stories.total === 0
        ? t(
            'Stuck: no progress for {0}. {1}',
            iterationCount(Number(detail), t),
            fix('task', end, t, door),
          )
        : t('Stuck: no progress on {0}. {1}', detail, fix('story', end, t, door));
    case 'stopped':
      return t('Stopped. State saved; run again to continue.');
    case 'error':
      // The last words of an agent may contain line breaks.
      return t('Cannot continue: {0}', shorten(t.said(end.detail ?? ''), MAX_DETAIL));
    case 'interrupted':
      switch (end.killed ?? 'inIteration') {
        case 'beforeFirst':
          return t('The loop was killed before its first iteration. Run again to continue.');
        case 'afterIteration':
          return t('The loop was killed after iteration {0}. Run again to continue.', iterations);
        case 'inSeveral':
          return t(
            'The loop was killed while agents were working on {0} stories. Run again to continue.',
            end.killedStories ?? 0,
          );
        default:
          return t('The loop was killed in iteration {0}. Run again to continue.', iterations);
      }
    default:
      return assertNever(end.outcome);
  }
}

/** Others than the chosen stories may be open. */
function nothingToDo({ onlyStories }: RunEnd, t: Translate): string {
  return onlyStories === undefined
    ? t('All stories are complete; there is nothing to do')
    : onlyStories.length === 1
      ? t('{0} is complete; there is nothing to do', shorten(onlyStories.join(', '), MAX_IDS))
      : t('{0} are complete; there is nothing to do', shorten(onlyStories.join(', '), MAX_IDS));
}

/**
 * That a start would start no agent, in the window; with entries of the list that are not read as stories.
 * @param state of the newest run
 */
export function nothingToRun(
  list: StoryList,
  state: Pick<RunState, 'branch' | 'held'>,
  t: Translate,
): string {
  const words = list.stories.every(({ done }) => done)
    ? t(
        'All stories are done, so there is nothing to run. Add a story, or mark one as not done, and start again.',
      )
    : t(
        'Every story is done or put aside, so there is nothing to run. Add a story, or reopen one, and start again.',
      );
  const unread = unreadEntries(list);
  return [
    words,
    ...(unread === undefined ? [] : [t.said(unread.message), t.said(unread.next)]),
    heldSentence(state, false, t) ?? [],
  ]
    .flat()
    .join(' ');
}

/** A run that says no more than that it is complete would hide them. */
function withAside(text: string, count: number, t: Translate): string {
  return count > 0 ? `${sentence(text)} ${putAsideWords(count, t)}` : text;
}

/** That no agent works on some stories. */
export function putAsideWords(count: number, t: Translate): string {
  return count === 1
    ? t('No agent works on what the story file has put aside: 1 story.')
    : t('No agent works on what the story file has put aside: {0} stories.', count);
}

/** With lanes, agents of several stories may have asked. */
function needsYou({ detail = '', questions = [] }: RunEnd, t: Translate, door: Door): string {
  const ofStories = questions.filter(({ storyId }) => storyId !== undefined);
  const asked =
    ofStories.length === 0
      ? sentence(englishOf(detail))
      : ofStories.map(question => asksWords(question, t)).join(' ');
  return door === 'terminal'
    ? t(
        'Needs you: {0} Answer with {1}, or settle it, then run again.',
        asked,
        answerCommand(ofStories[0]?.storyId),
      )
    : t('Needs you: {0} Answer it, and the run continues.', asked);
}

function usedUp({ budgetUsd, costEstimated, costUnknown, costUsd }: RunEnd, t: Translate): string {
  return budgetUsd === undefined || costUsd === undefined
    ? t('The budget is used up.')
    : t(
        'The budget of {0} is used up ({1}).',
        dollars(budgetUsd, t),
        costWords({ costUsd, costEstimated, costUnknown }, t),
      );
}

function raise(flag: string, setting: string, t: Translate, door: Door): string {
  return door === 'terminal'
    ? t('Raise the limit with {0} and run with --resume.', flag)
    : t('Start again for another run with the same limit, or change {0} first.', setting);
}

/** That a person rolled the files back, and how far. */
export function rolledBackWords(
  { commit, iteration, of }: Pick<EventOf<'run.rolledBack'>, 'commit' | 'iteration' | 'of'>,
  t: Translate,
): string {
  const hash = commit.slice(0, 7);
  return of === undefined
    ? t('Rolled back to before iteration {0}, by commit {1}.', iteration, hash)
    : t('Rolled back to before iteration {0} of run {1}, by commit {2}.', iteration, of, hash);
}

/** The result of a completed run, in one sentence. Pure. */
export function completedWords(
  { iteration, onlyStories, stories: { done, total } }: RunState,
  t: Translate,
): string {
  if (onlyStories !== undefined) {
    return t('Ralph is done with {0}.', shorten(onlyStories.join(', '), MAX_IDS));
  }
  if (iteration === 0) {
    return t('All stories were already done; there was nothing to do.');
  }
  if (total === 0) {
    return iteration === 1
      ? t('The task is done, after 1 iteration.')
      : t('The task is done, after {0} iterations.', iteration);
  }
  if (done < total) {
    return t('All stories are done, except those that are put aside.');
  }
  return iteration === 1
    ? t('All stories are done, after 1 iteration.')
    : t('All stories are done, after {0} iterations.', iteration);
}
