import { type Command, Option } from 'commander';
import { HumanError } from '../orchestrator/humanError.ts';
import { closeRunFoundDead } from '../orchestrator/recovery.ts';
import type { StopMode } from '../orchestrator/run/events.ts';
import { postRequest } from '../orchestrator/run/inbox.ts';
import { readJournal } from '../orchestrator/run/journal.ts';
import { livingRun } from '../orchestrator/run/livingRun.ts';
import { isRunning } from '../orchestrator/run/processIdentity.ts';
import { isRunId, RunFiles } from '../orchestrator/run/runFiles.ts';
import type { LockOwner } from '../orchestrator/run/runLock.ts';
import { english, outcomeSentence } from '../presentation/sentences.ts';
import { cwdOption } from './arguments.ts';
import { print } from './print.ts';

/** `ralph-fresh stop`: ends the run here and waits until nothing of it is left. */
export function addStopCommand(program: Command): void {
  program
    .command('stop')
    .description('end the run here and wait until nothing of it is left')
    .addOption(cwdOption())
    .addOption(
      new Option('--now', 'do not give the agent time to end itself').conflicts('afterIteration'),
    )
    .option('--after-iteration', 'let the agent finish its iteration first')
    .action(async (flags: { cwd: string; now?: true; afterIteration?: true }) => {
      const mode = flags.now ? 'kill' : flags.afterIteration ? 'afterIteration' : 'end';
      process.exitCode = await stop(flags.cwd, mode);
    });
}

async function stop(cwd: string, mode: StopMode): Promise<number> {
  const files = new RunFiles(cwd);
  const owner = await livingRun(files);
  if (owner?.runId === undefined || !isRunId(owner.runId)) {
    print(
      (await closeRunFoundDead(files))
        ? 'The loop had been killed. What it left running is ended; run again to go on.'
        : 'No run is going on in this folder.',
    );
    return 0;
  }
  const { runId } = owner;
  await postRequest(files, runId, { type: 'stop', mode });
  if (mode === 'afterIteration') {
    print('The run will end after this iteration. Ctrl-C ends only this waiting.');
  }
  await ended(files, owner);
  const last = (await readJournal(files.journalFile(runId))).at(-1);
  if (last?.type !== 'run.ended') {
    // It was killed while it ended.
    await closeRunFoundDead(files);
    throw new HumanError(
      'The run was killed before it could say how it ended. "ralph-fresh status" tells how far it came.',
    );
  }
  print(outcomeSentence(last, english).text);
  return 0;
}

/** Waits until the loop has given back its lock and its process is gone. */
async function ended(files: RunFiles, { pid, startId, runId }: LockOwner): Promise<void> {
  const identity = startId === undefined ? { pid } : { pid, startId };
  while ((await livingRun(files))?.runId === runId || (await isRunning(identity))) {
    await new Promise(resolve => setTimeout(resolve, 50));
  }
}
