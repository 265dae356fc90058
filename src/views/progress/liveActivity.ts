import { assertNever } from '../../base/assertNever.ts';
import { shorten } from '../../base/text.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import type { Translate } from '../../presentation/sentences.ts';
import { ToolCalls } from '../../presentation/toolLines.ts';
import { describeEvent } from '../../presentation/transcript.ts';
import type { Style } from '../../presentation/transcriptLine.ts';
import type { ShownActivity } from './protocol.ts';

const MAX_LINES = 15;
/** Some events are told in no line, so more of them are looked at. */
const MAX_EVENTS = 60;
const MAX_LINE = 240;
/** The terminal marks what the loop itself says, and what belongs to a call; the page does it by the look. */
const OWN = '[Ralph Fresh] ';
const OF_CALL = /^\s*└\s*/;
const OPENING = '● ';
/** What a line of the terminal stands out by; a screen reader would say "equals equals equals". */
const ORNAMENT = /^(?:✅ |=== )| ===$/g;

/** The last things that the agent and the loop said and did, as the transcript tells them, oldest first. Pure. */
export function shownActivity(
  events: readonly RunEvent[],
  state: RunState,
  t: Translate,
): readonly ShownActivity[] {
  const calls = new ToolCalls();
  return events
    .slice(-MAX_EVENTS)
    .flatMap(event => {
      // A window's terminal tells of its own keys after a request to stop, which the page has not.
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
            ...(isOpening && { isOpening }),
            text: shorten(words, MAX_LINE),
          };
        })
        .filter(({ text }) => text !== '');
      return told.map((line, index) => (index === 0 ? { at: event.at, ...line } : line));
    })
    .slice(-MAX_LINES);
}

function kindOf(style: Style, isOwn: boolean): ShownActivity['kind'] {
  switch (style) {
    case 'success':
      return 'good';
    case 'warning':
      return 'warning';
    case 'error':
      return 'bad';
    case 'tool':
      return 'tool';
    case 'heading':
    case 'dim':
      return 'loop';
    case 'plain':
      return isOwn ? 'loop' : 'text';
    default:
      return assertNever(style);
  }
}
