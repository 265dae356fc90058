import { existsSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { HumanError } from '../base/humanError.ts';
import { readDecisions } from '../orchestrator/journal/journal.ts';
import type { RunState } from '../orchestrator/journal/runState.ts';
import { resumeCommand } from '../orchestrator/loop/resume.ts';
import { isRunning, isSuspended } from '../orchestrator/process/processIdentity.ts';
import { livingRun } from '../orchestrator/workspace/livingRun.ts';
import { readNewestRun, readRun } from '../orchestrator/workspace/runCheckpoint.ts';
import { isRunId, type RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { newestRunId } from '../orchestrator/workspace/runIds.ts';
import type { LockOwner } from '../orchestrator/workspace/runLock.ts';
import { hasHadState } from '../orchestrator/workspace/stateIgnore.ts';
import { runEnd } from '../presentation/runEnd.ts';
import { outcomeSentence } from '../presentation/sentences.ts';
import { english } from '../presentation/translate.ts';
import { print, tellWarning } from './print.ts';

const LOOK_MS = 50;
/**
 * Maximum time in ms until a loop restores its removed state. It checks once a second, and gives a removal two half
 * seconds to finish (`RequestWatcher`, `RequestDesk`).
 */
const PUT_BACK_MS = 3_000;

/** A loop that is alive, and the run it works on. */
export type LivingLoop = LockOwner & { readonly runId: string };

/** The loop that is alive in this folder, if any. */
export async function livingLoop(files: RunFiles): Promise<LivingLoop | undefined> {
  const owner = await livingRun(files);
  const runId = owner?.runId;
  return owner === undefined || runId === undefined || !isRunId(runId)
    ? undefined
    : { ...owner, runId };
}

/** The state of the run that is active in this folder, if any. */
export async function activeRun(files: RunFiles): Promise<RunState | undefined> {
  const loop = await livingLoop(files);
  return loop && readRun(files, loop.runId);
}

/** Says on standard error if the loop is suspended (Ctrl-Z): until it continues, it takes no request. */
export async function tellIfSuspended(files: RunFiles): Promise<void> {
  const loop = await livingLoop(files);
  if (loop !== undefined && (await isSuspended(loop.pid))) {
    tellWarning(
      `The run is suspended (Ctrl-Z). Its agents continue, but without limits, and it takes no request until it continues: with fg in its terminal, or kill -CONT ${loop.pid}`,
    );
  }
}

/**
 * The loop to end. If the folder has no run, but had one, an agent may just have removed the state (`git clean
 * -fdx`); then this waits until the loop has restored it.
 */
export async function loopToEnd(files: RunFiles): Promise<LivingLoop | undefined> {
  for (const end = Date.now() + PUT_BACK_MS; ; ) {
    // Checked first, since the state may be restored in between.
    const isRemoved = await isStateRemoved(files);
    const loop = await livingLoop(files);
    if (loop !== undefined || !isRemoved || Date.now() > end) {
      return loop;
    }
    await delay(LOOK_MS);
  }
}

async function isStateRemoved(files: RunFiles): Promise<boolean> {
  return (
    !existsSync(files.lockFile) &&
    (await newestRunId(files)) === undefined &&
    (await hasHadState(files))
  );
}

/**
 * Waits until the loop has released its lock and its process has exited, and reports how the run ended.
 * @param whileWaiting called before each check
 * @throws {HumanError} if it was killed before it could record its end
 */
export async function reportEnd(
  files: RunFiles,
  { pid, runId, startId }: LivingLoop,
  whileWaiting: () => Promise<void> = async () => undefined,
): Promise<void> {
  const identity = startId === undefined ? { pid } : { pid, startId };
  while ((await livingRun(files))?.runId === runId || (await isRunning(identity))) {
    await whileWaiting();
    await delay(LOOK_MS);
  }
  // A request that was accepted at the last moment may follow the end.
  const end = (await readDecisions(files.journalFile(runId))).findLast(
    ({ type }) => type === 'run.ended' || type === 'run.started' || type === 'run.resumed',
  );
  if (end?.type !== 'run.ended') {
    const wasKilled = await closeRun(files);
    if (end === undefined && !wasKilled) {
      print('The run was stopped before it had started.');
      return;
    }
    // It was killed while it ended.
    throw new HumanError(
      'The run was killed before it could record how it ended. "ralph-fresh status" shows how far it got.',
    );
  }
  print(outcomeSentence(end, english).text);
}

/** Cleans up after a killed loop or planner, and reports whether there was one. */
export async function reportNoLoop(files: RunFiles): Promise<void> {
  print(
    (await closeRun(files))
      ? 'The loop had been killed. The processes that it left running were ended; run again to continue.'
      : 'No run is active in this folder.',
  );
  const { clearDeadPlans } = await import('../orchestrator/planner/planFolder.ts');
  if ((await clearDeadPlans(files)) > 0) {
    print('A planner had been killed. The processes that it left running were ended.');
  }
}

/** Loaded on demand: brief commands do not close a run. */
async function closeRun(files: RunFiles): Promise<boolean> {
  const { closeRunFoundDead } = await import('../orchestrator/loop/recovery.ts');
  return closeRunFoundDead(files);
}

/** How to continue an ended run. @param flags more flags for the command */
export function howToContinue(state: RunState, flags = ''): string {
  const command = resumeCommand(state);
  const more = flags === '' ? '' : ` ${flags}`;
  return command === undefined
    ? `The last one is complete. Add a story, or reopen one with "ralph-fresh untick ID"; then start a new run with "ralph-fresh run${more}".`
    : `Continue with "${command}${more}".`;
}

/**
 * That a request needs an active run.
 * @param runId run of the loop that was alive when the request was made
 * @param flags for the command that starts one
 */
export async function noLoop(
  files: RunFiles,
  runId: string | undefined,
  flags = '',
): Promise<HumanError> {
  if (runId !== undefined) {
    const state = await readRun(files, runId);
    const end =
      state.outcome === undefined
        ? ''
        : ` ${outcomeSentence(runEnd(state, state.outcome), english).text}`;
    return new HumanError(`The run has ended in the meantime.${end}`);
  }
  const last = await readNewestRun(files);
  const more = flags === '' ? '' : ` ${flags}`;
  return new HumanError(
    // Ticks from before the first run have a journal, too.
    last === undefined || last.phase === 'idle'
      ? `No run is active here. Start one with "ralph-fresh run${more}".`
      : `No run is active here. ${howToContinue(last, flags)}`,
  );
}
