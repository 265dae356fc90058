import { assertNever } from '../base/assertNever.ts';
import { shellWord } from '../base/shellWord.ts';
import { sentence, shorten } from '../base/text.ts';
import type { Pause, Waiting } from '../orchestrator/journal/runState.ts';
import type { Question } from '../orchestrator/journal/storyNotes.ts';
import type { Door } from './door.ts';
import { clock, iterationCount, span, type Translate } from './translate.ts';

/** Maximum lengths of texts in a sentence, in UTF-16 units. */
const MAX_QUESTION = 500;
const MAX_ID = 80;
/** Maximum length of the ids of a run's stories, in UTF-16 units. */
export const MAX_IDS = 100;

/** Which story asks what. */
export function asksWords(
  { message, storyId = '' }: Pick<Question, 'message' | 'storyId'>,
  t: Translate,
): string {
  return t('{0} asks: {1}', shorten(storyId, MAX_ID), sentence(shorten(message, MAX_QUESTION)));
}

/** How to answer in a terminal. @param storyId absent in modes without stories */
export function answerCommand(storyId: string | undefined): string {
  return `ralph-fresh answer "…"${storyId === undefined ? '' : ` --story ${shellWord(storyId)}`}`;
}

/** What a person has paused so that nothing can continue, and how to continue; '' if it is the run itself. */
export function pausedPartsWords(
  { lanes, settling = [], stories }: Pick<Pause, 'lanes' | 'settling' | 'stories'>,
  t: Translate,
  door: Door = 'terminal',
): string {
  const [story] = (stories ?? []).filter(id => !settling.includes(id));
  const [lane] = lanes ?? [];
  const [settled] = settling;
  if (settled !== undefined && story === undefined) {
    const ids = shorten(settling.join(', '), MAX_IDS);
    return door === 'terminal'
      ? t(
          'You settle the conflict of {0}. Land it with: {1}',
          ids,
          `ralph-fresh land ${shellWord(settled)}`,
        )
      : t('You settle the conflict of {0}. Land it or give it back, and the run continues.', ids);
  }
  if (story === undefined && lane === undefined) {
    return '';
  }
  const what =
    story === undefined
      ? t('All lanes are paused: {0}.', (lanes ?? []).join(', '))
      : t(
          'Paused, and no other story is ready: {0}.',
          shorten((stories ?? []).join(', '), MAX_IDS),
        );
  return `${what} ${
    door === 'terminal'
      ? continueWith({ story, lane }, t)
      : t('Continue one of them, and the run continues.')
  }`;
}

/** How to continue a part of a run in a terminal. */
export function continueWith(
  { lane, story }: { readonly story?: string | undefined; readonly lane?: number | undefined },
  t: Translate,
): string {
  const part = story === undefined ? `--lane ${lane}` : shellWord(story);
  return t('Continue with: {0}', `ralph-fresh resume ${part}`);
}

/**
 * Why a living run is waiting, and what a person can do, in a few sentences.
 * @param now current time, in ms since the epoch
 */
export function waitingSentence(
  waiting: Waiting,
  t: Translate,
  { now, door = 'terminal' }: { readonly now: number; readonly door?: Door },
): string {
  const inTerminal = door === 'terminal';
  if (waiting.kind === 'limit') {
    const until = Date.parse(waiting.until);
    const continues = Number.isNaN(until)
      ? t('Usage limit reached.')
      : waiting.known
        ? t(
            'Usage limit reached; continues at {0} (in {1}).',
            clock(until, now, t),
            span(until - now, t),
          )
        : t(
            'Usage limit reached; tries again at {0} (in {1}).',
            clock(until, now, t),
            span(until - now, t),
          );
    return inTerminal ? `${continues} ${t('"ralph-fresh resume" tries again now.')}` : continues;
  }
  const { reason, storyId, detail = '' } = waiting;
  switch (reason) {
    case 'person':
      return (
        pausedPartsWords(waiting, t, door) ||
        (inTerminal ? t('Paused. "ralph-fresh resume" continues it.') : t('Paused.'))
      );
    case 'question':
      return inTerminal
        ? t('{0} Answer with: {1}', asked(waiting, t), answerCommand(storyId))
        : t('The agent asks: {0}', sentence(detail));
    case 'stuck': {
      const stuck =
        storyId === undefined
          ? t('Stuck: no progress for {0}.', iterationCount(Number(detail), t))
          : t('Stuck: no progress on {0} for {1}.', storyId, iterationCount(Number(detail), t));
      if (!inTerminal) {
        return stuck;
      }
      return storyId === undefined
        ? `${stuck} ${t('Help with ralph-fresh hint "…", then continue with "ralph-fresh resume".')}`
        : `${stuck} ${t('Help with ralph-fresh hint "…", continue with "ralph-fresh resume", or skip the story with: ralph-fresh skip {0}', shellWord(storyId))}`;
    }
    default:
      return assertNever(reason);
  }
}

export function asked({ detail = '', storyId }: Pause, t: Translate): string {
  return storyId === undefined
    ? t('The agent asks: {0}', sentence(detail))
    : t('The agent of {0} asks: {1}', storyId, sentence(detail));
}
