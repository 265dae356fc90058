import { existsSync } from 'node:fs';
import { type Command, Option } from 'commander';
import { say } from '../base/say.ts';
import { UsageError } from '../base/usageError.ts';
import type { Compaction } from '../orchestrator/context/compaction.ts';
import {
  compactionLimits,
  planCompaction,
  requireReadableLog,
  writeCompaction,
} from '../orchestrator/loop/compactProgress.ts';
import { exclusively, requireNoLoop } from '../orchestrator/loop/exclusiveWork.ts';
import { askForSummaries } from '../orchestrator/planner/summarizeLog.ts';
import { progressFileOf } from '../orchestrator/run/runWork.ts';
import { configOf, resolveSettings } from '../orchestrator/settings/settings.ts';
import { allowOutsideLinks } from '../orchestrator/stories/outsideLinks.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { draftByAgent } from './draftByAgent.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { forPeople } from './people.ts';
import { print, printJson } from './print.ts';
import { addPlannerFlags, settingsOf } from './settingFlags.ts';
import { fileOption, storyFileOf } from './storyFiles.ts';

interface CompactFlags extends Flags {
  readonly dryRun?: true;
  readonly summarize?: true;
  readonly attached?: true;
}

/** `ralph-fresh compact`: condenses the older entries of the progress log. */
export function addCompactCommand(program: Command): void {
  const command = forPeople(program.command('compact'))
    .description('condense the older entries of the progress log; the text from before is archived')
    .addOption(cwdOption())
    .addOption(fileOption())
    .option('--summarize', 'let an agent that only reads say what the older entries teach')
    .option('--dry-run', 'only show the new text')
    .option('--json', 'as data: file, linesBefore, linesAfter, … (docs/json-output.md)')
    .addOption(new Option('--attached').hideHelp());
  addPlannerFlags(command, 'writes the summaries').action(async (flags: CompactFlags) => {
    process.exitCode = await compact(flags, command);
  });
}

async function compact(flags: CompactFlags, command: Command): Promise<number> {
  const { dryRun, file: named, summarize } = flags;
  const { outsideLinks = [], ...ofAgents } = settingsOf(command);
  if (!summarize && Object.keys(ofAgents).length > 0) {
    throw new UsageError(
      say(
        'Only --summarize asks an agent, so the settings of an agent have no effect. Add --summarize.',
      ),
    );
  }
  allowOutsideLinks(outsideLinks);
  const files = new RunFiles(flags.cwd);
  await requireNoLoop(files);
  const storyFile = await storyFileOf(files, named);
  const file = progressFileOf({ files, storyFile });
  await requireReadableLog(file);
  const limits = compactionLimits(configOf(await resolveSettings({ workspace: files.workspace })));
  const now = new Date();
  const found = await planCompaction(files, file, now, limits);
  if (found === undefined) {
    tell({ file, limits, flags });
    return 0;
  }
  let summaries: ReadonlyMap<string, readonly string[]> | undefined;
  let agent:
    | { readonly summarizedEntries: number; readonly costUsd: number | undefined }
    | undefined;
  if (summarize && found.entries.length > 0) {
    const answer = await draftByAgent(
      command,
      {
        ...{ task: '', files, storyFile: file },
        make: options =>
          askForSummaries(options, found.entries, said => {
            summaries = said;
          }),
        demoCannot: say(
          'The demo agent only plays back prepared work, so it cannot summarize. Choose the agent claude or sdk for that (--agent, setting ralphFresh.agent).',
        ),
      },
      flags.attached === true,
    );
    if (answer === undefined) {
      return EXIT_FAILURE;
    }
    agent = { summarizedEntries: answer.stories, costUsd: answer.costUsd };
  }
  const all = { ...limits, summaries };
  if (dryRun) {
    tell({ file, limits, flags, made: await planCompaction(files, file, now, all), agent });
    return 0;
  }
  // What was summarized must still be what stands there.
  const written = await exclusively(files, () => writeCompaction(files, file, found, now, all));
  tell({ file, limits, flags, agent, ...written });
  return 0;
}

interface Told {
  readonly file: string;
  readonly limits: { readonly compactAt: number };
  readonly flags: CompactFlags;
  /** Absent: there was nothing to condense. */
  readonly made?: Compaction | undefined;
  readonly archive?: string;
  readonly agent?:
    | { readonly summarizedEntries: number; readonly costUsd: number | undefined }
    | undefined;
}

function tell({ agent, archive, file, flags, limits, made }: Told): void {
  if (flags.json) {
    printJson({
      file,
      linesBefore: made?.linesBefore ?? null,
      linesAfter: made?.linesAfter ?? null,
      condensedEntries: made?.condensedEntries ?? 0,
      archive: archive ?? null,
      text: flags.dryRun ? (made?.text ?? null) : null,
      ...agent,
    });
  } else if (made === undefined) {
    const recent = Math.floor(limits.compactAt / 2);
    print(
      existsSync(file)
        ? `Nothing to condense in ${file}: its patterns and its newest entries (up to ${recent} lines) always stay.`
        : `There is no progress log at ${file} yet. Agents write it during a run.`,
    );
  } else {
    const by = agent === undefined ? '' : `, ${agent.summarizedEntries} of them by an agent`;
    const change = `from ${made.linesBefore} to ${made.linesAfter} lines (older entries condensed: ${made.condensedEntries}${by})`;
    print(
      archive === undefined
        ? `Would shorten ${file} ${change}:\n\n${made.text}`
        : `Shortened ${file} ${change}.\nThe text from before: ${archive}`,
    );
  }
}
