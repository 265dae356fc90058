import { titleNextTo } from '../base/storyTitle.ts';
import { shorten } from '../base/text.ts';
import type { CurrentIteration } from '../orchestrator/journal/currentIteration.ts';
import { pausedStories, type RunState, settledStories } from '../orchestrator/journal/runState.ts';

/** A line for each lane, then for each story that waits to land, in the order of the queue. */
export function laneLines(state: RunState): string[] {
  const { branch, lanes, limits, pausedLanes = [], running } = state;
  const words = ({ activity, number, step }: CurrentIteration) => {
    if (limits.has(number)) {
      return 'waits for the usage limit';
    }
    switch (step) {
      case 'queue':
        return 'waits to land';
      case 'gate':
        return 'is checked';
      case 'review':
        return 'is reviewed';
      default:
        return activity === undefined ? 'an agent works' : activity;
    }
  };
  const line = (where: string, current: CurrentIteration) => {
    const { storyId = '', storyTitle = '' } = current;
    const what = `${shorten(storyId, 40)}: ${shorten(titleNextTo(storyId, storyTitle), 60)}`;
    return [where, `${what} · ${shorten(words(current), 80)}`] as const;
  };
  const atWork = running.filter(({ queued }) => !queued);
  const numbers = new Set(atWork.map(({ lane }) => lane ?? 0));
  const others = Array.from({ length: lanes }, (_, index) => index + 1).filter(
    lane => lanes > 1 && !numbers.has(lane),
  );
  const inLanes = [
    ...atWork.map(current => ({ lane: current.lane ?? 0, current })),
    ...others.map(lane => ({ lane, current: undefined })),
  ].sort((a, b) => a.lane - b.lane);
  const rows = [
    ...inLanes.map(({ current, lane }) =>
      current === undefined
        ? ([`lane ${lane}`, pausedLanes.includes(lane) ? 'paused' : 'idle'] as const)
        : line(`lane ${lane || ''}`.trim(), current),
    ),
    ...running.filter(({ queued }) => queued).map(current => line('landing', current)),
  ];
  const width = Math.max(...rows.map(([where]) => where.length));
  const stories = pausedStories(state).map(id => shorten(id, 40));
  const settled = settledStories(state).map(id => shorten(id, 40));
  const more = atWork.length - lanes;
  const facts = [
    more > 0
      ? `Up to ${lanes} ${lanes === 1 ? 'agent' : 'agents'} at once; ${more} ${more === 1 ? 'other finishes' : 'others finish'} first`
      : lanes === 1
        ? 'One agent in a clone of its own'
        : `Up to ${lanes} agents at once`,
    ...(branch === undefined ? [] : [`work lands on ${shorten(branch, 80)}`]),
    ...(pausedLanes.length === 0 ? [] : [`paused lanes: ${pausedLanes.join(', ')}`]),
    ...(stories.length === 0 ? [] : [`paused stories: ${shorten(stories.join(', '), 200)}`]),
    ...(settled.length === 0 ? [] : [`you settle: ${shorten(settled.join(', '), 200)}`]),
  ];
  return [facts.join(' · '), ...rows.map(([where, what]) => `  ${where.padEnd(width)} · ${what}`)];
}
