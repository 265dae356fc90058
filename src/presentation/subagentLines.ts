import { shorten } from '../base/text.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { type EventOf, line, type TranscriptLine } from './transcriptLine.ts';
import { compact, duration, type Translate } from './translate.ts';

/** In UTF-16 units. */
const MAX_NAME = 40;
/** Between the name of a subagent and its line. */
const MARK = ' › ';

/** A line's subagent, with the indentation before and the mark behind it; '' if it has none. */
export function subagentPrefixIn(text: string): string {
  return /^ {2}[^\s\u203a](?:[^\u203a\n]{0,50}[^\s\u203a])? \u203a /.exec(text)?.[0] ?? '';
}

/**
 * The lines of an event, nested below the agent that has started the subagent, each with the name of the subagent:
 * several may work at once, and their events alternate.
 */
export function withSubagent(
  lines: readonly TranscriptLine[],
  event: RunEvent,
): readonly TranscriptLine[] {
  const subagent =
    event.type === 'agent.subagentEnded'
      ? event.subagent
      : 'parent' in event && isNamed(event.parent)
        ? event.parent
        : undefined;
  if (subagent === undefined) {
    return lines;
  }
  const name = shorten(subagent.name.replaceAll('›', '>'), MAX_NAME) || '?';
  return lines.map(({ style, text }) => ({
    style,
    text: text
      .split('\n')
      .map(row => (row === '' ? '' : `  ${name}${MARK}${row}`))
      .join('\n'),
  }));
}

/** The end of a subagent: the first line of its report, and what it took, as far as its agent says so. */
export function subagentEnded(
  event: EventOf<'agent.subagentEnded'>,
  t: Translate,
): readonly TranscriptLine[] {
  const { durationMs, failed, gist, tokens, toolCalls } = event;
  const facts = [
    failed ? t('failed') : t('done'),
    durationMs === undefined ? undefined : duration(durationMs, t),
    tokens === undefined
      ? undefined
      : tokens === 1
        ? t('1 token')
        : t('{0} tokens', compact(tokens, t)),
    toolCalls === undefined
      ? undefined
      : toolCalls === 1
        ? t('1 tool call')
        : t('{0} tool calls', toolCalls),
  ].filter(fact => fact !== undefined);
  return [
    ...(gist === '' ? [] : [line('plain', `● ${gist}`)]),
    line(failed ? 'error' : 'dim', `  └  ${facts.join(' · ')}`),
  ];
}

function isNamed(parent: unknown): parent is { readonly name: string } {
  return (
    typeof parent === 'object' &&
    parent !== null &&
    'name' in parent &&
    typeof parent.name === 'string'
  );
}
