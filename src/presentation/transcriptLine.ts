import { shorten } from '../base/text.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import type { Translate } from './translate.ts';

/** An event of this type. */
export type EventOf<T extends RunEvent['type']> = Extract<RunEvent, { type: T }>;

/** Roles of text in a transcript; the terminal and the window each define their look. */
export type Style = 'plain' | 'heading' | 'dim' | 'tool' | 'success' | 'warning' | 'error';

export interface TranscriptLine {
  readonly style: Style;
  readonly text: string;
  /** The lane of its agent, from 1, if the line names its story. */
  readonly lane?: number;
}

const PREFIX = '[Ralph Fresh]';

/** Maximum length of a line of foreign text, in UTF-16 units: a problem, an objection, a hint, an output. */
export const MAX_LINE = 500;
/** Maximum number of problems of a plan, objections of a reviewer, or changes found by the guard. */
const MAX_ITEMS = 10;

/** A line in the loop's own words. */
export function own(style: Style, text: string): TranscriptLine {
  return line(style, `${PREFIX} ${text}`);
}

/** A line from elsewhere: an agent's work, an output. */
export function line(style: Style, text: string): TranscriptLine {
  return { style, text };
}

/** The first items of a list, one per line. */
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

/** Says how many lines of an output are omitted before those shown. */
export function linesBefore(count: number, t: Translate): string {
  return count === 1 ? t('… 1 line before') : t('… {0} lines before', count);
}

/** The first non-blank line, of any length; '' if there is none. */
export function firstLine(text: string): string {
  return text.trim().split('\n', 1)[0] ?? '';
}
