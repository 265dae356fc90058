import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { messageOf } from '../base/messageOf.ts';
import { EXIT_CODES } from '../orchestrator/journal/eventCodes.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { newestRun, RunWatcher, type WatchedRun } from '../orchestrator/workspace/runWatcher.ts';
import { statusData } from '../presentation/statusData.ts';
import { statusText } from '../presentation/statusText.ts';
import { cwdOption } from './arguments.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { tellIfSuspended } from './loopEnd.ts';
import { eventPrinter, print, printJson } from './print.ts';
import { noRunHere } from './runs.ts';

/** `ralph-fresh status`: shows the run here; follows it to its end if asked to. */
export function addStatusCommand(program: Command): void {
  program
    .command('status')
    .description('show the state of the run in this folder')
    .addOption(cwdOption())
    .option('--json', 'as data: run, outcome, iteration, stories, cost (docs/json-output.md)')
    .option(
      '--watch',
      'then follow the run until it ends; "ralph-fresh logs" shows what happened before',
    )
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
      print(await stateOf(files, run));
      if (run.alive) {
        await tellIfSuspended(files);
      }
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

/**
 * Follows the newest run until it ends: first its state, then what happens from now on. As data, every event, also
 * those of before.
 * @returns the run's exit code; 0 if there is none
 */
async function watchUntilEnd(files: RunFiles, watcher: RunWatcher, json: boolean): Promise<number> {
  const ended = new Promise<number>((resolve, reject) => {
    // What the state says already is only described, because later sentences may need it.
    let isStateTold = false;
    const newPrinter = () => eventPrinter({ isShown: () => isStateTold });
    let shown = { runId: '', printEvent: newPrinter() };
    // In order: to read the state takes time, and what happens meanwhile comes after it.
    let told = Promise.resolve();
    const then = (tell: () => void | Promise<void>) => {
      told = told.then(tell);
      told.catch(reject);
    };
    watcher.onDidReadEvents(({ events, runId }) =>
      then(() => {
        if (runId !== shown.runId) {
          shown = { runId, printEvent: newPrinter() };
        }
        for (const event of events) {
          if (json) {
            printJson(event, 0);
          } else {
            shown.printEvent(event);
          }
        }
      }),
    );
    watcher.onDidChange(run => {
      const code = exitCodeOf(run);
      if (code !== undefined) {
        // Nothing is told after the end.
        watcher.dispose();
      }
      then(async () => {
        if (json) {
          if (run.runId === undefined) {
            print('null');
          }
        } else if (!isStateTold || (code !== undefined && run.state.phase !== 'ended')) {
          print(await stateOf(files, run));
          if (run.alive) {
            await tellIfSuspended(files);
          }
        }
        isStateTold = true;
        if (code !== undefined) {
          resolve(code);
        }
      });
    });
  });
  await watcher.start();
  return ended;
}

/** `undefined` while the run continues. */
function exitCodeOf({ alive, runId, state }: WatchedRun): number | undefined {
  if (runId === undefined || (state.phase === 'idle' && !alive)) {
    return 0;
  }
  if (state.phase === 'ended') {
    return state.exitCode ?? EXIT_FAILURE;
  }
  return alive ? undefined : EXIT_CODES.interrupted;
}

async function stateOf(files: RunFiles, run: WatchedRun): Promise<string> {
  return run.state.phase === 'idle' && !run.alive ? noRunHere(files) : statusText(files, run);
}
