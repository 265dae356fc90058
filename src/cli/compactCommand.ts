import { existsSync } from 'node:fs';
import type { Command } from 'commander';
import {
  compactionLimits,
  planCompaction,
  requireReadableLog,
  writeCompaction,
} from '../orchestrator/loop/compactProgress.ts';
import { AlreadyRunningError, alone } from '../orchestrator/loop/exclusiveWork.ts';
import { progressFileOf } from '../orchestrator/run/runWork.ts';
import { configOf, givenSettings } from '../orchestrator/settings/settings.ts';
import { DEFAULT_SETTINGS } from '../orchestrator/settings/settingTable.ts';
import { livingRun } from '../orchestrator/workspace/livingRun.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { forPeople } from './people.ts';
import { print, printJson } from './print.ts';
import { fileOption, storyFileOf } from './storyFiles.ts';

interface CompactFlags extends Flags {
  readonly dryRun?: true;
}

/** `ralph-fresh compact`: condenses the older entries of the progress log. */
export function addCompactCommand(program: Command): void {
  forPeople(program.command('compact'))
    .description('condense the older entries of the progress log; the text from before is archived')
    .addOption(cwdOption())
    .addOption(fileOption())
    .option('--dry-run', 'only show the new text')
    .option('--json', 'as data: file, linesBefore, linesAfter, … (docs/json-output.md)')
    .action(compact);
}

async function compact({ cwd, dryRun, file: named, json }: CompactFlags): Promise<void> {
  const files = new RunFiles(cwd);
  const loop = await livingRun(files);
  if (loop?.runId !== undefined) {
    throw new AlreadyRunningError(loop);
  }
  const storyFile = await storyFileOf(files, named);
  const file = progressFileOf({ files, ...(storyFile !== undefined && { storyFile }) });
  await requireReadableLog(file);
  const { env, platform } = process;
  const given = await givenSettings({
    ...{ flags: {}, recalled: {}, env, platform },
    workspace: files.workspace,
  });
  const limits = compactionLimits(configOf({ ...DEFAULT_SETTINGS, ...given }));
  const now = new Date();
  const done =
    dryRun === true
      ? { planned: await planCompaction(files, file, now, limits) }
      : await alone(files, async () => {
          const planned = await planCompaction(files, file, now, limits);
          return {
            planned,
            written: planned && (await writeCompaction(files, file, planned, now, limits)),
          };
        });
  const { planned, written } = { written: undefined, ...done };
  const made = written?.made ?? planned;
  if (json) {
    printJson({
      file,
      linesBefore: made?.linesBefore ?? null,
      linesAfter: made?.linesAfter ?? null,
      condensedEntries: made?.condensedEntries ?? 0,
      archive: written?.archive ?? null,
      text: dryRun === true ? (made?.text ?? null) : null,
    });
  } else if (made === undefined) {
    const recent = Math.floor(limits.compactAt / 2);
    print(
      existsSync(file)
        ? `Nothing to condense in ${file}: its patterns and its newest entries (up to ${recent} lines) always stay.`
        : `There is no progress log at ${file} yet. Agents write it during a run.`,
    );
  } else {
    const change = `from ${made.linesBefore} to ${made.linesAfter} lines (older entries condensed: ${made.condensedEntries})`;
    print(
      written === undefined
        ? `Would shorten ${file} ${change}:\n\n${made.text}`
        : `Shortened ${file} ${change}.\nThe text from before: ${written.archive}`,
    );
  }
}
