import path from 'node:path';
import { type Command, Option } from 'commander';
import { say } from '../base/say.ts';
import { UsageError } from '../base/usageError.ts';
import type { AgentWords } from '../orchestrator/context/pin/generatedLines.ts';
import { draftPin, type PinDraft, writePin } from '../orchestrator/context/pin/pinFile.ts';
import { readProjectCode } from '../orchestrator/context/pin/projectCode.ts';
import { exclusively } from '../orchestrator/loop/exclusiveWork.ts';
import { askForKeywords } from '../orchestrator/planner/enrichPin.ts';
import { allowOutsideLinks } from '../orchestrator/stories/outsideLinks.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { draftByAgent } from './draftByAgent.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { forPeople } from './people.ts';
import { print, printAside, printJson } from './print.ts';
import { addPlannerFlags, settingsOf } from './settingFlags.ts';

interface PinFlags extends Flags {
  readonly enrich?: true;
  readonly dryRun?: true;
  readonly attached?: true;
}

/** `ralph-fresh pin`: generates or updates `specs/INDEX.md`. */
export function addPinCommand(program: Command): void {
  const command = forPeople(program.command('pin'))
    .description('generate or update specs/INDEX.md: the parts of the project with keywords')
    .addOption(cwdOption())
    .option('--enrich', 'let an agent add descriptions, and words that people search for')
    .option('--dry-run', 'print the text, and write nothing')
    .option('--json', 'as data: file, changed, entries (docs/json-output.md)')
    .addOption(new Option('--attached').hideHelp());
  addPlannerFlags(command, 'writes the words').action(async (flags: PinFlags) => {
    process.exitCode = await pin(flags, command);
  });
}

async function pin(flags: PinFlags, command: Command): Promise<number> {
  const { outsideLinks = [], ...ofAgents } = settingsOf(command);
  if (!flags.enrich && Object.keys(ofAgents).length > 0) {
    throw new UsageError(
      say('Only --enrich asks an agent, so the settings of an agent have no effect. Add --enrich.'),
    );
  }
  allowOutsideLinks(outsideLinks);
  const files = new RunFiles(flags.cwd);
  const code = await readProjectCode(files.workspace);
  const make = (said?: ReadonlyMap<string, AgentWords>): Promise<PinDraft> =>
    flags.dryRun
      ? draftPin(files.workspace, code, said)
      : exclusively(files, () => writePin(files.workspace, code, said));
  const first = await make();
  if (!flags.enrich || first.entries.length === 0) {
    tell(first, flags, first.before);
    return 0;
  }
  if (!flags.json && !flags.dryRun) {
    // It is written, and good, whatever becomes of the agent.
    tell(first, flags, first.before);
  }
  let said: ReadonlyMap<string, AgentWords> | undefined;
  const answer = await draftByAgent(
    command,
    {
      ...{ task: '', files, storyFile: first.file },
      make: options =>
        askForKeywords(options, first.entries, words => {
          said = words;
        }),
      demoCannot: say(
        'The demo agent only plays back prepared work, so it knows no keywords. Choose the agent claude or sdk for that (--agent, setting ralphFresh.agent).',
      ),
    },
    flags.attached === true,
  );
  if (answer === undefined) {
    return EXIT_FAILURE;
  }
  const { costUsd, stories: described } = answer;
  tell(await make(said), flags, first.before, { described, costUsd });
  return 0;
}

function tell(
  draft: PinDraft,
  { cwd, dryRun, json }: PinFlags,
  before: Buffer | undefined,
  agent?: { readonly described: number; readonly costUsd: number | undefined },
): void {
  const file = path.relative(cwd, draft.file);
  const changed = !(before ?? Buffer.alloc(0)).equals(draft.after);
  if (json) {
    printJson({
      ...{ file: draft.file, changed, written: changed && !dryRun },
      entries: draft.entries.map(({ files, isGenerated, keywords, stale, title }) => ({
        ...{ title, isGenerated, keywords, stale },
        files: files.map(one => one.path),
      })),
      text: dryRun ? draft.after.toString('utf8') : undefined,
      ...agent,
    });
    return;
  }
  if (dryRun) {
    print(draft.after.toString('utf8').trimEnd());
    printAside(
      changed
        ? `Nothing is written. Without --dry-run, this is ${file}.`
        : `Nothing would change in ${file}.`,
    );
    return;
  }
  if (agent !== undefined) {
    print(`An agent described ${agent.described} of them.`);
    return;
  }
  const { entries } = draft;
  const generated = entries.filter(({ isGenerated }) => isGenerated).length;
  const isOne = entries.length === 1;
  const count = isOne ? '1 entry' : `${entries.length} entries`;
  const origin = !isOne ? `, ${generated} of them generated` : generated === 1 ? ', generated' : '';
  print(changed ? `Wrote ${file}: ${count}${origin}.` : `${file} is up to date: ${count}.`);
  for (const { stale, title } of entries) {
    for (const { path: gone, since } of stale) {
      print(
        `${title}: ${gone} ${since === undefined ? 'does not exist' : `is gone since ${since}`}`,
      );
    }
  }
}
