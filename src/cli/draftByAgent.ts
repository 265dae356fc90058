import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import type { Message } from '../base/say.ts';
import { type PlanAloneOptions, planAlone } from '../orchestrator/planner/planAlone.ts';
import type { StoryDraft } from '../orchestrator/planner/planner.ts';
import {
  agentOf,
  configOf,
  fallbackAgentOf,
  resolveSettings,
} from '../orchestrator/settings/settings.ts';
import { allowOutsideLinks } from '../orchestrator/stories/outsideLinks.ts';
import { StopSwitch } from '../orchestrator/workspace/stopSwitch.ts';
import { agentEnvironment } from './agentEnvironment.ts';
import { eventPrinter } from './print.ts';
import { settingsOf } from './settingFlags.ts';
import { keepHeapSmall } from './smallHeap.ts';

/**
 * Lets a planning agent create a draft, with the settings given to the command.
 * @param what.demoCannot why the demo agent cannot do this, if it cannot
 * @param isAttached ends the agent when standard input closes
 * @returns `undefined` if it was ended
 * @throws {HumanError} if no agent produced a valid draft
 */
export async function draftByAgent(
  command: Command,
  what: Pick<PlanAloneOptions, 'task' | 'files' | 'storyFile' | 'make'> & {
    readonly demoCannot?: Message;
  },
  isAttached: boolean,
): Promise<StoryDraft | undefined> {
  const { workspace } = what.files;
  const flags = settingsOf(command);
  allowOutsideLinks(flags.outsideLinks ?? []);
  // Whatever the folder has: such an agent only reads.
  const env = agentEnvironment('all');
  const settings = await resolveSettings({ flags, workspace });
  const fallbackAgent = await fallbackAgentOf(settings, { env, workspace });
  const agent = agentOf(settings);
  if (what.demoCannot !== undefined && agent.id === 'demo') {
    throw new HumanError(what.demoCannot);
  }
  const stop = new StopSwitch();
  const result = await stoppable(stop, isAttached, () =>
    planAlone({
      ...{ ...what, stop, env },
      agent,
      fallbackAgent,
      config: configOf(settings),
      // The agent's activity goes to a terminal only; standard output contains just the draft.
      onEvent: process.stderr.isTTY ? eventPrinter({ stream: process.stderr }) : undefined,
    }),
  );
  switch (result.kind) {
    case 'cancelled':
      return undefined;
    case 'failed':
      throw new HumanError(result.message);
    default: {
      const { kind: _, ...draft } = result;
      return draft;
    }
  }
}

/**
 * Runs the action until a signal arrives. If attached, also until standard input ends, which means that the caller is
 * gone.
 */
async function stoppable<T>(
  stop: StopSwitch,
  isAttached: boolean,
  action: () => Promise<T>,
): Promise<T> {
  const letHeapGrow = keepHeapSmall();
  const end = () => stop.request(stop.requested ? 'kill' : 'end', 'signal');
  const onGone = () => stop.request('end', 'signal');
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) {
    process.on(signal, end);
  }
  if (isAttached) {
    process.stdin.on('end', onGone).on('error', onGone).resume();
  }
  try {
    return await action();
  } finally {
    letHeapGrow();
    for (const signal of signals) {
      process.off(signal, end);
    }
    if (isAttached) {
      // An open standard input would keep this process alive.
      process.stdin.destroy();
    }
  }
}
