import { say } from '../../base/say.ts';
import { payerOf } from '../agents/agentEnv.ts';
import { tellsCost } from '../journal/tellsCost.ts';
import { type Snapshot, storyCountOf } from '../places/snapshot.ts';
import { identify } from '../process/processIdentity.ts';
import type { Run } from '../run/run.ts';
import { modeOf } from '../run/runWork.ts';
import { warn } from '../run/warn.ts';
import { ignoredChoices } from './ignoredChoices.ts';
import type { RunOptions } from './runOptions.ts';

/** The facts that a run records each time it starts or continues. */
export async function startFacts(
  { agent, apiKey, config, env, onLastWindow, settings, version, withoutTokens }: RunOptions,
  {
    branch,
    isIsolated,
    snapshot,
  }: { readonly branch: string; readonly isIsolated: boolean; readonly snapshot: Snapshot },
) {
  const { model, budgetUsd } = config;
  const payer = payerOf(env, apiKey);
  return {
    version,
    ...(await identify(process.pid)),
    agent: agent.id,
    model,
    lanes: isIsolated ? config.lanes : undefined,
    isolated: isIsolated ? true : undefined,
    budgetUsd,
    payer: agent.id === 'claude' || agent.id === 'sdk' ? payer : undefined,
    verify: config.verify.length === 0 ? undefined : [...config.verify],
    reviewer: config.reviewer ? true : undefined,
    settings: settings === undefined ? undefined : { ...settings },
    onLastWindow,
    withoutTokens: withoutTokens ? true : undefined,
    stories: storyCountOf(snapshot),
    branch: branch === '' ? undefined : branch,
  };
}

/** Warns of what a person may not expect of this run. */
export function warnAtStart(run: Run, { agent, config }: RunOptions, snapshot: Snapshot): void {
  const { journal } = run;
  if (modeOf(run) !== 'stories' && config.verify.length === 0) {
    warn(journal, 'noChecks', say('The promise of the agent alone ends this run.'));
  }
  const hasBudget = config.budgetUsd !== undefined || config.iterationBudgetUsd !== undefined;
  if (hasBudget && !tellsCost(agent.id)) {
    warn(journal, 'costUnknown', say('The agent {0} does not report its cost.', agent.id));
  }
  const ignored = ignoredChoices(agent, snapshot.stories?.stories ?? []);
  if (ignored !== undefined) {
    warn(journal, 'storyChoiceIgnored', ignored);
  }
}
