import type { RunOutcome } from './run/events.ts';
import { type RunState, storyRecord } from './run/runState.ts';
import { nextStory } from './stories/select.ts';
import type { Story } from './stories/story.ts';

/** What is known when the loop decides what comes next. */
export interface Situation {
  readonly state: RunState;
  /** As last read; absent in free-form mode. */
  readonly stories?: readonly Story[];
  readonly maxIterations: number;
  /** Failed calls in a row after which a story is left alone. */
  readonly failThreshold: number;
  readonly stopRequested: boolean;
  /** What the last iteration said or suffered that ends the run. */
  readonly verdict?: Verdict;
}

export type Verdict =
  /** The agent's `complete` promise; accepted when the files agree, or when there are none to ask. */
  | { readonly kind: 'complete' }
  | { readonly kind: 'needsHuman'; readonly message: string }
  /** Nothing that another try can mend: billing, log-in, agent not startable. */
  | { readonly kind: 'fatal'; readonly message: string };

export type Decision =
  | { readonly kind: 'iterate'; readonly iteration: number; readonly story?: Story }
  | { readonly kind: 'end'; readonly outcome: RunOutcome; readonly detail?: string };

/** Decides what comes next, and why. Pure; every rule of design section 3 is tested through it. */
export function decide(situation: Situation): Decision {
  const { state, stories, verdict } = situation;
  const next = stories && nextStory(stories, { skip: leftAlone(situation) });
  const complete = next === undefined ? verdict?.kind === 'complete' : next.reason === 'allDone';
  // Done is what the files say, so it comes before everything that anybody says or asks.
  if (complete) {
    return { kind: 'end', outcome: 'completed' };
  }
  if (situation.stopRequested) {
    return { kind: 'end', outcome: 'stopped' };
  }
  if (verdict?.kind === 'fatal') {
    return { kind: 'end', outcome: 'error', detail: verdict.message };
  }
  if (verdict?.kind === 'needsHuman') {
    return { kind: 'end', outcome: 'needsHuman', detail: verdict.message };
  }
  if (next?.reason !== undefined) {
    return { kind: 'end', outcome: 'noReadyStory', detail: openStories(stories) };
  }
  if (state.iteration >= situation.maxIterations) {
    return { kind: 'end', outcome: 'maxIterations' };
  }
  return {
    kind: 'iterate',
    iteration: state.iteration + 1,
    ...(next?.story && { story: next.story }),
  };
}

/** Ids of stories that get no more iterations in this run: blocked by their agent, or failed too often. */
function leftAlone({ state, stories, failThreshold }: Situation): ReadonlySet<string> {
  const ids = new Set<string>();
  for (const story of stories ?? []) {
    const record = storyRecord(state, story.id);
    if (record.blocked !== undefined || record.failures >= failThreshold) {
      ids.add(story.id);
    }
  }
  return ids;
}

function openStories(stories: readonly Story[] | undefined): string {
  return (stories ?? [])
    .filter(story => !story.done)
    .map(story => story.id)
    .join(', ');
}
