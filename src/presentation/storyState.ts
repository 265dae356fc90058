import path from 'node:path';
import { type CurrentIteration, isCandidate } from '../orchestrator/journal/currentIteration.ts';
import { type Doing, doingOf } from '../orchestrator/journal/doing.ts';
import { type ReturnedWork, returnedWork } from '../orchestrator/journal/returnedWork.ts';
import { isActive, outcomeOf, type SeenRun } from '../orchestrator/journal/runStanding.ts';
import {
  INITIAL_RUN_STATE,
  type RecordedCommit,
  type RunState,
  storyNotes,
  storyRecord,
} from '../orchestrator/journal/runState.ts';
import type { StoryRecord } from '../orchestrator/journal/storyRecord.ts';
import { doneIds, nextStory, openDependencies } from '../orchestrator/stories/select.ts';
import type { Story } from '../orchestrator/stories/story.ts';
import type { WatchedRun } from '../orchestrator/workspace/runWatcher.ts';

/** The agent of a story, if it works in a lane. */
export interface AgentInLane {
  readonly lane: number;
  /** ISO 8601. */
  readonly since: string;
  readonly doing?: Doing;
  /** A person has paused the story: it gets no further agent after this one. */
  readonly isLast?: true;
}

/** What runs know of a story beyond its file. */
export type StoryStatus =
  /** `step`: the agent has finished, and its work is judged; or its call waits for a usage limit. */
  | {
      readonly kind: 'running';
      readonly iteration: number;
      readonly step?: 'gate' | 'review' | 'limit';
      readonly agent?: AgentInLane;
    }
  /** Its agent has finished, and its work waits to land. `isActive`: now; otherwise when the run continues. */
  | { readonly kind: 'queued'; readonly iteration: number; readonly isActive: boolean }
  /** What is to land is being checked or reviewed, or lands. */
  | { readonly kind: 'landing'; readonly iteration: number; readonly step?: 'gate' | 'review' }
  | { readonly kind: 'done' }
  | { readonly kind: 'doneByHand' }
  /** Its agent says so, and the run ended before it could be judged. The next one does that first. */
  | { readonly kind: 'unjudged' }
  /** Its agent says so, but no check has confirmed it. */
  | { readonly kind: 'claimed' }
  /** The checks of the gate passed on the claim. */
  | { readonly kind: 'verified' }
  /** The reviewer approved the claim. */
  | { readonly kind: 'approved' }
  /** Skipped in this run. */
  | { readonly kind: 'skipped'; readonly by: 'person' | 'stuck' }
  /** Its agent has asked a question that nobody has answered. */
  | { readonly kind: 'needsYou'; readonly message: string }
  | { readonly kind: 'blocked'; readonly message: string }
  /** A person settles its conflict by hand, and no agent works on it. */
  | { readonly kind: 'settling' }
  /** A person wants no further agent for it now. */
  | { readonly kind: 'paused' }
  /** Its work did not land, and it is open again. */
  | { readonly kind: 'returned'; readonly times: number; readonly work: ReturnedWork }
  | { readonly kind: 'failed'; readonly times: number }
  | { readonly kind: 'stuck'; readonly iterations: number };

/** The state of a story's line; its words and icons are defined elsewhere. */
export type StoryState =
  | StoryStatus
  | { readonly kind: 'waiting'; readonly for: readonly string[] }
  /** The file has put it aside. `status`: the file's own word. */
  | { readonly kind: 'parked'; readonly status: string }
  /** Its turn comes after the tasks of a tag. */
  | { readonly kind: 'later'; readonly tag: string }
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
  'later',
  'skipped',
  'parked',
  'unjudged',
  'claimed',
  'verified',
  'approved',
  'doneByHand',
  'done',
];

/**
 * What runs know of a story. The file takes precedence: a story that is done there has not failed. What ended runs know
 * of another title is about another story: lists begin with the same ids. Pure.
 * @param story.title absent: any
 * @param run the newest one
 * @param states of all runs, oldest first; the newest run that knows the story is used
 * @returns `undefined` if they know no more than the file
 */
export function storyStatus(
  { done, id, title }: { readonly id: string; readonly done: boolean; readonly title?: string },
  run: SeenRun,
  states: readonly RunState[],
): StoryStatus | undefined {
  const { state } = run;
  const isWorking = isActive(run);
  const current = state.running.findLast(({ storyId }) => storyId === id);
  if (current !== undefined && isWorking) {
    return workStatus(current, state);
  }
  const recordIn = (of: RunState) => {
    const record = of.storyRecords.get(id);
    const isSame = title === undefined || record?.title === undefined || record.title === title;
    return isSame || (isWorking && of.runId === state.runId) ? record : undefined;
  };
  const known = states.findLast(of => recordIn(of) !== undefined) ?? INITIAL_RUN_STATE;
  const record = recordIn(known);
  if (done) {
    return { kind: isUnjudged(id, run) ? 'unjudged' : doneKind(record) };
  }
  const left = isWorking ? undefined : leftQueued(id, state);
  if (left !== undefined) {
    return { kind: 'queued', iteration: left.number, isActive: false };
  }
  const { question, settling } = storyNotes(state, id);
  if (settling !== undefined) {
    return { kind: 'settling' };
  }
  if (question !== undefined) {
    return { kind: 'needsYou', message: question.message };
  }
  const status =
    record && openStatus(withSkip(record, recordIn(state)?.skipped), state.stuckThreshold);
  if (status?.kind === 'skipped' || status?.kind === 'blocked') {
    return status;
  }
  if (storyRecord(state, id).paused && (isWorking || willContinue(run))) {
    return { kind: 'paused' };
  }
  const work = returnedWork(known, id);
  return work === undefined || status?.kind !== 'failed'
    ? status
    : { kind: 'returned', times: status.times, work };
}

/** A skip is of one run: the next one works on the story again. */
function withSkip(record: StoryRecord, skipped: StoryRecord['skipped']): StoryRecord {
  const { skipped: _of, ...rest } = record;
  return skipped === undefined ? rest : { ...rest, skipped };
}

/**
 * Whether a claim is still to be judged: its run ended or was killed before its checks and its review, or ended with an
 * error, so that nothing of its iteration counts; or it was refused, and its file could not be written. A person's tick
 * needs no judge. Pure.
 * @param run the newest one
 */
export function isUnjudged(storyId: string, run: SeenRun): boolean {
  const { state } = run;
  const { approved, doneBy, refused, verified } = storyRecord(state, storyId);
  if (!isActive(run) && refused === true && !state.isolated) {
    return true;
  }
  if (isActive(run) || !cutOffIn(state).some(cut => cut.storyId === storyId)) {
    return false;
  }
  const hasJudge = state.reviewer === true || state.verify.length > 0;
  return (
    doneBy !== 'hand' &&
    (state.outcome === 'error' || (hasJudge && !(state.reviewer === true ? approved : verified)))
  );
}

/** What is done for a story by an active run. */
function workStatus(current: CurrentIteration, state: RunState): StoryStatus {
  const { activity, lane, number: iteration, queued, startedAt: since, storyId = '' } = current;
  const step =
    current.step === 'gate' || current.step === 'review' ? { step: current.step } : undefined;
  if (queued) {
    return isCandidate(current)
      ? { kind: 'landing', iteration, ...step }
      : { kind: 'queued', iteration, isActive: true };
  }
  const doing = doingOf(activity);
  const agent = lane !== undefined && {
    agent: {
      ...{ lane, since },
      ...(doing && { doing }),
      ...(storyRecord(state, storyId).paused && { isLast: true as const }),
    },
  };
  return {
    ...{ kind: 'running', iteration, ...agent },
    ...(state.limits.has(iteration) ? { step: 'limit' } : step),
  };
}

/** The iteration of a story whose work was still waiting to land when the run ended or was killed. */
export function leftQueued(
  id: string,
  state: Pick<RunState, 'cutOff' | 'running'>,
): CurrentIteration | undefined {
  return cutOffIn(state).findLast(({ queued, storyId }) => queued && storyId === id);
}

/** The iterations that the end of an inactive run has cut off: a loop that was killed wrote none. */
function cutOffIn({
  cutOff,
  running,
}: Pick<RunState, 'cutOff' | 'running'>): readonly CurrentIteration[] {
  return [...cutOff, ...running];
}

/** The next start continues it, so that what a person has paused stays paused. */
function willContinue(run: SeenRun): boolean {
  const outcome = outcomeOf(run);
  return outcome === 'stopped' || outcome === 'interrupted' || outcome === 'error';
}

/** A person's tick takes precedence, then the last judge: reviewer, checks, the agent itself. */
function doneKind(record: StoryRecord | undefined) {
  const { approved, doneBy, verified } = record ?? {};
  if (doneBy === 'hand') {
    return 'doneByHand';
  }
  return approved ? 'approved' : verified ? 'verified' : doneBy === 'agent' ? 'claimed' : 'done';
}

/**
 * Why a run leaves a story alone, or has trouble with it.
 * @param threshold iterations without progress after which a story is stuck; 0 disables this
 */
export function openStatus(record: StoryRecord, threshold: number): StoryStatus | undefined {
  const { blocked, failures, skipped, stuckFor } = record;
  if (skipped !== undefined) {
    return { kind: 'skipped', by: skipped };
  }
  if (blocked !== undefined) {
    return { kind: 'blocked', message: blocked };
  }
  if (failures > 0) {
    return { kind: 'failed', times: failures };
  }
  return threshold > 0 && stuckFor >= threshold
    ? { kind: 'stuck', iterations: stuckFor }
    : undefined;
}

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
  const skip = new Set(stories.filter(story => isLeft(known.get(story))).map(({ id }) => id));
  const next = nextStory(stories, { skip }).story;
  const done = doneIds(stories);
  const chosen = new Set(facts.run.state.onlyStories);
  return new Map(
    stories.map(story => {
      const byFile = () => stateByFile(story, { done, next, isChosen: chosen.has(story.id) });
      return [story, known.get(story) ?? byFile()];
    }),
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

/** Whether a story gets no agent, since it only has to land when the run continues, or is with a person. */
export function isLeft(
  status: StoryStatus | undefined,
): status is StoryStatus & { readonly kind: 'paused' | 'queued' | 'settling' } {
  return (
    status?.kind === 'settling' ||
    status?.kind === 'paused' ||
    (status?.kind === 'queued' && !status.isActive)
  );
}

function stateByFile(
  story: Story,
  {
    done,
    isChosen,
    next,
  }: {
    readonly done: ReadonlySet<string>;
    /** By the run: its turn need not have come, but what it waits for must be done. */
    readonly isChosen: boolean;
    readonly next: Story | undefined;
  },
): StoryState {
  const { afterTag, parked, status = '' } = story;
  if (parked && afterTag === undefined) {
    return { kind: 'parked', status };
  }
  const waiting = openDependencies(story, done);
  if (waiting.length > 0 && (afterTag === undefined || isChosen)) {
    return { kind: 'waiting', for: waiting };
  }
  if (afterTag !== undefined) {
    return { kind: 'later', tag: afterTag };
  }
  return { kind: story === next ? 'next' : 'ready' };
}
