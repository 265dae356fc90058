import { englishOf, type Words } from '../base/say.ts';

/** Translates an English message with `{0}`-style placeholders, as VS Code's `l10n.t` does. */
export interface Translate {
  (message: string, ...args: (string | number | boolean)[]): string;
  /** BCP 47, for numbers and times; `undefined` for the command line's format, which is the same everywhere. */
  readonly language: string | undefined;
  /** Translates a message of the loop; any other text is returned unchanged. */
  readonly said: (words: Words) => string;
}

/** Determines the format of numbers and times. */
type Speaker = Pick<Translate, 'language'>;

/** The command line speaks English. */
export const english: Translate = Object.assign(
  (message: string, ...args: (string | number | boolean)[]) =>
    message.replace(/\{(\d+)\}/g, (place, index) => String(args[Number(index)] ?? place)),
  { language: undefined, said: englishOf },
);

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

/** About three digits, such as `41.2K`. */
export function compact(value: number, { language = 'en' }: Speaker): string {
  return numbersOf(language).compact.format(value);
}

/** @param share from 0 to 1; a positive one is never shown as zero */
export function percent(share: number, { language = 'en' }: Speaker): string {
  const format = numbersOf(language).percent;
  return share > 0 && share < 0.01 ? `<${format.format(0.01)}` : format.format(share);
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

/** Creating a format is slow, and a list has hundreds of numbers. */
function makeNumbers(language: string) {
  const number = (options: Intl.NumberFormatOptions) => new Intl.NumberFormat(language, options);
  return {
    money: number({ style: 'currency', currency: 'USD', currencyDisplay: 'narrowSymbol' }),
    tenths: number({ minimumFractionDigits: 1, maximumFractionDigits: 1 }),
    whole: number({ maximumFractionDigits: 0 }),
    compact: number({ notation: 'compact', maximumFractionDigits: 1 }),
    percent: number({ style: 'percent', maximumFractionDigits: 0 }),
    time: new Intl.DateTimeFormat(language, { timeStyle: 'short' }),
    date: new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }),
  };
}

const formats = new Map<string, ReturnType<typeof makeNumbers>>();

/** Created once per language. */
function numbersOf(language: string): ReturnType<typeof makeNumbers> {
  const known = formats.get(language) ?? makeNumbers(language);
  formats.set(language, known);
  return known;
}
