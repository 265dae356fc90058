import type { Command } from 'commander';
import { HumanError } from '../orchestrator/humanError.ts';
import { EXIT_CODES } from '../orchestrator/run/eventCodes.ts';
import { RunFiles } from '../orchestrator/run/runFiles.ts';
import { RunWatcher } from '../orchestrator/run/runWatcher.ts';
import { statusData, statusText } from '../presentation/status.ts';
import { cwdOption } from './arguments.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { eventPrinter, print, printJson } from './print.ts';

/** `ralph-fresh status`: the run here, once or until it ends. */
export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('tell how the run here stands')
    .addOption(cwdOption())
    .option('--json', 'as data: run, outcome, iteration, stories, cost (docs/json-output.md)')
    .option('--watch', 'follow the run until it ends')
    .action(async (flags: { cwd: string; json?: true; watch?: true }) => {
      process.exitCode = await status(flags);
    });
}

async function status(flags: { cwd: string; json?: true; watch?: true }): Promise<number> {
  const files = new RunFiles(flags.cwd);
  const watcher = new RunWatcher(files);
  const failed = new Promise<never>((_resolve, reject) => {
    watcher.onError(error =>
      reject(new HumanError(`The run's files cannot be read: ${error.message}`, { cause: error })),
    );
  });
  // Met by the races below; without one of them nobody else would.
  failed.catch(() => undefined);
  try {
    if (!flags.watch) {
      await Promise.race([failed, watcher.start()]);
      if (flags.json) {
        printJson(await statusData(files, watcher.current));
      } else {
        print(await statusText(files, watcher.current));
      }
      return 0;
    }
    return await Promise.race([failed, watchUntilEnd(files, watcher, flags.json === true)]);
  } finally {
    watcher.dispose();
  }
}

/** Follows the newest run until it ends. @returns the run's exit code; 0 when there is none */
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
        print(json ? 'null' : 'No run in this folder yet. Start one with "ralph-fresh run".');
        resolve(0);
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
