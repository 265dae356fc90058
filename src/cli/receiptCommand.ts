import { Argument, type Command } from 'commander';
import { readDecisions } from '../orchestrator/journal/journal.ts';
import { receiptOf } from '../orchestrator/journal/receipt.ts';
import { readStoryList } from '../orchestrator/stories/storyFile.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { iterationText, receiptData, receiptText } from '../presentation/receiptTable.ts';
import { waitingIn } from '../presentation/statusFacts.ts';
import { discoveredLine } from '../presentation/storyListText.ts';
import { english } from '../presentation/translate.ts';
import { countArgument, cwdOption, type Flags } from './arguments.ts';
import { print, printJson, tell } from './print.ts';
import { cutOffJournal, noIteration, requireRun, runOption, tellPassedOver } from './runs.ts';
import { storyFileOf } from './storyFiles.ts';

/** `ralph-fresh receipt`: duration, results and cost of a run's iterations. */
export function addReceiptCommand(program: Command): void {
  program
    .command('receipt')
    .description('show the duration, result and cost of each iteration of the newest run')
    .addArgument(
      new Argument('[iteration]', 'only this iteration').argParser(
        countArgument('an iteration', 'receipt'),
      ),
    )
    .addOption(cwdOption())
    .addOption(runOption())
    .option('--json', 'as data: run, iterations, stories, total (docs/json-output.md)')
    .action(receipt);
}

async function receipt(iteration: number | undefined, { cwd, json, run }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  const chosen = await requireRun(files, run);
  const { runId } = chosen;
  const events = await readDecisions(files.journalFile(runId));
  const data = { ...receiptOf(events, iteration), run: runId };
  const ended = events.flatMap(event =>
    event.type === 'iteration.ended' ? [event.iteration] : [],
  );
  const problem = await cutOffJournal(files, runId, ended);
  if (problem !== undefined) {
    tell(problem);
  }
  if (iteration !== undefined && data.iterations.length === 0) {
    const known = receiptOf(events).iterations.map(({ iteration }) => iteration);
    throw noIteration(iteration, chosen, known);
  }
  tellPassedOver(chosen, json === true);
  if (iteration !== undefined) {
    if (json) {
      printJson(receiptData(data, events));
    } else {
      print(iterationText(data, events));
    }
    return;
  }
  const storyFile = await storyFileOf(files, undefined);
  const stories = storyFile === undefined ? undefined : await readStoryList(storyFile);
  const discovered = (await waitingIn(files, stories)).length;
  if (json) {
    printJson({ ...receiptData(data, events), discovered });
  } else {
    // 0 in a terminal that does not know its size.
    const columns = process.stdout.columns || undefined;
    print([receiptText(data, english, columns), ...discoveredLine(discovered)].join('\n'));
  }
}
