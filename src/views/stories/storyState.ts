import path from 'node:path';
import {
  INITIAL_RUN_STATE,
  type RecordedCommit,
  type RunState,
} from '../../orchestrator/journal/runState.ts';
import { type StoryStatus, storyStatus } from '../../orchestrator/journal/storyStatus.ts';
import { doneIds, nextStory, openDependencies } from '../../orchestrator/stories/select.ts';
import type { Story } from '../../orchestrator/stories/story.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';

/** The state of a story's line; its words and icons are defined elsewhere. */
export type StoryState =
  | StoryStatus
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
  'returned',
  'settling',
  'running',
  'landing',
  'queued',
  'paused',
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
  facts: RunFacts,
): ReadonlyMap<Story, StoryState> {
  const known = new Map(
    stories.map(story => [story, storyStatus(story, facts.run, facts.states)] as const),
  );
  // What only has to land when the run continues, or what a person settles, gets no agent.
  const skip = new Set(stories.filter(story => isLeft(known.get(story))).map(({ id }) => id));
  const next = nextStory(stories, { skip }).story;
  const done = doneIds(stories);
  return new Map(stories.map(story => [story, known.get(story) ?? stateByFile(story, done, next)]));
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
    case 'returned':
      return threshold > 0 && state.times >= threshold;
    case 'skipped':
      return state.by === 'stuck';
    default:
      return false;
  }
}

/** Whether a run works on a story: then its done field does not count yet. */
export function isAtWork(state: StoryState): boolean {
  return state.kind === 'running' || state.kind === 'landing' || state.kind === 'queued';
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

function isLeft(status: StoryStatus | undefined): boolean {
  return status?.kind === 'settling' || (status?.kind === 'queued' && !status.isActive);
}

function stateByFile(story: Story, done: ReadonlySet<string>, next: Story | undefined): StoryState {
  if (story.parked) {
    return { kind: 'parked', status: story.status ?? '' };
  }
  const waiting = openDependencies(story, done);
  if (waiting.length > 0) {
    return { kind: 'waiting', for: waiting };
  }
  return { kind: story === next ? 'next' : 'ready' };
}
