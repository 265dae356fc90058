import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { messageOf } from '../base/messageOf.ts';
import { EXIT_CODES } from '../orchestrator/journal/eventCodes.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { newestRun, RunWatcher } from '../orchestrator/workspace/runWatcher.ts';
import { statusData } from '../presentation/statusData.ts';
import { statusText } from '../presentation/statusText.ts';
import { cwdOption } from './arguments.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { eventPrinter, print, printJson } from './print.ts';
import { noRunHere } from './runs.ts';

/** `ralph-fresh status`: shows the run here, once or until it ends. */
export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('show the state of the run in this folder')
    .addOption(cwdOption())
    .option('--json', 'as data: run, outcome, iteration, stories, cost (docs/json-output.md)')
    .option('--watch', 'follow the run until it ends')
    .action(async (flags: { cwd: string; json?: true; watch?: true }) => {
      process.exitCode = await status(flags);
    });
}

async function status(flags: { cwd: string; json?: true; watch?: true }): Promise<number> {
  const files = new RunFiles(flags.cwd);
  if (!flags.watch) {
    const run = await newestRun(files).catch((error: unknown) => {
      throw unreadable(error);
    });
    if (flags.json) {
      printJson(await statusData(files, run, true));
    } else {
      print(
        run.state.phase === 'idle' && !run.alive
          ? await noRunHere(files)
          : await statusText(files, run),
      );
    }
    return 0;
  }
  const watcher = new RunWatcher(files);
  const failed = new Promise<never>((_resolve, reject) => {
    watcher.onError(error => reject(unreadable(error)));
  });
  // Handled by the races below; if none of them is running, the rejection must not be unhandled.
  failed.catch(() => undefined);
  try {
    return await Promise.race([failed, watchUntilEnd(files, watcher, flags.json === true)]);
  } finally {
    watcher.dispose();
  }
}

function unreadable(error: unknown): HumanError {
  return new HumanError(`The run's files cannot be read: ${messageOf(error)}`, { cause: error });
}

/** Follows the newest run until it ends. @returns the run's exit code; 0 if there is none */
async function watchUntilEnd(files: RunFiles, watcher: RunWatcher, json: boolean): Promise<number> {
  const ended = new Promise<number>((resolve, reject) => {
    let told: Promise<void> | undefined;
    let shown = { runId: '', printEvent: eventPrinter() };
    watcher.onDidReadEvents(({ events, runId }) => {
      if (runId !== shown.runId) {
        shown = { runId, printEvent: eventPrinter() };
      }
      for (const event of events) {
        if (json) {
          printJson(event, 0);
        } else {
          shown.printEvent(event);
        }
      }
    });
    watcher.onDidChange(({ runId, state, alive }) => {
      if (runId === undefined) {
        told ??= (json ? Promise.resolve('null') : noRunHere(files)).then(print);
        told.then(() => resolve(0), reject);
      } else if (state.phase === 'ended') {
        resolve(state.exitCode ?? EXIT_FAILURE);
      } else if (!alive) {
        told ??= json ? Promise.resolve() : statusText(files, watcher.current).then(print);
        told.then(() => resolve(EXIT_CODES.interrupted), reject);
      }
    });
  });
  await watcher.start();
  return ended;
}
