import { shorten } from '../base/text.ts';
import { isToolName } from '../base/toolName.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { currentOf, type RunState } from '../orchestrator/journal/runState.ts';
import type { Door } from './door.ts';
import { type EventOf, firstLine, line, type TranscriptLine } from './transcriptLine.ts';
import type { Translate } from './translate.ts';

/** The call that a tool's result belongs to. */
export interface ToolCall {
  readonly name: string;
  /** Nothing was printed since, so the result is directly below its call. */
  readonly isLast: boolean;
}

/** Maximum number of tool calls without a result; above it, the oldest are dropped. */
const MAX_OPEN_CALLS = 100;

/** Longest name of a tool, in UTF-16 units. */
const MAX_TOOL = 120;

/** Keeps tool calls until their results arrive: an agent may make several in parallel. */
export class ToolCalls {
  private readonly names = new Map<string, string>();
  private last: string | undefined;

  /** Records an event. @returns the call of a result, if known */
  take(event: RunEvent): ToolCall | undefined {
    const { last, names } = this;
    if (event.type === 'agent.toolResult' || event.type === 'agent.toolFailed') {
      const name = names.get(event.id);
      names.delete(event.id);
      return name === undefined ? undefined : { name, isLast: event.id === last };
    }
    this.last = undefined;
    if (event.type === 'agent.tool') {
      this.last = event.id;
      names.set(event.id, event.name);
      const [oldest] = names.keys();
      if (names.size > MAX_OPEN_CALLS && oldest !== undefined) {
        names.delete(oldest);
      }
    } else if (event.type === 'agent.ended') {
      names.clear();
    }
    return undefined;
  }
}

/** The first lines of a tool's result, below the call. */
export function resultLines(
  style: 'dim' | 'error',
  event: EventOf<'agent.toolResult' | 'agent.toolFailed'>,
  t: Translate,
  { call, door, state }: { call: ToolCall | undefined; door: Door; state: RunState },
): readonly TranscriptLine[] {
  const { head, lines: total = 1 } = event;
  const shown =
    head ??
    (event.type === 'agent.toolFailed'
      ? firstLine(event.gist)
      : total === 1
        ? t('Read 1 line')
        : t('Read {0} lines', total));
  const isRead = head === undefined && event.type === 'agent.toolResult';
  const texts = shown.split('\n');
  const more = isRead ? 0 : total - texts.length;
  const whose = call === undefined || call.isLast ? '' : `${call.name}: `;
  const iteration = event.iteration ?? currentOf(state)?.number;
  return [
    ...texts.map((text, at) =>
      line(style, at === 0 ? `  └  ${whose}${text}` : text === '' ? '' : `     ${text}`),
    ),
    ...(more > 0 ? [line('dim', `     ${moreLines(more, door, iteration, t)}`)] : []),
  ];
}

function moreLines(more: number, door: Door, iteration: number | undefined, t: Translate): string {
  const count = more === 1 ? t('… 1 more line') : t('… {0} more lines', more);
  return door === 'window' && iteration !== undefined
    ? `${count} (${transcriptOf(iteration, t)})`
    : count;
}

/**
 * A tool that was not allowed.
 * @param isOffered it can be allowed where this is read; then the offer has the place of the agent's reason, which
 * the failed call says too
 */
export function toolDenied(
  { message, tool }: EventOf<'agent.denied'>,
  t: Translate,
  isOffered: boolean,
): readonly TranscriptLine[] {
  const name = shorten(tool, MAX_TOOL);
  const words =
    isOffered && isToolName(tool)
      ? `${t('Not allowed: {0}', name)} · ${allowOffer(tool, t)}`
      : t('Not allowed: {0}', `${name} ${firstLine(message)}`);
  return [line('warning', `  ${words}`)];
}

/** Offers to allow a tool; the window's terminal turns it into a link. */
export function allowOffer(tool: string, t: Translate): string {
  return t('Allow {0} From Now On', tool);
}

/** The name of an iteration's full transcript in a window; the window's terminal turns it into a link. */
export function transcriptOf(iteration: number | string, t: Translate): string {
  return t('transcript of iteration {0}', iteration);
}
