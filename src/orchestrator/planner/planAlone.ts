import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import type { Agent } from '../agents/agent.ts';
import { AgentCaller } from '../agents/call/agentCaller.ts';
import { BudgetLedger } from '../agents/call/budgetLedger.ts';
import type { RunEvent } from '../journal/events.ts';
import { UnstoredJournal } from '../journal/unstoredJournal.ts';
import { requireWritableState } from '../preconditions/state.ts';
import type { RunConfig } from '../settings/config.ts';
import { newRunId, type RunFiles } from '../workspace/runFiles.ts';
import { ignoreStateDir } from '../workspace/stateIgnore.ts';
import type { StopSwitch } from '../workspace/stopSwitch.ts';
import { clearDeadPlans, PlanFolder } from './planFolder.ts';
import { type DraftOptions, type DraftResult, draftStories } from './planner.ts';

export interface PlanAloneOptions {
  /** The person's task. */
  readonly task: string;
  readonly files: RunFiles;
  /** Absolute path of the JSON file that the plan is for; it is only read. */
  readonly storyFile: string;
  readonly agent: Agent;
  readonly fallbackAgent?: Agent;
  readonly config: RunConfig;
  /** Environment for the agent. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly stop: StopSwitch;
  readonly onEvent?: (event: RunEvent) => void;
  /** Creates the draft; by default from the task. */
  readonly make?: (options: DraftOptions) => Promise<DraftResult>;
}

/**
 * Plans a task without a run: no journal, no lock, and the story file is not replaced. The calls keep their files
 * in a separate folder, which is removed once there is a draft. After a `kill -9` the next command cleans up.
 *
 * @throws {HumanError} if the story file could not be written, or the agent could write files itself
 */
export async function planAlone(options: PlanAloneOptions): Promise<DraftResult> {
  const { agent, config, files, make = draftStories, onEvent, stop } = options;
  if (agent.id === 'command') {
    throw new HumanError(
      say(
        'A planner uses read-only tools, and other programs cannot be limited to them. Use the agent claude or sdk (--agent, setting ralphFresh.agent).',
      ),
    );
  }
  await requireWritableState(files);
  await ignoreStateDir(files);
  await clearDeadPlans(files);
  const id = newRunId();
  const folder = await PlanFolder.claim(files, id);
  const journal = new UnstoredJournal();
  journal.onDidAppend(event => {
    if (event.type === 'agent.started') {
      folder.noteAgent(
        event.startId === undefined
          ? { pid: event.pid }
          : { pid: event.pid, startId: event.startId },
      );
    }
    onEvent?.(event);
  });
  const caller = new AgentCaller({
    ...options,
    runId: id,
    journal,
    // Nobody can wake this one.
    resume: () => NEVER,
    ledger: new BudgetLedger(config, {
      run: () => journal.state.costUsd,
      iteration: () => journal.state.costUsd,
    }),
    config: { ...config, onLimit: 'stop' },
  });
  let result: DraftResult | undefined;
  try {
    result = await make({
      ...options,
      journal,
      call: caller.port('plan', 0, folder.dir),
      draftDir: folder.dir,
    });
  } finally {
    const isKept = result === undefined || result.kind === 'failed';
    await (isKept ? folder.leave() : folder.remove());
  }
  return stop.requested ? { kind: 'cancelled' } : result;
}

const NEVER = new AbortController().signal;
