import type { IterationOutcome } from './eventCodes.ts';
import type { RunEvent } from './events.ts';
import { foldRun } from './foldRun.ts';
import type { DuplicatesNote } from './runState.ts';
import { tellsCost } from './tellsCost.ts';

/** Time, tokens and cost. Tokens as reported by the agents, or estimated; costs in US dollars; times in ms. */
export interface Spent {
  readonly durationMs: number;
  readonly turns: number;
  readonly inputTokens: number;
  readonly outputTokens: number;
  readonly cacheReadTokens: number;
  readonly cacheWriteTokens: number;
  readonly costUsd: number;
  /** Cost and tokens are estimated, in whole or in part: a call ended without a result. */
  readonly costEstimated: boolean;
  /** `costUsd` is incomplete: an agent that worked here does not report its cost. */
  readonly costUnknown: boolean;
  readonly commits: number;
}

export interface IterationReceipt extends Spent {
  readonly iteration: number;
  /** `null` if the iteration worked on the whole task. */
  readonly story: string | null;
  readonly title: string | null;
  /** The model of its agent, as reported by the agent or chosen by the story; `null` if neither names one. */
  readonly model: string | null;
  /** `null` while it is running, or if the loop was killed during it. */
  readonly outcome: IterationOutcome | null;
  readonly startedAt: string | null;
  readonly endedAt: string | null;
  /** Oldest first. */
  readonly commitList: readonly { readonly hash: string; readonly subject: string }[];
  /** What its new code repeats; `null` if there was no new function or file to look at. */
  readonly duplicates: DuplicatesNote['found'] | null;
}

export interface StoryReceipt extends Spent {
  readonly story: string | null;
  readonly title: string | null;
  readonly iterations: number;
  /** The outcome of its last iteration. */
  readonly outcome: IterationOutcome | null;
}

/** A run's iterations with their costs, and the totals. The data of `receipt --json`. */
export interface RunReceipt {
  readonly run: string | null;
  readonly agent: string | null;
  readonly model: string | null;
  readonly payer: 'apiKey' | 'login' | null;
  /** The calls of the planning agent, which precede the first iteration; `null` if there are none. */
  readonly planning: Spent | null;
  readonly iterations: readonly IterationReceipt[];
  /** In the order of their first iterations. */
  readonly stories: readonly StoryReceipt[];
  /** The sum of iterations and planning. */
  readonly total: Spent & { readonly iterations: number };
}

/**
 * Creates the receipt of a run from its journal. Pure.
 * @param only restricts the receipt and its sums to this iteration
 */
export function receiptOf(events: readonly RunEvent[], only?: number): RunReceipt {
  const { runId, agent, costUnknown, model, payer } = foldRun(events);
  const drafts = new Map<number, Draft>();
  let worker = '';
  for (const event of events) {
    worker = workerAfter(event, worker);
    addEvent(drafts, event, worker);
  }
  const planned = only === undefined ? drafts.get(0) : undefined;
  const planning = planned ? spentOf(planned) : null;
  const iterations = [...drafts]
    .filter(([iteration]) => iteration > 0 && (only === undefined || iteration === only))
    .sort(([a], [b]) => a - b)
    .map(([iteration, draft]) => iterationReceipt(iteration, draft));
  const sum = sumOf([...(planning ? [planning] : []), ...iterations]);
  return {
    run: runId ?? null,
    agent: agent ?? null,
    model: model ?? null,
    payer: payer ?? null,
    planning,
    iterations,
    stories: storyReceipts(iterations),
    total: {
      ...sum,
      // The same as what the status says of the run, also before its first iteration.
      costUnknown: sum.costUnknown || (only === undefined && costUnknown === true),
      iterations: iterations.length,
    },
  };
}

/** The current agent after this event. */
function workerAfter(event: RunEvent, before: string): string {
  switch (event.type) {
    case 'run.started':
    case 'run.resumed':
      return event.agent;
    case 'agent.replaced':
      return event.to;
    default:
      return before;
  }
}

type Calls = Omit<Spent, 'commits'>;

const NO_CALLS: Calls = {
  durationMs: 0,
  turns: 0,
  inputTokens: 0,
  outputTokens: 0,
  cacheReadTokens: 0,
  cacheWriteTokens: 0,
  costUsd: 0,
  costEstimated: false,
  costUnknown: false,
};

/** The events of an iteration so far. */
interface Draft {
  story: string | null;
  title: string | null;
  model: string | null;
  /** Its current agent reviews the work. */
  isReview: boolean;
  startedAt: string | null;
  /** The calls of its agents, one by one. */
  calls: Calls;
  commitList: { hash: string; subject: string }[];
  duplicates: DuplicatesNote['found'] | null;
  ended?: Extract<RunEvent, { type: 'iteration.ended' }>;
}

function addEvent(drafts: Map<number, Draft>, event: RunEvent, worker: string): void {
  switch (event.type) {
    case 'iteration.started': {
      const draft = draftOf(drafts, event.iteration);
      draft.story = event.storyId ?? null;
      draft.title = event.storyTitle ?? null;
      draft.model = event.model ?? null;
      // Also if its agent never starts, as the status says of the whole run.
      draft.calls = { ...draft.calls, costUnknown: draft.calls.costUnknown || !tellsCost(worker) };
      if (draft.ended !== undefined) {
        // No agent could be started, so the next iteration gets its number.
        delete draft.ended;
        draft.startedAt = null;
      }
      draft.startedAt ??= event.at;
      return;
    }
    case 'agent.started': {
      // Also for an iteration that is still running or was killed.
      const draft = draftOf(drafts, event.iteration);
      draft.isReview = event.purpose === 'review';
      draft.calls = { ...draft.calls, costUnknown: draft.calls.costUnknown || !tellsCost(worker) };
      return;
    }
    case 'agent.init': {
      const draft = drafts.get(event.iteration ?? 0);
      if (draft !== undefined && !draft.isReview) {
        draft.model = event.model ?? draft.model;
      }
      return;
    }
    case 'agent.ended': {
      const draft = draftOf(drafts, event.iteration);
      draft.calls = addCall(draft.calls, event, worker);
      return;
    }
    case 'commit.recorded': {
      const { hash, iteration, subject } = event;
      draftOf(drafts, iteration).commitList.push({ hash, subject });
      return;
    }
    case 'duplicates.found': {
      draftOf(drafts, event.iteration).duplicates = event.duplicates;
      return;
    }
    case 'iteration.ended': {
      const draft = draftOf(drafts, event.iteration);
      draft.story ??= event.storyId ?? null;
      draft.ended = event;
      return;
    }
    default:
      return;
  }
}

function draftOf(drafts: Map<number, Draft>, iteration: number): Draft {
  const known = drafts.get(iteration);
  if (known) {
    return known;
  }
  const draft: Draft = {
    story: null,
    title: null,
    model: null,
    isReview: false,
    startedAt: null,
    calls: NO_CALLS,
    commitList: [],
    duplicates: null,
  };
  drafts.set(iteration, draft);
  return draft;
}

function addCall(
  calls: Calls,
  event: Extract<RunEvent, { type: 'agent.ended' }>,
  worker: string,
): Calls {
  const { costEstimated, costUsd, durationMs, turns, usage } = event;
  const isUntold = costUsd === undefined && !tellsCost(worker);
  return {
    durationMs: calls.durationMs + durationMs,
    turns: calls.turns + (turns ?? 0),
    costUsd: calls.costUsd + (costUsd ?? 0),
    costEstimated: calls.costEstimated || costEstimated === true,
    costUnknown: calls.costUnknown || isUntold,
    inputTokens: calls.inputTokens + (usage?.input ?? 0),
    outputTokens: calls.outputTokens + (usage?.output ?? 0),
    cacheReadTokens: calls.cacheReadTokens + (usage?.cacheRead ?? 0),
    cacheWriteTokens: calls.cacheWriteTokens + (usage?.cacheWrite ?? 0),
  };
}

/**
 * The iteration's own totals are used if it has them; journals of 0.1 have nothing else. They do not include the
 * time of an iteration that was interrupted and judged later, nor the turns of calls that were repeated.
 */
function spentOf({ calls, commitList, ended }: Draft): Spent {
  const { usage } = ended ?? {};
  return {
    durationMs: Math.max(ended?.durationMs ?? 0, calls.durationMs),
    turns: Math.max(ended?.turns ?? 0, calls.turns),
    inputTokens: usage?.input ?? calls.inputTokens,
    outputTokens: usage?.output ?? calls.outputTokens,
    cacheReadTokens: usage?.cacheRead ?? calls.cacheReadTokens,
    cacheWriteTokens: usage?.cacheWrite ?? calls.cacheWriteTokens,
    costUsd: dollars(ended?.costUsd ?? calls.costUsd),
    costEstimated: calls.costEstimated || ended?.costEstimated === true,
    costUnknown: calls.costUnknown,
    commits: ended?.commits ?? commitList.length,
  };
}

function iterationReceipt(iteration: number, draft: Draft): IterationReceipt {
  const { commitList, duplicates, ended, model, startedAt, story, title } = draft;
  return {
    iteration,
    story,
    title,
    model,
    outcome: ended?.outcome ?? null,
    startedAt,
    endedAt: ended?.at ?? null,
    ...spentOf(draft),
    commitList,
    duplicates,
  };
}

function storyReceipts(iterations: readonly IterationReceipt[]): StoryReceipt[] {
  const byStory = new Map<string | null, IterationReceipt[]>();
  for (const receipt of iterations) {
    const others = byStory.get(receipt.story);
    if (others) {
      others.push(receipt);
    } else {
      byStory.set(receipt.story, [receipt]);
    }
  }
  return [...byStory].map(([story, of]) => ({
    story,
    title: of.at(-1)?.title ?? null,
    iterations: of.length,
    outcome: of.at(-1)?.outcome ?? null,
    ...sumOf(of),
  }));
}

function sumOf(parts: readonly Spent[]): Spent {
  const sum = (of: (part: Spent) => number) => parts.reduce((total, part) => total + of(part), 0);
  return {
    durationMs: sum(part => part.durationMs),
    turns: sum(part => part.turns),
    inputTokens: sum(part => part.inputTokens),
    outputTokens: sum(part => part.outputTokens),
    cacheReadTokens: sum(part => part.cacheReadTokens),
    cacheWriteTokens: sum(part => part.cacheWriteTokens),
    costUsd: dollars(sum(part => part.costUsd)),
    costEstimated: parts.some(part => part.costEstimated),
    costUnknown: parts.some(part => part.costUnknown),
    commits: sum(part => part.commits),
  };
}

/** Removes the extra digits that sums of floating-point numbers get. */
function dollars(amount: number): number {
  return Math.round(amount * 1e6) / 1e6;
}
