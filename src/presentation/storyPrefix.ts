import { shorten } from '../base/text.ts';
import type { RunEvent } from '../orchestrator/journal/events.ts';
import { type RunState, runningIteration } from '../orchestrator/journal/runState.ts';
import type { TranscriptLine } from './transcriptLine.ts';

/** In UTF-16 units. */
const MAX_ID = 24;
/** Between the id of a story and its line. */
const BAR = ' │ ';

/** A line's story, with the bar behind it; '' if it has none. */
export function storyPrefixIn(text: string): string {
  return /^[^\s\u2502]{1,24} {1,24}\u2502 /.exec(text)?.[0] ?? '';
}

/**
 * The story of a line, of those that a run works on. With one agent at once, its lines do not name it.
 * @param text without escape sequences
 */
export function storyOfLine(text: string, state: RunState): string | undefined {
  const { isolated, running } = state;
  const prefix = storyPrefixIn(text);
  const ids = running.flatMap(({ storyId }) => storyId ?? []);
  if (prefix === '') {
    return isolated && !isMixed(state) ? ids[0] : undefined;
  }
  const [found, ...others] = ids.filter(
    id => shortName(id) === prefix.slice(0, -BAR.length).trim(),
  );
  return others.length === 0 ? found : undefined;
}

/**
 * The lines of an event, each with the story that it is about, if agents of several stories may be at work: their
 * events alternate. Lines that are not about an iteration stay as they are.
 * @param state the fold of all earlier events
 */
export function withStoryPrefix(
  lines: readonly TranscriptLine[],
  event: RunEvent,
  state: RunState,
): readonly TranscriptLine[] {
  const storyId = isMixed(state) ? storyOf(event, state) : undefined;
  if (storyId === undefined || storyId === '') {
    return lines;
  }
  const name = shortName(storyId).padEnd(widthIn(state));
  const lane = laneOf(event, state);
  return lines.map(({ style, text }) => ({
    style,
    lane,
    text: text
      .split('\n')
      // The empty line above an iteration separates it from everything.
      .map(line => (line === '' ? '' : `${name}${BAR}${line}`))
      .join('\n'),
  }));
}

function shortName(storyId: string): string {
  return shorten(storyId, MAX_ID).replaceAll(/[\s\u2502]+/g, '-');
}

/** The bars of agents that work at the same time are below each other. */
function widthIn({ running }: RunState): number {
  return Math.max(0, ...running.map(({ storyId = '' }) => shortName(storyId).length));
}

/** With one lane, a story can land while the next agent works. */
export function isMixed({ isolated, lanes, running }: RunState): boolean {
  return isolated === true && (lanes > 1 || running.length > 1);
}

function laneOf(event: RunEvent, state: RunState): number | undefined {
  if (event.type === 'iteration.started') {
    return event.lane;
  }
  return 'iteration' in event && typeof event.iteration === 'number'
    ? runningIteration(state, event.iteration)?.lane
    : undefined;
}

function storyOf(event: RunEvent, state: RunState): string | undefined {
  if (!('iteration' in event) || typeof event.iteration !== 'number') {
    return undefined;
  }
  return event.type === 'iteration.started'
    ? event.storyId
    : runningIteration(state, event.iteration)?.storyId;
}
