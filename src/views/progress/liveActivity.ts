import { shorten } from '../../base/text.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { ToolCalls } from '../../presentation/toolLines.ts';
import { describeEvent } from '../../presentation/transcript.ts';
import type { Style } from '../../presentation/transcriptLine.ts';
import type { Translate } from '../../presentation/translate.ts';
import type { ShownActivity } from './protocol.ts';

const MAX_LINES = 15;
/** More than the shown lines, since some events have no line. */
const MAX_EVENTS = 60;
const MAX_LINE = 240;
/** The terminal marks the loop's own messages and parts of a call by text; the page marks them by style. */
const OWN = '[Ralph Fresh] ';
const OF_CALL = /^\s*└\s*/;
const OPENING = '● ';
/** Ornaments of a line in the terminal; a screen reader would say "equals equals equals". */
const ORNAMENT = /^(?:✅ |=== )| ===$/g;

/** The last actions and messages of the agent and the loop, as in the transcript, oldest first. Pure. */
export function shownActivity(
  events: readonly RunEvent[],
  state: RunState,
  t: Translate,
): readonly ShownActivity[] {
  const calls = new ToolCalls();
  return events
    .slice(-MAX_EVENTS)
    .flatMap(event => {
      // After a request to stop, a window's terminal names its own keys, which the page does not have.
      const door = event.type === 'stop.requested' ? 'terminal' : 'window';
      const told = describeEvent(event, t, { state, door, call: calls.take(event) })
        .map(({ style, text }) => ({ style, isOwn: text.startsWith(OWN), text }))
        .map(({ style, isOwn, text }) => {
          const isOpening = text.startsWith(OPENING);
          const words = isOwn
            ? text.slice(OWN.length).replace(ORNAMENT, '')
            : isOpening
              ? text.slice(OPENING.length)
              : text.replace(OF_CALL, '');
          return {
            kind: kindOf(style, isOwn),
            isOpening: isOpening || undefined,
            text: shorten(words, MAX_LINE),
          };
        })
        .filter(({ text }) => text !== '');
      return told.map((line, index) => (index === 0 ? { at: event.at, ...line } : line));
    })
    .slice(-MAX_LINES);
}

function kindOf(style: Style, isOwn: boolean): ShownActivity['kind'] {
  const kinds: Readonly<Record<Style, ShownActivity['kind']>> = {
    success: 'good',
    warning: 'warning',
    error: 'bad',
    tool: 'tool',
    heading: 'loop',
    dim: 'loop',
    plain: isOwn ? 'loop' : 'text',
  };
  return kinds[style];
}
