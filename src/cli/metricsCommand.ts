import type { Command } from 'commander';
import { readJournal } from '../orchestrator/journal/journal.ts';
import {
  orderViolations,
  type RunMetrics,
  runMetrics,
} from '../orchestrator/journal/runMetrics.ts';
import { readStoryFileOrThrow } from '../orchestrator/stories/storyFile.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { begunRunIds } from '../orchestrator/workspace/runIds.ts';
import { metricsText } from '../presentation/metricsText.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { print, printJson } from './print.ts';
import { noRunHere } from './runs.ts';
import { fileOption, storyFileOf } from './storyFiles.ts';

/** `ralph-fresh metrics`: how well agents are guided, over the runs of a folder. */
export function addMetricsCommand(program: Command): void {
  program
    .command('metrics')
    .description('show how well agents are led to the code, and what prompts cost, run by run')
    .addOption(cwdOption())
    .addOption(fileOption())
    .option('--json', 'as data: runs, violations (docs/json-output.md)')
    .action(metrics);
}

async function metrics({ cwd, file, json }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const runs: RunMetrics[] = [];
  for (const runId of await begunRunIds(files)) {
    const found = runMetrics(await readJournal(files.journalFile(runId)));
    runs.push(...(found === undefined ? [] : [found]));
  }
  const violations = orderViolations(
    runs.flatMap(({ done }) => done),
    await storiesIn(files, file),
  );
  if (json) {
    printJson({ runs, violations });
  } else {
    print(runs.length === 0 ? await noRunHere(files) : metricsText(runs, violations));
  }
}

/** The stories of now, for their dependencies; none without a readable story file. */
async function storiesIn(files: RunFiles, named: string | undefined) {
  const file = await storyFileOf(files, named);
  if (file === undefined) {
    return [];
  }
  const list = await readStoryFileOrThrow(file);
  return list.kind === 'stories' ? list.stories : [];
}
