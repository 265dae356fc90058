import path from 'node:path';
import { englishOf } from '../../base/say.ts';
import {
  INITIAL_RUN_STATE,
  type RecordedCommit,
  type RunState,
} from '../../orchestrator/journal/runState.ts';
import type { StoryRecord } from '../../orchestrator/journal/storyRecord.ts';
import { doneIds, nextStory, openDependencies } from '../../orchestrator/stories/select.ts';
import type { Story } from '../../orchestrator/stories/story.ts';
import { phaseOf } from '../../orchestrator/workspace/runPhase.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';

/** The state of a story's line; its words and icons are defined elsewhere. */
export type StoryState =
  /** `step`: the agent has finished and its work is being reviewed, or its call waits for the end of a usage limit. */
  | {
      readonly kind: 'running';
      readonly iteration: number;
      readonly step?: 'gate' | 'review' | 'limit';
    }
  | { readonly kind: 'done' }
  | { readonly kind: 'doneByHand' }
  /** The file says so, but no check has confirmed it. */
  | { readonly kind: 'claimed' }
  /** The checks of the gate passed on the claim. */
  | { readonly kind: 'verified' }
  /** The reviewer approved the claim. */
  | { readonly kind: 'approved' }
  /** Skipped in this run. */
  | { readonly kind: 'skipped'; readonly by: 'person' | 'stuck' }
  | { readonly kind: 'needsYou'; readonly message: string }
  | { readonly kind: 'blocked'; readonly message: string }
  | { readonly kind: 'failed'; readonly times: number }
  | { readonly kind: 'stuck'; readonly iterations: number }
  | { readonly kind: 'waiting'; readonly for: readonly string[] }
  /** The file has put it aside. `status`: the file's own word. */
  | { readonly kind: 'parked'; readonly status: string }
  | { readonly kind: 'next' }
  | { readonly kind: 'ready' };

/** Every kind of state; those that need a person's attention come first. */
export const STATE_KINDS: readonly StoryState['kind'][] = [
  'needsYou',
  'blocked',
  'stuck',
  'failed',
  'running',
  'next',
  'ready',
  'waiting',
  'skipped',
  'parked',
  'claimed',
  'verified',
  'approved',
  'doneByHand',
  'done',
];

/** The combined knowledge of a folder's runs about its stories. */
export interface RunFacts {
  readonly run: WatchedRun;
  /** Oldest first, the watched one last. */
  readonly states: readonly RunState[];
}

/**
 * Removes the runs of other story files: ids repeat between files. Pure.
 * @param file absolute path of the story file
 * @param folder absolute path of its workspace folder
 */
export function runsOnFile(file: string, folder: string, { run, states }: RunFacts): RunFacts {
  const isOnFile = ({ storyFile }: RunState) =>
    storyFile === undefined || path.resolve(folder, storyFile) === file;
  return {
    run: isOnFile(run.state) ? run : { state: INITIAL_RUN_STATE, alive: false },
    states: states.filter(isOnFile),
  };
}

/**
 * Determines each story's state from its file and the journals; the file takes precedence. Pure.
 * @param stories all stories of the file
 */
export function storyStates(
  stories: readonly Story[],
  { run, states }: RunFacts,
): ReadonlyMap<Story, StoryState> {
  const next = nextStory(stories).story;
  const done = doneIds(stories);
  return new Map(
    stories.map(story => [story, stateOf(story, done, run, recordOf(story.id, states), next)]),
  );
}

/**
 * Whether a story makes no progress without the person.
 * @param threshold iterations without progress after which a story is stuck; 0 disables this
 */
export function needsUser(state: StoryState, threshold: number): boolean {
  switch (state.kind) {
    case 'needsYou':
    case 'blocked':
    case 'stuck':
      return true;
    case 'failed':
      return threshold > 0 && state.times >= threshold;
    case 'skipped':
      return state.by === 'stuck';
    default:
      return false;
  }
}

/** By story, the newest first. */
export function commitsByStory(
  states: readonly RunState[],
): ReadonlyMap<string, readonly RecordedCommit[]> {
  const found = new Map<string, RecordedCommit[]>();
  for (const commit of states.flatMap(({ commits }) => commits).reverse()) {
    if (commit.storyId !== undefined) {
      const commits = found.get(commit.storyId);
      if (commits) {
        commits.push(commit);
      } else {
        found.set(commit.storyId, [commit]);
      }
    }
  }
  return found;
}

function stateOf(
  story: Story,
  done: ReadonlySet<string>,
  run: WatchedRun,
  record: StoryRecord | undefined,
  next: Story | undefined,
): StoryState {
  const { state } = run;
  const phase = phaseOf(run);
  const running = phase === 'running' || phase === 'stopping';
  const current = state.running.findLast(({ storyId }) => storyId === story.id);
  if (running && current) {
    const { number: iteration } = current;
    const step = state.limits.has(iteration) ? 'limit' : current.step;
    return {
      kind: 'running',
      iteration,
      step: step === 'gate' || step === 'review' || step === 'limit' ? step : undefined,
    };
  }
  if (story.done) {
    return doneState(record);
  }
  if (state.outcome === 'needsHuman' && state.lastIteration?.storyId === story.id) {
    return { kind: 'needsYou', message: englishOf(state.detail ?? '') };
  }
  if (running && state.pause?.storyId === story.id) {
    const { reason, detail = '' } = state.pause;
    if (reason === 'question') {
      return { kind: 'needsYou', message: detail };
    }
  }
  if (record?.skipped !== undefined) {
    return { kind: 'skipped', by: record.skipped };
  }
  if (record?.blocked !== undefined) {
    return { kind: 'blocked', message: record.blocked };
  }
  if (record && record.failures > 0) {
    return { kind: 'failed', times: record.failures };
  }
  if (record && state.stuckThreshold > 0 && record.stuckFor >= state.stuckThreshold) {
    return { kind: 'stuck', iterations: record.stuckFor };
  }
  if (story.parked) {
    return { kind: 'parked', status: story.status ?? '' };
  }
  const waiting = openDependencies(story, done);
  if (waiting.length > 0) {
    return { kind: 'waiting', for: waiting };
  }
  return story === next ? { kind: 'next' } : { kind: 'ready' };
}

/** A person's tick has precedence, then the last judgment: reviewer, checks, the agent itself. */
function doneState(record: StoryRecord | undefined): StoryState {
  switch (record?.doneBy) {
    case 'hand':
      return { kind: 'doneByHand' };
    case 'agent':
      return checkedState(record) ?? { kind: 'claimed' };
    default:
      return checkedState(record) ?? { kind: 'done' };
  }
}

function checkedState(record: StoryRecord | undefined): StoryState | undefined {
  if (record?.approved) {
    return { kind: 'approved' };
  }
  return record?.verified ? { kind: 'verified' } : undefined;
}

/** The record of the newest run that knows the story. */
function recordOf(storyId: string, states: readonly RunState[]): StoryRecord | undefined {
  return states.findLast(state => state.storyRecords.has(storyId))?.storyRecords.get(storyId);
}
