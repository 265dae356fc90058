import { assertNever } from '../base/assertNever.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import type { RunOutcome } from '../orchestrator/journal/eventCodes.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { questionOf, type RunState, type Waiting } from '../orchestrator/journal/runState.ts';
import type { StoryCount } from '../orchestrator/journal/storyCount.ts';
import { circleWords } from '../orchestrator/stories/storyProblems.ts';
import { uncommittedWords } from './uncommittedWords.ts';

/** Maximum length of the reason of a run's end, in UTF-16 units. */
const MAX_DETAIL = 1_000;

/** Translates an English message with `{0}`-style placeholders, as VS Code's `l10n.t` does. */
export interface Translate {
  (message: string, ...args: (string | number | boolean)[]): string;
  /** BCP 47, for numbers and times; `undefined` for the command line's format, which is the same everywhere. */
  readonly language: string | undefined;
  /** Translates a sentence of the loop, which is always English; any other text is returned unchanged. */
  readonly said: (text: string) => string;
}

/** Determines the format of numbers and times. */
type Speaker = Pick<Translate, 'language'>;

/** The command line speaks English. */
export const english: Translate = Object.assign(
  (message: string, ...args: (string | number | boolean)[]) =>
    message.replace(/\{(\d+)\}/g, (place, index) => String(args[Number(index)] ?? place)),
  { language: undefined, said: (text: string) => text },
);

/** Where the person reads it: next steps are commands of a terminal, or of the editor's window. */
export type Door = 'terminal' | 'window';

/** What is known about a run's end. */
export interface RunEnd {
  readonly outcome: RunOutcome;
  readonly iterations: number;
  readonly stories: StoryCount;
  readonly detail?: string | undefined;
  /** In US dollars, as `costUsd`. */
  readonly budgetUsd?: number | undefined;
  readonly costUsd?: number | undefined;
  readonly costEstimated?: boolean | undefined;
  readonly costUnknown?: boolean | undefined;
  /** Ids of the remaining stories, if none was ready. */
  readonly open?: readonly string[] | undefined;
  /** Those of them that wait for each other, with the first one repeated at the end. */
  readonly circle?: readonly string[] | undefined;
  /** Ids of the stories that the run skips until the skip is withdrawn. */
  readonly skipped?: readonly string[] | undefined;
  /** Whether a person has answered since the event that ended the run. */
  readonly isAnswered?: boolean | undefined;
  /** If the loop was killed: where it was. */
  readonly killed?: KilledAt | undefined;
  readonly uncommitted?: RunState['uncommitted'] | undefined;
}

/** Where a run was when its loop was killed. */
export type KilledAt = 'beforeFirst' | 'inIteration' | 'afterIteration';

/** For a run whose loop was killed: whether an iteration was running, or the last one had already ended. */
export function killedAt({ cutOff, iteration, running }: RunState): KilledAt {
  if (running.length > 0 || cutOff.length > 0) {
    return 'inIteration';
  }
  return iteration === 0 ? 'beforeFirst' : 'afterIteration';
}

/** The end of a run, from its folded state. */
export function runEnd(state: RunState, outcome: RunOutcome): RunEnd {
  const { iteration: iterations, stories, detail, open, circle } = state;
  const { budgetUsd, costUsd, costEstimated, costUnknown } = state;
  const skipped = [...state.storyRecords].flatMap(([id, record]) => (record.skipped ? [id] : []));
  const isAnswered =
    state.answers.some(({ question }) => question === detail) && questionOf(state) === undefined;
  const known = { outcome, iterations, stories, detail, skipped, isAnswered, open, circle };
  const killed = outcome === 'interrupted' ? killedAt(state) : undefined;
  const { uncommitted } = state;
  return { ...known, budgetUsd, costUsd, costEstimated, costUnknown, killed, uncommitted };
}

/** How a run ended, and what to do next, in one or two sentences. */
export function outcomeSentence(
  end: RunEnd,
  t: Translate,
  door: Door = 'terminal',
): { readonly text: string; readonly good: boolean } {
  const text = endText(end, t, door);
  return end.uncommitted === undefined
    ? { good: end.outcome === 'completed', text }
    : { good: false, text: `${sentence(text)} ${uncommittedWords(end.uncommitted, t)}` };
}

function endText(end: RunEnd, t: Translate, door: Door): string {
  const { iterations, stories } = end;
  const detail = end.detail ?? '';
  switch (end.outcome) {
    case 'completed':
      return iterations === 0
        ? t('All stories complete, nothing to do')
        : iterations === 1
          ? t('COMPLETE after 1 iteration')
          : t('COMPLETE after {0} iterations', iterations);
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
            raise('--max-iterations', 'ralphFresh.maxIterations', t, door),
          );
    case 'budget':
      return `${usedUp(end, t)} ${raise('--budget', 'ralphFresh.budgetUsd', t, door)}`;
    case 'needsHuman':
      if (door === 'terminal' && end.isAnswered) {
        return t('It asked: {0} You have answered; run again to continue.', sentence(detail));
      }
      return door === 'terminal'
        ? t(
            'Needs you: {0} Answer with ralph-fresh answer "…" or settle it, then run again.',
            sentence(detail),
          )
        : t('Needs you: {0} Answer it, and the run continues.', sentence(detail));
    case 'noReadyStory':
      if (end.circle !== undefined) {
        return t(
          'No story is ready: {0}. These wait for each other, so none of them can start: {1}. Remove one of these dependencies. {2}',
          detail,
          circleWords(end.circle),
          door === 'terminal' ? fixNotReady(end, t) : fix('cause', t, door),
        );
      }
      return t(
        'No story is ready: {0}. Each has failed, is blocked or skipped, or waits for another. {1}',
        detail,
        door === 'terminal' ? fixNotReady(end, t) : fix('cause', t, door),
      );
    case 'stuck':
      // The story's id; without stories, the number of iterations.
      return stories.total === 0
        ? t(
            'Stuck: no progress for {0}. {1}',
            iterationCount(Number(detail), t),
            fix('task', t, door),
          )
        : t('Stuck: no progress on {0}. {1}', detail, fix('story', t, door));
    case 'stopped':
      return t('Stopped. State saved; run again to continue.');
    case 'error':
      // The last words of an agent may contain line breaks.
      return t('Cannot continue: {0}', shorten(t.said(detail), MAX_DETAIL));
    case 'interrupted':
      switch (end.killed ?? 'inIteration') {
        case 'beforeFirst':
          return t('The loop was killed before its first iteration. Run again to continue.');
        case 'afterIteration':
          return t('The loop was killed after iteration {0}. Run again to continue.', iterations);
        default:
          return t('The loop was killed in iteration {0}. Run again to continue.', iterations);
      }
    default:
      return assertNever(end.outcome);
  }
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
    ? t('Raise it with {0} and run with --resume.', flag)
    : t('Start again for another run with the same limit, or change {0} first.', setting);
}

function fix(what: 'cause' | 'task' | 'story', t: Translate, door: Door): string {
  const inTerminal = door === 'terminal';
  switch (what) {
    case 'cause':
      return inTerminal
        ? t('Fix the cause, then run with --resume.')
        : t('Fix the cause, then start again to continue.');
    case 'task':
      return inTerminal
        ? t('Make the task smaller or clearer, then run with --resume.')
        : t('Make the task smaller or clearer, then start again to continue.');
    case 'story':
      return inTerminal
        ? t('Make the story smaller or clearer, then run with --resume.')
        : t('Make the story smaller or clearer, then start again to continue.');
    default:
      return assertNever(what);
  }
}

/** A skipped story remains skipped when the run continues. */
function fixNotReady({ detail = '', open: ids, skipped = [] }: RunEnd, t: Translate): string {
  // Journals of version 0.1 have the ids only as one text, in which a comma of an id is ambiguous.
  const open = ids ?? detail.split(', ');
  const left = skipped.filter(id => open.includes(id));
  const [first] = left;
  if (first === undefined) {
    return fix('cause', t, 'terminal');
  }
  const undo =
    left.length === 1
      ? t('{0} is skipped; "ralph-fresh skip {1} --undo" undoes that.', first, shellWord(first))
      : t(
          '{0} are skipped; "ralph-fresh skip ID --undo" undoes that for one of them.',
          left.join(', '),
        );
  return left.length === open.length
    ? `${undo} ${t('Then run with --resume.')}`
    : `${undo} ${t('Fix what else is in the way, then run with --resume.')}`;
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
      return inTerminal ? t('Paused. "ralph-fresh resume" continues it.') : t('Paused.');
    case 'question':
      return inTerminal
        ? t('The agent asks: {0} Answer with: ralph-fresh answer "…"', sentence(detail))
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
        : `${stuck} ${t('Help with ralph-fresh hint "…"; "ralph-fresh resume" continues, "ralph-fresh skip" skips the story.')}`;
    }
    default:
      return assertNever(reason);
  }
}

/** That a person rolled the files back, and how far. */
export function rolledBackWords(
  {
    commit,
    iteration,
    of,
  }: Pick<Extract<RunEvent, { type: 'run.rolledBack' }>, 'commit' | 'iteration' | 'of'>,
  t: Translate,
): string {
  const hash = commit.slice(0, 7);
  return of === undefined
    ? t('Rolled back to before iteration {0}, by commit {1}.', iteration, hash)
    : t('Rolled back to before iteration {0} of run {1}, by commit {2}.', iteration, of, hash);
}

/** A number of iterations; the journal's value may not be a number. */
export function iterationCount(count: number, t: Translate): string {
  if (!Number.isSafeInteger(count)) {
    return t('some iterations');
  }
  return count === 1 ? t('1 iteration') : t('{0} iterations', count);
}

/**
 * US dollars. A positive cost is never shown as zero.
 * @param isEstimate a part of the amount was not reported
 */
export function dollars(usd: number, { language }: Speaker, isEstimate = false): string {
  const isTiny = usd > 0 && usd < 0.01;
  const shown = isTiny ? 0.01 : usd;
  const amount =
    language === undefined ? `$${shown.toFixed(2)}` : numbersOf(language).money.format(shown);
  return `${isEstimate ? '≈ ' : ''}${isTiny ? '<' : ''}${amount}`;
}

/** A cost, and how reliable it is. */
export interface Cost {
  readonly costUsd: number;
  readonly costEstimated?: boolean | undefined;
  readonly costUnknown?: boolean | undefined;
}

/** A cost in words; if an agent does not report its cost, it is unknown, never zero. */
export function costWords({ costEstimated, costUnknown, costUsd }: Cost, t: Translate): string {
  const amount = dollars(costUsd, t, costEstimated);
  if (costUnknown !== true) {
    return amount;
  }
  return costUsd > 0 ? t('at least {0}', amount) : t('cost unknown');
}

/** A number with one decimal. */
export function tenths(value: number, { language }: Speaker): string {
  return language === undefined ? value.toFixed(1) : numbersOf(language).tenths.format(value);
}

/** A whole number, grouped according to the language. */
export function wholeNumber(value: number, { language = 'en' }: Speaker): string {
  return numbersOf(language).whole.format(value);
}

/** A time of day in the local time zone, with its date if that is another day. */
export function clock(at: number, now: number, { language }: Speaker): string {
  if (Number.isNaN(at)) {
    return '–';
  }
  const then = new Date(at);
  const isToday = then.toDateString() === new Date(now).toDateString();
  if (language !== undefined) {
    const { date, time } = numbersOf(language);
    return (isToday ? time : date).format(then);
  }
  const two = (value: number) => String(value).padStart(2, '0');
  const time = `${two(then.getHours())}:${two(then.getMinutes())}`;
  return isToday
    ? time
    : `${then.getFullYear()}-${two(then.getMonth() + 1)}-${two(then.getDate())} ${time}`;
}

/** Minutes and seconds; tenths below ten seconds. */
export function duration(ms: number, t: Translate): string {
  const seconds = Math.max(0, ms) / 1_000;
  if (seconds < 10) {
    return t('{0} s', tenths(seconds, t));
  }
  const whole = Math.round(seconds);
  return whole < 60 ? t('{0} s', whole) : t('{0} min {1} s', Math.floor(whole / 60), whole % 60);
}

/** A future duration, in its two largest units. */
export function span(ms: number, t: Translate): string {
  const minutes = Math.ceil(Math.max(0, ms) / 60_000);
  const hours = Math.floor(minutes / 60);
  if (hours === 0) {
    return t('{0} min', minutes);
  }
  if (hours < 48) {
    return minutes % 60 === 0 ? t('{0} h', hours) : t('{0} h {1} min', hours, minutes % 60);
  }
  const days = Math.floor(hours / 24);
  return hours % 24 === 0 ? t('{0} d', days) : t('{0} d {1} h', days, hours % 24);
}

interface NumberFormats {
  readonly money: Intl.NumberFormat;
  readonly tenths: Intl.NumberFormat;
  readonly whole: Intl.NumberFormat;
  readonly time: Intl.DateTimeFormat;
  readonly date: Intl.DateTimeFormat;
}

const formats = new Map<string, NumberFormats>();

/** Created once per language: a list has hundreds of numbers, and creating a format is slow. */
function numbersOf(language: string): NumberFormats {
  const known = formats.get(language);
  if (known) {
    return known;
  }
  const made: NumberFormats = {
    money: new Intl.NumberFormat(language, {
      style: 'currency',
      currency: 'USD',
      currencyDisplay: 'narrowSymbol',
    }),
    tenths: new Intl.NumberFormat(language, {
      minimumFractionDigits: 1,
      maximumFractionDigits: 1,
    }),
    whole: new Intl.NumberFormat(language, { maximumFractionDigits: 0 }),
    time: new Intl.DateTimeFormat(language, { timeStyle: 'short' }),
    date: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }),
  };
  formats.set(language, made);
  return made;
}

/** Adds a full stop if the text does not end with punctuation. */
export function sentence(text: string): string {
  return text === '' || /[.!?…]$/.test(text) ? text : `${text}.`;
}
