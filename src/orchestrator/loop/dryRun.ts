import path from 'node:path';
import { englishOf } from '../../base/say.ts';
import type { Agent, AgentRequest } from '../agents/agent.ts';
import { agentRequest } from '../agents/call/agentCaller.ts';
import { BudgetLedger } from '../agents/call/budgetLedger.ts';
import { CodeSearch } from '../context/codeSearch.ts';
import { Briefer } from '../iteration/briefing.ts';
import { applyEvent } from '../journal/foldRun.ts';
import { currentOf, cutOffOf, INITIAL_RUN_STATE, type RunState } from '../journal/runState.ts';
import { tellsCost } from '../journal/tellsCost.ts';
import { UnstoredJournal } from '../journal/unstoredJournal.ts';
import { userTree } from '../places/place.ts';
import { readSnapshot, type Snapshot } from '../places/snapshot.ts';
import { landsOn } from '../preconditions/lanes.ts';
import type { Run } from '../run/run.ts';
import type { RunConfig } from '../settings/config.ts';
import { choiceOf } from '../stories/formats/callChoice.ts';
import type { StoryList } from '../stories/story.ts';
import { storiesOfCutOff } from '../workspace/keptStories.ts';
import { ignoredChoices } from './ignoredChoices.ts';
import { isIsolated } from './isolation.ts';
import { openRun } from './openRun.ts';
import { type Decision, decide } from './policy.ts';
import type { RunOptions } from './runOptions.ts';
import { readyToStart } from './start.ts';
import { tellPendingHints } from './tellHints.ts';

/**
 * Prints what a run would do first: its settings, the command line of its agent, and the whole first prompt. Reads
 * files and git; starts no process except git, writes nothing.
 * @param earlier the run to continue
 * @param endInWords the sentence for a run that would end before it starts an agent
 * @throws {HumanError} if the run could not start
 */
export async function dryRun(
  options: RunOptions,
  earlier: RunState | undefined,
  endInWords: (
    end: Extract<Decision, { kind: 'end' }>,
    state: RunState,
    stories: StoryList | undefined,
  ) => string,
): Promise<string> {
  const { agent, config, files, prepare } = options;
  const onlyStories = earlier?.onlyStories ?? options.onlyStories;
  const place = userTree(files.workspace, options.storyFile);
  // If nobody has closed the run yet, this is still the current iteration.
  const cutOff = earlier && (cutOffOf(earlier) ?? currentOf(earlier));
  const { before } = await storiesOfCutOff(options, cutOff);
  const snapshot = await readSnapshot(options.storyFile, place.git, before && { stories: before });
  const { template, warnings } = await readyToStart(options, place.git, snapshot, { earlier });
  const isolated = isIsolated(options, earlier);
  const ignored = ignoredChoices(agent, snapshot.stories?.stories ?? []);
  const facts = [
    `Workspace: ${files.workspace}`,
    `Story file: ${options.storyFile ?? 'none'}`,
    ...(onlyStories === undefined ? [] : [`Stories: only ${onlyStories.join(', ')}`]),
    `Agent: ${[agent.id, config.model].filter(Boolean).join(', ')}`,
    `Iterations: at most ${config.maxIterations}`,
    `Checks: ${config.verify.length === 0 ? 'none' : config.verify.join(' && ')}`,
    `Reviewer: ${config.reviewer ? 'yes' : 'no'}`,
    `Budget: ${budgetWords(config, agent.id)}`,
    `Lanes: ${isolated ? `${config.lanes}, each agent in a clone of its own` : 'one agent, in your work tree'}`,
    ...(isolated
      ? [`Branch: work lands on ${landsOn(config.branch, snapshot.stories, snapshot.branch)}`]
      : snapshot.stories?.branchName && config.branch === 'checkout'
        ? [`Branch: ${snapshot.stories.branchName}`]
        : []),
    ...(cutOff === undefined
      ? []
      : [`Judged first: iteration ${cutOff.number}, which was cut off`]),
    ...[...warnings, ...(ignored === undefined ? [] : [ignored])].map(
      warning => `Warning: ${englishOf(warning)}`,
    ),
  ];
  if (prepare !== undefined) {
    return `${facts.join('\n')}\n\nThe stories would be written first (${prepare.kind === 'plan' ? 'by a planning agent' : prepare.tasks.length === 1 ? 'one for 1 task' : `one for each of ${prepare.tasks.length} tasks`}), so there is no first prompt yet.\n`;
  }
  const state =
    (earlier && wentOn(options, earlier)) ?? (onlyStories && { ...INITIAL_RUN_STATE, onlyStories });
  // Without a listener: events of a run that does not exist would be printed between these lines.
  const { onEvent: _onEvent, ...unwatched } = options;
  const code = new CodeSearch(undefined, { wait: true });
  const run = openRun(unwatched, new UnstoredJournal(state), {
    code,
    look: async () => undefined,
    followStories: async () => undefined,
    resume: () => new AbortController().signal,
  });
  let decision = firstStep(run, snapshot);
  while (decision.kind === 'later') {
    const { iterations, story } = decision;
    run.journal.append({ type: 'story.stuck', storyId: story.id, iterations, action: 'later' });
    decision = firstStep(run, snapshot);
  }
  const start = decision.kind === 'start' ? decision.starts[0] : undefined;
  if (start === undefined) {
    const why =
      decision.kind === 'end'
        ? endInWords(decision, run.state(), snapshot.stories)
        : decision.kind === 'skip'
          ? `${decision.story.id} would be left alone, since it makes no progress.`
          : 'The run would wait for you.';
    return `${facts.join('\n')}\n\nNo agent would be started. ${why}\n`;
  }
  // Its prompt includes them; they are not removed.
  await tellPendingHints(run, snapshot, start.story);
  const { prompt, sections } = await new Briefer(run, template, snapshot).brief({
    iteration: start.iteration,
    story: start.story,
    place,
    before: snapshot,
  });
  await code.dispose();
  const choice = start.story === undefined ? {} : choiceOf(start.story);
  const nothing = { run: () => 0, iteration: () => 0 };
  const maxBudgetUsd = new BudgetLedger(config, nothing).reserve(start.iteration).usd;
  const request = agentRequest(config, {
    cwd: files.workspace,
    prompt,
    ...choice,
    promptFile: path.join(files.iterationDir(options.runId, start.iteration), 'prompt.md'),
    env: options.env,
    maxBudgetUsd,
  });
  const command = await commandLine(agent, request);
  const made = sections.map(({ name, tokens }) => `${name} ${tokens}`).join(', ');
  const chosen = [
    ...(choice.model === undefined ? [] : [`model ${choice.model}`]),
    ...(choice.effort === undefined ? [] : [`effort ${choice.effort}`]),
    ...(choice.maxTurns === undefined ? [] : [`at most ${choice.maxTurns} turns`]),
  ];
  if (start.story !== undefined && chosen.length > 0) {
    facts.push(`Chosen by ${start.story.id}: ${chosen.join(', ')}`);
  }
  return `${[...facts, `Command: ${command}`, `Prompt: about ${sections.reduce((sum, { tokens }) => sum + tokens, 0)} tokens (${made})`].join('\n')}\n\n${prompt}`;
}

async function commandLine(agent: Agent, request: AgentRequest): Promise<string> {
  const { program } = agent;
  // The run may start nevertheless: such a program comes with the branch of the stories.
  if (program !== undefined && (await agent.find?.(request).catch(() => '')) === '') {
    return `${quoted(program)}, which comes with the branch`;
  }
  const { args, file } = await agent.command(request);
  return [file, ...args].map(quoted).join(' ');
}

function budgetWords({ budgetUsd, iterationBudgetUsd }: RunConfig, agent: Agent['id']): string {
  const budgets = [
    ...(budgetUsd === undefined ? [] : [`$${budgetUsd.toFixed(2)}`]),
    ...(iterationBudgetUsd === undefined
      ? []
      : [`$${iterationBudgetUsd.toFixed(2)} for each iteration`]),
  ];
  return budgets.length === 0
    ? 'none'
    : [...budgets, ...(tellsCost(agent) ? [] : ['not enforced'])].join(', ');
}

/** The state from which the run would continue, ignoring an interrupted iteration, which would be judged first. */
function wentOn({ agent, config, version }: RunOptions, earlier: RunState): RunState {
  const state = applyEvent(earlier, {
    seq: earlier.lastSeq + 1,
    at: new Date().toISOString(),
    type: 'run.resumed',
    version,
    pid: process.pid,
    agent: agent.id,
    maxIterations: config.maxIterations,
    stuckThreshold: config.stuckThreshold,
    verify: config.verify.length === 0 ? undefined : [...config.verify],
    stories: earlier.stories,
  });
  return { ...state, running: [] };
}

function firstStep({ config, state }: Run, snapshot: Snapshot): Decision {
  return decide({
    state: state(),
    stories: snapshot.stories ? snapshot.stories.stories : undefined,
    problems: snapshot.stories?.problems,
    config,
    stopRequested: false,
  });
}

function quoted(argument: string): string {
  return /^[\w./:=,@%+-]+$/.test(argument) ? argument : JSON.stringify(argument);
}
