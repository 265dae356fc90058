/** Longest heading that is read, in UTF-16 units. */
export const MAX_HEADING = 200;
const DATE = /(?<!\d)(\d{4})([-/])(\d\d)\2(\d\d)(?:[T ]+(\d\d:\d\d))?/;
const ITERATION = /\biter(?:ation)?\s*#?(\d{1,9})\b/i;

/** A heading of the log (levels 2 and 3, and dated ones of level 1), with the information about its entry. */
export interface ProgressEntry {
  /** Without Markdown formatting. */
  readonly heading: string;
  /** `2026-01-02` or `2026-01-02 10:00`, as the agent wrote it. */
  readonly date?: string;
  readonly storyId?: string;
  readonly iteration?: number;
}

/** Parses a heading, or a line that starts with a timestamp. */
export function entryOf(title: string): ProgressEntry {
  const heading = title.slice(0, MAX_HEADING);
  const date = DATE.exec(heading);
  const iteration = ITERATION.exec(heading);
  const time = date?.[5] === undefined ? '' : ` ${date[5]}`;
  const storyId = storyIdOf(heading, date, iteration);
  return {
    heading,
    date: date ? `${date[1]}-${date[3]}-${date[4]}${time}` : undefined,
    storyId,
    iteration: iteration ? Number(iteration[1]) : undefined,
  };
}

/** Whether it includes a date or an iteration. */
export function isDated(entry: ProgressEntry): boolean {
  return entry.date !== undefined || entry.iteration !== undefined;
}

/**
 * The first word after date and iteration, if it looks like an id: `US-003`, `ralph-tui-45r.1`, `[docs]`, `setup:`.
 */
function storyIdOf(
  heading: string,
  date: RegExpExecArray | null,
  iteration: RegExpExecArray | null,
): string | undefined {
  const from = Math.max(
    date ? date.index + date[0].length : 0,
    iteration ? iteration.index + iteration[0].length : 0,
  );
  const rest = heading
    .slice(from)
    .replace(/^(?:\([^)]{0,60}\)|[^\p{L}\p{N}#[(]){0,8}/u, '')
    .replace(/^\]?[^\p{L}\p{N}#[]{0,8}/u, '');
  const [, bracketed] = /^\[([\p{L}\p{N}][\p{L}\p{N}_.-]{0,60})\]/u.exec(rest) ?? [];
  if (bracketed !== undefined && from > 0) {
    return bracketed;
  }
  const [, kind, word = '', behind = ''] =
    /^((?:story|task)\s+)?(#?[\p{L}\p{N}][\p{L}\p{N}_.-]{0,60})(.{0,3})/iu.exec(rest) ?? [];
  const looksLikeId =
    /^(?:#\d+|\p{L}[\p{L}\p{N}_.]*-[\p{L}\p{N}_.-]*)$/u.test(word) && /\d/.test(word);
  if (looksLikeId) {
    // `UTF-8 in names` has no id, `US-001: names` does.
    const isSetOff =
      from > 0 || kind !== undefined || /^(?:$|[:,)\]]|\s+[^\p{L}\p{N}])/u.test(behind);
    return isSetOff && /^(?:$|[\s:,)\]])/.test(behind) ? word.replace(/\.+$/, '') : undefined;
  }
  const isName = from > 0 && behind.startsWith(':') && /^\p{Ll}[\p{Ll}\p{N}_-]*$/u.test(word);
  return isName ? word : undefined;
}
