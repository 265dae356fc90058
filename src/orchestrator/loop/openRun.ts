import { AgentCaller } from '../agents/call/agentCaller.ts';
import { BudgetLedger } from '../agents/call/budgetLedger.ts';
import type { CodeSearch } from '../context/codeSearch.ts';
import type { Journal } from '../journal/journal.ts';
import { type RunState, runningIteration } from '../journal/runState.ts';
import type { Run } from '../run/run.ts';
import { StateMarker } from '../run/stateMarker.ts';
import { KeptStories } from '../workspace/keptStories.ts';
import type { RunOptions } from './runOptions.ts';

/** The loop's services for a run. */
interface LoopHands {
  /** Processes people's requests so far. */
  readonly look: () => Promise<void>;
  /** See {@link Run.followStories}. */
  readonly followStories: Run['followStories'];
  readonly code: CodeSearch;
  /** Aborted when a person wants the whole run to continue now; a new signal each time. */
  readonly resume: () => AbortSignal;
}

/** Creates a run from its options; its state is that of its journal. */
export function openRun(
  options: RunOptions,
  journal: Journal,
  { code, followStories, look, resume }: LoopHands,
): Run {
  const { config, env, files, onEvent, planDir, runId: id, stop, storyFile, task } = options;
  const state = () => journal.state;
  if (onEvent) {
    journal.onDidAppend(onEvent);
  }
  const caller = new AgentCaller({
    ...options,
    journal,
    resume,
    ledger: new BudgetLedger(
      config,
      {
        run: () => journal.state.costUsd,
        iteration: iteration => runningIteration(journal.state, iteration)?.costUsd ?? 0,
      },
      () => callsAtOnce(journal.state),
    ),
  });
  return {
    ...{ id, files, config, env, journal, caller, stop, state },
    planDir,
    storyFile,
    task,
    code,
    requests: { look },
    followStories,
    keptStories: new KeptStories(files, id, storyFile),
    marker: new StateMarker({ files, id, stop, state }),
    branch: journal.state.workBranch,
    seenHead: undefined,
    owedCommits: undefined,
  };
}

/** What one lane leaves over must not wait for agents that nobody starts any more. */
function callsAtOnce({ lanes, stories: { done, total } }: RunState): number {
  return Math.max(1, Math.min(lanes, total - done));
}
