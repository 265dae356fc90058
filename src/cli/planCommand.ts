import path from 'node:path';
import { type Command, Option } from 'commander';
import { HumanError } from '../orchestrator/humanError.ts';
import { planAlone } from '../orchestrator/planner/planAlone.ts';
import { readStoryText, writePlan } from '../orchestrator/planner/writePlan.ts';
import { RunFiles } from '../orchestrator/run/runFiles.ts';
import {
  agentOf,
  configOf,
  fallbackAgentOf,
  resolveSettings,
} from '../orchestrator/settings/settings.ts';
import { StopSwitch } from '../orchestrator/stopSwitch.ts';
import { UsageError } from '../orchestrator/usageError.ts';
import { cwdOption } from './arguments.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { forPeople } from './people.ts';
import { eventPrinter, print, printJson, printJsonText } from './print.ts';
import { OWN_STORY_FILE } from './runCommand.ts';
import { addPlannerFlags, settingsOf } from './settingFlags.ts';

interface PlanFlags {
  readonly cwd: string;
  readonly file?: string;
  readonly json?: true;
  readonly write?: true;
  readonly attached?: true;
}

/** `ralph-fresh plan`: the stories of a task as a draft, and no run. */
export function addPlanCommand(program: Command): void {
  const command = forPeople(program.command('plan'))
    .description('let a planning agent make stories of a task, and show them; start nothing')
    .argument('<task>', 'what the stories are to achieve')
    .addOption(cwdOption())
    .option('--file <path>', 'story file that they are for; else .omc/prd.json')
    .option('--write', 'write the story file; what was there goes to .omc/archive')
    .option('--json', 'as data: storyFile, text, stories, attempts, costUsd, archived')
    .addOption(new Option('--attached').hideHelp());
  addPlannerFlags(command).action(async (task: string, flags: PlanFlags) => {
    process.exitCode = await plan(task, flags, command);
  });
}

async function plan(task: string, flags: PlanFlags, command: Command): Promise<number> {
  if (task.trim() === '') {
    throw new UsageError('There is no task to plan: ralph-fresh plan "your task".');
  }
  const files = new RunFiles(flags.cwd);
  const storyFile = path.resolve(files.workspace, flags.file ?? OWN_STORY_FILE);
  const settings = await resolveSettings({
    flags: settingsOf(command),
    workspace: files.workspace,
    env: process.env,
    platform: process.platform,
  });
  const fallbackAgent = await fallbackAgentOf(settings, {
    env: process.env,
    workspace: files.workspace,
  });
  const before = { text: await readStoryText(storyFile) };
  const stop = new StopSwitch();
  const result = await stoppable(stop, flags.attached === true, () =>
    planAlone({
      ...{ task, files, storyFile, stop },
      agent: agentOf(settings),
      ...(fallbackAgent && { fallbackAgent }),
      config: configOf(settings),
      env: process.env,
      // What the agent does is shown where a person watches; the draft alone is the output.
      ...(process.stderr.isTTY && { onEvent: eventPrinter(() => true, process.stderr) }),
    }),
  );
  if (result.kind === 'cancelled') {
    return EXIT_FAILURE;
  }
  if (result.kind === 'failed') {
    throw new HumanError(result.message);
  }
  const { kind: _, ...draft } = result;
  const written = flags.write
    ? await writePlan({ files, storyFile, content: draft.text, before })
    : {};
  if (flags.json) {
    printJson({ storyFile, ...draft, ...written });
  } else if (flags.write) {
    const kept = written.archived === undefined ? '' : ` What was there is in ${written.archived}.`;
    print(`Wrote ${draft.stories} stories to ${storyFile}.${kept}`);
  } else {
    printJsonText(draft.text.trimEnd());
  }
  return 0;
}

/** Runs it until a signal comes; attached, also until standard input ends: whoever started it is gone then. */
export async function stoppable<T>(
  stop: StopSwitch,
  isAttached: boolean,
  action: () => Promise<T>,
): Promise<T> {
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
    for (const signal of signals) {
      process.off(signal, end);
    }
    if (isAttached) {
      // An open standard input would keep this process.
      process.stdin.destroy();
    }
  }
}
