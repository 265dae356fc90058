import { shorten } from '../base/text.ts';
import type { Translate } from './sentences.ts';

/** Roles of text in a transcript; each door decides how they look. */
export type Style = 'plain' | 'heading' | 'dim' | 'tool' | 'success' | 'warning' | 'error';

export interface TranscriptLine {
  readonly style: Style;
  readonly text: string;
}

const PREFIX = '[Ralph Fresh]';

/** Longest line of foreign text, in UTF-16 units: of a problem, an objection, a hint, an output. */
export const MAX_LINE = 500;
/** Problems of a plan, objections of a reviewer, changes that the guard found. */
const MAX_ITEMS = 10;

/** A line in the loop's own words. */
export function own(style: Style, text: string): TranscriptLine {
  return line(style, `${PREFIX} ${text}`);
}

/** A line between them: an agent's work, an output. */
export function line(style: Style, text: string): TranscriptLine {
  return { style, text };
}

/** Some of a list, a line each. */
export function items(
  style: Style,
  texts: readonly string[],
  t: Translate,
): readonly TranscriptLine[] {
  const more = texts.length - MAX_ITEMS;
  return [
    ...texts.slice(0, MAX_ITEMS).map(text => line(style, `  - ${shorten(text, MAX_LINE)}`)),
    ...(more > 0 ? [line('dim', `  ${t('… {0} more', more)}`)] : []),
  ];
}

/** So many lines of an output are left out before those that are shown. */
export function linesBefore(count: number, t: Translate): string {
  return count === 1 ? t('… 1 line before') : t('… {0} lines before', count);
}

/** The first line that says something, of whichever length; '' when none does. */
export function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
