import path from 'node:path';
import { type Command, Option } from 'commander';
import { say } from '../base/say.ts';
import { draftSplit } from '../orchestrator/planner/splitStory.ts';
import { readStoryText } from '../orchestrator/planner/writePlan.ts';
import { requireNobodyWorks, writeSplit } from '../orchestrator/planner/writeSplit.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { draftByAgent } from './draftByAgent.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { takesOneText } from './oneText.ts';
import { forPeople } from './people.ts';
import { print, printJson, printJsonText, tellUnwritten } from './print.ts';
import { addPlannerFlags } from './settingFlags.ts';
import { fileOption, findStory } from './storyFiles.ts';

interface SplitFlags extends Flags {
  readonly hint?: string;
  readonly write?: true;
  readonly attached?: true;
}

/** `ralph-fresh split`: splits one story into several smaller ones. */
export function addSplitCommand(program: Command): void {
  const command = takesOneText(forPeople(program.command('split')))
    .description('let a planning agent split a story into two to five smaller ones, and print them')
    .argument(
      '<story>',
      'id of an open story; only stories in a JSON file such as prd.json can be split',
    )
    .addOption(cwdOption())
    .addOption(fileOption())
    .option('--hint <text>', 'what the planning agent should know')
    .option('--write', 'write the story file')
    .option('--json', 'as data: storyFile, text, stories, attempts, costUsd')
    .addOption(new Option('--attached').hideHelp());
  addPlannerFlags(command, 'plans').action(async (storyId: string, flags: SplitFlags) => {
    process.exitCode = await split(storyId, flags, command);
  });
}

async function split(typed: string, flags: SplitFlags, command: Command): Promise<number> {
  const files = new RunFiles(flags.cwd);
  const { file, story } = await findStory(files, typed, flags.file);
  const storyId = story.id;
  const storyFile = path.resolve(files.workspace, file);
  await requireNobodyWorks(files);
  const before = await readStoryText(storyFile);
  const draft = await draftByAgent(
    command,
    {
      ...{ task: '', files, storyFile },
      make: options => draftSplit(options, storyId, flags.hint?.trim() ?? ''),
      demoCannot: say(
        'The demo agent only plays back prepared work, so it cannot split a story. Choose the agent claude or sdk for that (--agent, setting ralphFresh.agent).',
      ),
    },
    flags.attached === true,
  );
  if (draft === undefined) {
    return EXIT_FAILURE;
  }
  if (flags.write) {
    await writeSplit(files, storyFile, { before: before ?? '', after: draft.text });
  }
  if (flags.json) {
    printJson({ storyFile, ...draft });
  } else if (flags.write) {
    print(`${storyId} is ${draft.stories} stories now, in ${storyFile}.`);
  } else {
    printJsonText(draft.text.trimEnd());
    tellUnwritten(storyFile);
  }
  return 0;
}
