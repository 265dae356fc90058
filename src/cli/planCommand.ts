import path from 'node:path';
import { type Command, Option } from 'commander';
import { say } from '../base/say.ts';
import { UsageError } from '../base/usageError.ts';
import { readStoryText, writePlan } from '../orchestrator/planner/writePlan.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { draftByAgent } from './draftByAgent.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { takesOneText } from './oneText.ts';
import { forPeople } from './people.ts';
import { print, printJson, printJsonText, tellUnwritten } from './print.ts';
import { addPlannerFlags } from './settingFlags.ts';
import { OWN_STORY_FILE } from './storyFiles.ts';

interface PlanFlags extends Flags {
  readonly write?: true;
  readonly attached?: true;
}

/** `ralph-fresh plan`: drafts the stories of a task, without a run. */
export function addPlanCommand(program: Command): void {
  const command = takesOneText(forPeople(program.command('plan')))
    .description('let a planning agent turn a task into stories, and print them; starts no run')
    .argument('<task>', 'what the stories should achieve')
    .addOption(cwdOption())
    .option('--file <path>', 'story file that they are for; default: .omc/prd.json')
    .option('--write', 'write the story file; an existing one goes to .omc/archive')
    .option('--json', 'as data: storyFile, text, stories, attempts, costUsd, archived')
    .addOption(new Option('--attached').hideHelp());
  addPlannerFlags(command, 'plans').action(async (task: string, flags: PlanFlags) => {
    process.exitCode = await plan(task, flags, command);
  });
}

async function plan(task: string, flags: PlanFlags, command: Command): Promise<number> {
  if (task.trim() === '') {
    throw new UsageError(say('There is no task to plan: ralph-fresh plan "your task".'));
  }
  const files = new RunFiles(flags.cwd);
  const storyFile = path.resolve(files.workspace, flags.file ?? OWN_STORY_FILE);
  const before = { text: await readStoryText(storyFile) };
  const draft = await draftByAgent(command, { task, files, storyFile }, flags.attached === true);
  if (draft === undefined) {
    return EXIT_FAILURE;
  }
  const written = flags.write
    ? await writePlan({ files, storyFile, content: draft.text, before })
    : {};
  if (flags.json) {
    printJson({ storyFile, ...draft, ...written });
  } else if (flags.write) {
    const kept =
      written.archived === undefined ? '' : ` The previous file is in ${written.archived}.`;
    const count = draft.stories === 1 ? '1 story' : `${draft.stories} stories`;
    print(`Wrote ${count} to ${storyFile}.${kept}`);
  } else {
    printJsonText(draft.text.trimEnd());
    tellUnwritten(storyFile);
  }
  return 0;
}
