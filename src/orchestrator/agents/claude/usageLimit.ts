/**
 * Detects in a failed call's message that a usage limit was reached, and when it resets. The messages are those of
 * Claude Code 2.1 ("You've hit your session limit · resets 5pm (Europe/Berlin)", "You're out of usage credits ·
 * resets Oct 9, 10am (…)") and 1.x ("Claude AI usage limit reached|1760000000", "5-hour limit reached ∙ resets
 * 3:30pm"), of Codex ("You've hit your usage limit. … try again at 9:53 PM", "… in 3 days 4 hours") and of Gemini
 * ("… quota will reset after 5h12m30s").
 *
 * Only for the message of a failed call, and only at the start of a line: an answer may mention limits without
 * having reached one.
 */

/** The limit found in a failed call's message. */
export type LimitReading =
  /**
   * It resets by itself, at `resetsAt` (ms since the epoch, always after `now`) if the message includes the time.
   */
  | { readonly kind: 'usageLimit'; readonly resetsAt?: number }
  /** A spending limit, or credits that are used up without a reset date: a person must act. */
  | { readonly kind: 'billing' };

const MINUTE_MS = 60_000;
const DAY_MS = 24 * 60 * MINUTE_MS;
/** The longest window of any subscription is a month; a later time is a misreading. */
const FARTHEST_MS = 40 * DAY_MS;
/** A time that has just passed is the intended one, not the same time tomorrow. */
const JUST_OVER_MS = 5 * MINUTE_MS;
/** Notices are at the start; the rest of a long text is prose. */
const WINDOW = 4_000;
/** Length of a line's start that is searched, in UTF-16 units. */
const MAX_LEAD = 200;

const spending =
  /\bspend(?:ing)? limit\b|\bmonthly (?:usage )?limit\b|\bpooled group budget\b|\bout of (?:extra |included )?(?:usage|credits)\b|\busage is paused for your organization\b/gi;
const usage =
  /\byou(?:['\u2019]ve| have) (?:hit|reached|exceeded) your (?:[\p{L}\d.'\u2019-]+ ){0,4}(?:limit|quota)\b|\b(?:usage|session|weekly|daily|opus|sonnet|fable|(?:5|five)[- ]hour) limit (?:was |has been )?(?:reached|exceeded)\b|\b(?:exhausted|exceeded) your (?:[\p{L}\d.-]+ ){0,3}quota\b|\bout of usage credits\b/giu;
/** Other kinds of limits, which the patterns above may also match. */
const otherLimits =
  /\b(?:fast|context|rate|output|token|turn|budget|concurrent|subagent|nesting|upload|device) limit\b/i;

const resetWord =
  /\b(?:resets?|try again|available again|resumes?)\b(?: (?:at|on|after|in)\b)?:? {0,3}/giu;
const epoch = /\blimit reached\|(\d{9,13})\b/gi;
/**
 * What may precede a notice on its line: a mark, a date, "API Error: 429", "Claude AI". After other words, a notice
 * is only quoted ("API Error 400: the tool said You've hit your session limit").
 */
const lead =
  /^[\s\u2022\u00b7*\u2715\u2716\u2717\u2718\u23bf\u26a0\u274c\u25a0!-]{0,20}(?:\[[^\]\n]{0,40}\] {0,3})?(?:\[?(?:api |[a-z]{0,30})error(?: \(?\d{3}\)?)?: {0,3}){0,3}(?:429:? )?(?:(?:claude|ai|code|5|five|hour|weekly|daily|monthly|opus|sonnet|fable|usage|session|your|individual|the|an?|you|have|has|are|is|you['\u2019](?:ve|re)|org(?:['\u2019]s)?|organization(?:['\u2019]s)?|account|its|hit|reached|exceeded|current|now)[ -]){0,8}$/iu;

const monthNames = [
  'jan',
  'feb',
  'mar',
  'apr',
  'may',
  'jun',
  'jul',
  'aug',
  'sep',
  'oct',
  'nov',
  'dec',
];

/**
 * @param text the message of a failed call
 * @param now ms since the epoch
 * @param localZone IANA name of the time zone to use if the message names none
 * @returns undefined if the message is not about a lasting limit
 */
export function readLimit(
  text: string,
  now: number,
  localZone: string = systemZone(),
): LimitReading | undefined {
  const notice = text.slice(0, WINDOW);
  const stamp = findNotice(epoch, notice);
  if (stamp !== undefined) return usageLimit(acceptable(epochMs(Number(stamp[1])), now));
  const at = findNotice(usage, notice) ?? findNotice(spending, notice);
  if (at === undefined) return undefined;
  const line = lineAround(notice, at.index);
  const resetsAt = readReset(notice.slice(at.index), now, localZone);
  if (line.search(spending) >= 0) {
    // Credits that are renewed at a known time are a normal usage limit; only a person can raise a cap.
    const comesBack = /\bout of\b/i.test(line) && resetsAt !== undefined;
    return comesBack ? usageLimit(resetsAt) : { kind: 'billing' };
  }
  if (otherLimits.test(at[0])) return undefined;
  return usageLimit(resetsAt);
}

/**
 * A time in seconds (or ms) since the epoch.
 *
 * @returns ms since the epoch, after `now`; undefined if it is in the past or too far in the future to be a reset
 */
export function resetFromEpoch(value: number, now: number): number | undefined {
  return acceptable(epochMs(value), now);
}

function usageLimit(resetsAt: number | undefined): LimitReading {
  return { kind: 'usageLimit', resetsAt };
}

/** The first match at the start of a line, ignoring what may precede a notice. */
function findNotice(pattern: RegExp, text: string): RegExpExecArray | undefined {
  for (const match of text.matchAll(pattern)) {
    const before = text.slice(text.lastIndexOf('\n', match.index - 1) + 1, match.index);
    if (before.length <= MAX_LEAD && lead.test(before)) return match;
  }
  return undefined;
}

function lineAround(text: string, at: number): string {
  const end = text.indexOf('\n', at);
  return text.slice(text.lastIndexOf('\n', at) + 1, end < 0 ? text.length : end);
}

function epochMs(value: number): number {
  return value < 100_000_000_000 ? value * 1000 : value;
}

function acceptable(moment: number, now: number): number | undefined {
  if (!Number.isFinite(moment) || moment > now + FARTHEST_MS) return undefined;
  if (moment > now) return moment;
  return now - moment <= JUST_OVER_MS ? now + MINUTE_MS : undefined;
}

/** The first time after a word such as "resets". */
function readReset(text: string, now: number, localZone: string): number | undefined {
  for (const word of text.matchAll(resetWord)) {
    const rest = text.slice(word.index + word[0].length, word.index + word[0].length + 120);
    const moment = readDuration(rest, now) ?? readMoment(rest, now, localZone);
    if (moment !== undefined) return moment;
  }
  return undefined;
}

/** "2h 14m", "3 days 4 hours 5 minutes", "5h12m30s". */
function readDuration(text: string, now: number): number | undefined {
  const units: Readonly<Record<string, number>> = {
    d: DAY_MS,
    h: 60 * MINUTE_MS,
    m: MINUTE_MS,
    s: 1000,
  };
  const part =
    /^(?:,| |and)*(\d{1,4}(?:\.\d{1,9})?) ?(days?|d|hours?|hrs?|h|minutes?|mins?|m|seconds?|secs?|s)(?![a-z])/i;
  let rest = text;
  let total: number | undefined;
  for (let match = part.exec(rest); match !== null; match = part.exec(rest)) {
    total =
      (total ?? 0) + Number(match[1]) * (units[(match[2] ?? '').charAt(0).toLowerCase()] ?? 0);
    rest = rest.slice(match[0].length);
  }
  return total === undefined || total <= 0 ? undefined : acceptable(now + Math.ceil(total), now);
}

/** "5pm (Europe/Berlin)", "Oct 9, 10am", "Oct 9th, 2026 10:13 AM", "Jul 11 at 12pm", "17:30 (UTC)", ISO 8601. */
function readMoment(text: string, now: number, localZone: string): number | undefined {
  const iso = /^\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)/.exec(text);
  if (iso !== null) return acceptable(Date.parse(iso[0]), now);
  const day =
    /^(?:(?:mon|tue|wed|thu|fri|sat|sun)[a-z]{0,6},? )?(?:(jan|feb|mar|apr|may|jun|jul|aug|sep|oct|nov|dec)[a-z]{0,6}\.? (\d{1,2})(?:st|nd|rd|th)?(?:, ?(\d{4})\b)?)?/i.exec(
      text,
    );
  const rest = text.slice(day?.[0].length ?? 0);
  const clock =
    /^(?:,? ?(?:at )?)?(\d{1,2})(?::(\d\d))?(?::\d\d)?[ \u202f]?([ap])\.?m\b|^(?:,? ?(?:at )?)?(\d{1,2}):(\d\d)/i.exec(
      rest,
    );
  if (clock === null && day?.[1] === undefined) return undefined;
  const zone = zoneIn(rest.slice(clock?.[0].length ?? 0)) ?? localZone;
  const time = clock === null ? { hour: 0, minute: 0 } : clockTime(clock);
  if (time === undefined) return undefined;
  const month = monthNames.indexOf((day?.[1] ?? '').toLowerCase());
  if (month < 0) return nextTime(time, zone, now);
  const today = dateIn(zone, now);
  const years = day?.[3] === undefined ? [today.year, today.year + 1] : [Number(day[3])];
  for (const year of years) {
    const date = { year, month, day: Number(day?.[2]) };
    const moment = acceptable(momentIn(zone, date, time), now);
    if (moment !== undefined) return moment;
  }
  return undefined;
}

interface ClockTime {
  readonly hour: number;
  readonly minute: number;
}

interface CalendarDate {
  readonly year: number;
  /** Zero-based. */
  readonly month: number;
  readonly day: number;
}

function clockTime(match: RegExpExecArray): ClockTime | undefined {
  const half = match[3]?.toLowerCase();
  const hour = Number(match[1] ?? match[4]);
  const minute = Number(match[2] ?? match[5] ?? 0);
  if (minute > 59 || hour > (half === undefined ? 23 : 12)) return undefined;
  if (half === undefined) return { hour, minute };
  return { hour: (hour % 12) + (half === 'p' ? 12 : 0), minute };
}

function nextTime(time: ClockTime, zone: string, now: number): number | undefined {
  const { year, month, day } = dateIn(zone, now);
  // From yesterday on: just after midnight, the intended time may be yesterday's.
  for (const days of [-1, 0, 1, 2]) {
    const moment = acceptable(momentIn(zone, { year, month, day: day + days }, time), now);
    if (moment !== undefined) return moment;
  }
  return undefined;
}

function zoneIn(text: string): string | undefined {
  const name = /^[^\n(]{0,20}\(([\w+/-]{1,60})\)/.exec(text)?.[1];
  return name !== undefined && isZone(name) ? name : undefined;
}

function isZone(name: string): boolean {
  try {
    formatterFor(name);
    return true;
  } catch {
    return false;
  }
}

function systemZone(): string {
  return new Intl.DateTimeFormat().resolvedOptions().timeZone;
}

function formatterFor(zone: string): Intl.DateTimeFormat {
  return new Intl.DateTimeFormat('en-US', {
    timeZone: zone,
    calendar: 'gregory',
    numberingSystem: 'latn',
    hourCycle: 'h23',
    year: 'numeric',
    month: 'numeric',
    day: 'numeric',
    hour: 'numeric',
    minute: 'numeric',
    second: 'numeric',
  });
}

/** The local time in that zone, interpreted as UTC. */
function wallClock(zone: string, moment: number): number {
  const parts = new Map(
    formatterFor(zone)
      .formatToParts(moment)
      .map(({ type, value }) => [type, Number(value)]),
  );
  const part = (name: Intl.DateTimeFormatPartTypes) => parts.get(name) ?? 0;
  return Date.UTC(
    part('year'),
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  );
}

function dateIn(zone: string, moment: number): CalendarDate {
  const wall = new Date(wallClock(zone, moment));
  return { year: wall.getUTCFullYear(), month: wall.getUTCMonth(), day: wall.getUTCDate() };
}

function momentIn(zone: string, date: CalendarDate, time: ClockTime): number {
  const wall = Date.UTC(date.year, date.month, date.day, time.hour, time.minute);
  if (!Number.isFinite(wall)) return Number.NaN;
  // The first offset may be from before or after a clock change; the second one is right.
  const guess = wall - (wallClock(zone, wall) - wall);
  return wall - (wallClock(zone, guess) - guess);
}
