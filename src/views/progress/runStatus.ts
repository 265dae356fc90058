import { assertNever } from '../../base/assertNever.ts';
import { shorten, shortenBlock } from '../../base/text.ts';
import { waitingAsWhole } from '../../orchestrator/journal/atWork.ts';
import type { RunOutcome } from '../../orchestrator/journal/eventCodes.ts';
import { lackOf, runStanding } from '../../orchestrator/journal/runStanding.ts';
import { questionOf, type RunState, type Waiting } from '../../orchestrator/journal/runState.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { killedAt, killedStories, runEnd } from '../../presentation/runEnd.ts';
import { completedWords, leftToDo, outcomeSentence } from '../../presentation/sentences.ts';
import type { Translate } from '../../presentation/translate.ts';
import { pausedPartsWords, waitingSentence } from '../../presentation/waitingWords.ts';
import { questionOnPage } from './askedQuestion.ts';
import type { ShownRun } from './protocol.ts';
import type { Stopping } from './runActions.ts';

const MAX_ID = 60;
const MAX_REASON = 400;
const MAX_QUOTE = 2_000;

export type ShownStatus = Pick<ShownRun, 'glyph' | 'status' | 'sentence' | 'quote' | 'until'>;

/** The state of the run in words, what it means, and what to do next. Pure. */
export function runStatus(
  run: WatchedRun,
  stopping: Stopping | undefined,
  t: Translate,
  now: Date,
): ShownStatus {
  const { isActive, outcome } = runStanding(run);
  const shown = isActive ? living(run.state, stopping, t, now) : ended(run.state, outcome, t);
  const left = leftToDo(run.state, isActive, t);
  return left.length === 0
    ? shown
    : { ...shown, sentence: [shown.sentence, ...left].filter(Boolean).join(' ') };
}

function living(
  state: RunState,
  stopping: Stopping | undefined,
  t: Translate,
  now: Date,
): ShownStatus {
  if (stopping === 'now') {
    return {
      glyph: 'running',
      status: t('Stopping'),
      sentence:
        state.running.length > 1
          ? t("The agents' work so far is kept.")
          : t("The agent's work so far is kept."),
    };
  }
  const waits = waitingAsWhole(state);
  if (waits) {
    return waiting(waits, state, t, now);
  }
  const isOne = state.running.length < 2;
  const running: ShownStatus = { glyph: 'running', status: t('Running') };
  if (stopping === 'afterIteration') {
    return {
      ...running,
      sentence: isOne
        ? t('The run will stop after this iteration.')
        : t('The run will stop after these iterations.'),
    };
  }
  if (state.pauseRequested) {
    return {
      ...running,
      sentence: isOne
        ? t('The run will pause after this iteration.')
        : t('The run will pause after these iterations.'),
    };
  }
  return asksMeanwhile(state, t) ?? running;
}

/** With lanes, an agent may ask while the others work. */
function asksMeanwhile(state: RunState, t: Translate): ShownStatus | undefined {
  const question = state.isolated ? questionOnPage(state) : undefined;
  return (
    question && {
      glyph: 'needsYou',
      status: t('Running, and needs you'),
      quote: shortenBlock(question.message, MAX_QUOTE),
      sentence: t(
        '{0} waits for your answer. The other stories continue.',
        shorten(question.storyId ?? '', MAX_ID),
      ),
    }
  );
}

function ended(state: RunState, outcome: RunOutcome | undefined, t: Translate): ShownStatus {
  const quote = shortenBlock(t.said(state.detail ?? ''), MAX_QUOTE);
  switch (outcome) {
    case 'completed':
      return { ...completedStatus(state, t), sentence: completedWords(state, t) };
    case 'needsHuman':
      return {
        // Nobody waits for what is answered or settled.
        ...(questionOf(state) === undefined
          ? { glyph: 'stopped', status: t('Stopped') }
          : { glyph: 'needsYou', status: t('Needs you') }),
        quote: askedOf(state) ?? (quote !== '' ? quote : undefined),
        sentence: needsHumanSentence(state, t),
      };
    case 'budget':
      return {
        glyph: 'stopped',
        status: t('Budget used up'),
        sentence: endSentence(state, outcome, t),
      };
    case 'stuck':
      return {
        glyph: 'noProgress',
        status: t('Stuck'),
        sentence: endSentence({ ...state, detail: shorten(quote, MAX_ID) }, outcome, t),
      };
    case 'maxIterations':
      return {
        glyph: 'stopped',
        status: t('Iteration limit reached'),
        sentence: endSentence(state, outcome, t),
      };
    case 'noReadyStory':
      return {
        glyph: 'blocked',
        status: t('No story is ready'),
        sentence: endSentence({ ...state, detail: shorten(quote, MAX_REASON) }, outcome, t),
      };
    case 'stopped':
      return {
        glyph: 'stopped',
        status: t('Stopped'),
        sentence:
          state.cutOff.length > 1 || state.lanes > 1
            ? t("The agents' work is still there. Start a run to continue from here.")
            : t("The agent's work is still there. Start a run to continue from here."),
      };
    case 'interrupted':
      return {
        glyph: 'interrupted',
        status: t('Interrupted'),
        sentence: killedSentence(state, t),
      };
    case 'error':
    case undefined:
      return {
        glyph: 'failed',
        status: t('Failed'),
        quote: quote !== '' ? quote : undefined,
        sentence: t('The run could not continue. Fix the cause, then start a run.'),
      };
    default:
      return assertNever(outcome);
  }
}

function completedStatus(state: RunState, t: Translate): Pick<ShownStatus, 'glyph' | 'status'> {
  switch (lackOf(state)) {
    case undefined:
      return { glyph: 'done', status: t('Complete') };
    case 'branch':
      return {
        glyph: 'needsYou',
        status: t('Complete, but not on {0}', shorten(state.branch ?? '', MAX_ID)),
      };
    case 'commit':
      return { glyph: 'needsYou', status: t('Complete, but not committed') };
  }
}

/** Without what is left to do, which follows after every end. */
function endSentence(state: RunState, outcome: RunOutcome, t: Translate): string {
  return outcomeSentence({ ...runEnd(state, outcome), uncommitted: undefined }, t, 'window').text;
}

function killedSentence(state: RunState, t: Translate): string {
  const words: Readonly<Record<ReturnType<typeof killedAt>, string>> = {
    beforeFirst: t(
      'The loop was killed before its first iteration. Start a run to continue from here.',
    ),
    afterIteration: t(
      'The loop was killed after iteration {0}. Start a run to continue from here.',
      state.iteration,
    ),
    inSeveral: t(
      'The loop was killed while {0} stories were at work. Start a run to continue from here.',
      killedStories(state),
    ),
    inIteration: t(
      'The loop was killed in iteration {0}. Start a run to continue from here.',
      state.iteration,
    ),
  };
  return words[killedAt(state)];
}

/** Why a living run is waiting. The agent's question is a quote; the rest is ours. */
function waiting(waits: Waiting, state: RunState, t: Translate, now: Date): ShownStatus {
  if (waits.kind === 'limit') {
    return {
      glyph: 'waiting',
      status: t('Waiting for the usage limit'),
      sentence: waits.known
        ? t('The account has reached its usage limit. The run continues automatically.')
        : t('The account has reached its usage limit. The run tries again automatically.'),
      until: !Number.isNaN(Date.parse(waits.until)) ? waits.until : undefined,
    };
  }
  switch (waits.reason) {
    case 'person':
      return {
        glyph: 'waiting',
        status: t('Paused'),
        sentence:
          pausedPartsWords(waits, t, 'window') ||
          t('The next iteration starts when you resume the run.'),
      };
    case 'question': {
      const quote = askedOf(state) ?? shortenBlock(waits.detail ?? '', MAX_QUOTE);
      return {
        glyph: 'needsYou',
        status: t('Needs you'),
        quote: quote !== '' ? quote : undefined,
        sentence: t('The run waits for your answer.'),
      };
    }
    case 'stuck':
      return {
        glyph: 'needsYou',
        status: t('Stuck'),
        sentence: waitingSentence(waits, t, { now: now.getTime(), door: 'window' }),
      };
    default:
      return assertNever(waits.reason);
  }
}

/** With lanes there may be several questions: this is the one that the field below belongs to. */
function askedOf(state: RunState): string | undefined {
  const question = state.isolated ? questionOnPage(state) : undefined;
  return question && shortenBlock(question.message, MAX_QUOTE);
}

/** A run that ended with a question continues where it was, and hints given meanwhile then take effect. */
function needsHumanSentence(state: RunState, t: Translate): string {
  if (questionOf(state) !== undefined) {
    return t('The run ended because of this question, and continues with your answer.');
  }
  return runEnd(state, 'needsHuman').isAnswered
    ? t('Your answer is saved. Start a run to continue: its next agent reads it.')
    : t('This question is settled. Start a run to continue.');
}
