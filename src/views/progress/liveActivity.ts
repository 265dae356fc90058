import { shorten } from '../../base/text.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import type { IterationRow } from '../../orchestrator/journal/iterationRows.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { isMixed } from '../../presentation/storyPrefix.ts';
import { subagentPrefixIn } from '../../presentation/subagentLines.ts';
import { ToolCalls } from '../../presentation/toolLines.ts';
import { describeEvent } from '../../presentation/transcript.ts';
import type { Style } from '../../presentation/transcriptLine.ts';
import type { Translate } from '../../presentation/translate.ts';
import type { ShownActivity } from './protocol.ts';

const MAX_LINES = 15;
/** More than the shown lines, since some events have no line. */
const MAX_EVENTS = 60;
const MAX_LINE = 240;
const MAX_ID = 24;
/** The terminal marks the loop's own messages and parts of a call by text; the page marks them by style. */
const OWN = '[Ralph Fresh] ';
const OF_CALL = /^\s*\u2514\s*/;
const OPENING = '● ';
/** Ornaments of a line in the terminal; a screen reader would say "equals equals equals". */
const ORNAMENT = /^(?:\u2705 |=== )| ===$/g;

/** The last actions and messages of the agent and the loop, as in the transcript, oldest first. Pure. */
export function shownActivity(
  events: readonly RunEvent[],
  rows: readonly IterationRow[],
  state: RunState,
  t: Translate,
): readonly ShownActivity[] {
  // By iteration: with several lanes, the calls of several agents alternate.
  const calls = new Map<number | undefined, ToolCalls>();
  const stories = new Map(
    isMixed(state) ? rows.map(({ number, storyId }) => [number, storyId]) : [],
  );
  return events
    .slice(-MAX_EVENTS)
    .flatMap(event => {
      // After a request to stop, a window's terminal names its own keys, which the page does not have.
      const door = event.type === 'stop.requested' ? 'terminal' : 'window';
      const iteration = iterationOf(event);
      const ofIteration = calls.get(iteration) ?? new ToolCalls();
      calls.set(iteration, ofIteration);
      const told = describeEvent(event, t, { state, door, call: ofIteration.take(event) })
        .map(({ style, text }) => {
          const subagent = subagentPrefixIn(text);
          const rest = text.slice(subagent.length);
          return { style, subagent: subagent.trimStart(), isOwn: rest.startsWith(OWN), text: rest };
        })
        .map(({ style, subagent, isOwn, text }) => {
          const isOpening = text.startsWith(OPENING);
          const words = isOwn
            ? text.slice(OWN.length).replace(ORNAMENT, '')
            : isOpening
              ? text.slice(OPENING.length)
              : text.replace(OF_CALL, '');
          return {
            kind: kindOf(style, isOwn),
            isOpening: isOpening || undefined,
            text: words === '' ? '' : shorten(subagent + words, MAX_LINE),
          };
        })
        .filter(({ text }) => text !== '');
      const id = iteration === undefined ? undefined : stories.get(iteration);
      const storyId = id === undefined ? undefined : shorten(id, MAX_ID);
      return told.map((line, index) =>
        index > 0
          ? line
          : // Some sentences begin with the story.
            { at: event.at, storyId: !isNamed(line.text, storyId) ? storyId : undefined, ...line },
      );
    })
    .slice(-MAX_LINES);
}

/** @param storyId absent if nothing needs to be named */
function isNamed(text: string, storyId: string | undefined): boolean {
  return storyId === undefined || text.startsWith(storyId);
}

function iterationOf(event: RunEvent): number | undefined {
  return 'iteration' in event && typeof event.iteration === 'number' ? event.iteration : undefined;
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
