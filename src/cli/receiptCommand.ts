import { Argument, type Command } from 'commander';
import { receiptOf } from '../orchestrator/receipts.ts';
import { readJournal } from '../orchestrator/run/journal.ts';
import { RunFiles } from '../orchestrator/run/runFiles.ts';
import { iterationText, receiptText } from '../presentation/receiptTable.ts';
import { count, cwdOption } from './arguments.ts';
import { print, printJson } from './print.ts';
import { noIteration, requireRunId, runOption } from './runs.ts';

/** `ralph-fresh receipt`: what the iterations of a run took, brought and cost. */
export function addReceiptCommand(program: Command): void {
  program
    .command('receipt')
    .description('tell what the iterations of the newest run took, brought and cost')
    .addArgument(new Argument('[iteration]', 'this one alone').argParser(count))
    .addOption(cwdOption())
    .addOption(runOption())
    .option('--json', 'as data: run, iterations, stories, total (docs/json-output.md)')
    .action(receipt);
}

async function receipt(
  iteration: number | undefined,
  { cwd, json, run }: { cwd: string; json?: true; run?: string },
): Promise<void> {
  const files = new RunFiles(cwd);
  const runId = await requireRunId(files, run);
  const events = await readJournal(files.journalFile(runId));
  const data = { ...receiptOf(events, iteration), run: runId };
  if (iteration !== undefined && data.iterations.length === 0) {
    const known = receiptOf(events).iterations.map(({ iteration }) => iteration);
    throw noIteration(iteration, runId, known);
  }
  if (json) {
    printJson(data);
  } else {
    print(iteration === undefined ? receiptText(data) : iterationText(data));
  }
}
