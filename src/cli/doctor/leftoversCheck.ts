import { existsSync } from 'node:fs';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { deadPlans } from '../../orchestrator/planner/planFolder.ts';
import { readNewestRun } from '../../orchestrator/workspace/runCheckpoint.ts';
import type { Finding } from '../../presentation/doctorReport.ts';
import { killedAt, killedStories } from '../../presentation/runEnd.ts';
import { livingLoop } from '../loopEnd.ts';
import { saysActive } from '../stateFile.ts';
import type { DiagnosedWorkspace } from './diagnosedWorkspace.ts';
import { good, warn } from './findings.ts';

/** Leftovers of a planner that was killed; otherwise those of a loop. */
export async function leftoversCheck(workspace: DiagnosedWorkspace): Promise<readonly Finding[]> {
  const plans = await deadPlans(workspace.files);
  return plans.length === 0
    ? loopLeftovers(workspace)
    : [
        ...(await loopLeftovers(workspace)).filter(({ level }) => level !== 'ok'),
        warn(
          'leftovers',
          'A planner was killed; its agent may still be reading here.',
          'The next "ralph-fresh plan", "split" or "run" ends it, and "ralph-fresh stop" ends it now.',
        ),
      ];
}

async function loopLeftovers({ files }: DiagnosedWorkspace): Promise<readonly Finding[]> {
  const loop = await livingLoop(files);
  if (loop) {
    return [good('leftovers', `A run is active here (process ${loop.pid}).`)];
  }
  const run = await readNewestRun(files);
  if (run?.phase === 'running' || run?.phase === 'stopping') {
    return [
      warn(
        'leftovers',
        `The loop of run ${run.runId} was killed${killedWhere(run)}.`,
        '"ralph-fresh stop" ends what it left running; "ralph-fresh run --resume" continues the run.',
      ),
    ];
  }
  const left = [
    ...(existsSync(files.lockFile) ? [files.lockFile] : []),
    ...((await saysActive(files)) ? [files.stateFile] : []),
  ];
  return [
    left.length === 0
      ? good('leftovers', 'No loop is running here, and none has left anything behind.')
      : warn(
          'leftovers',
          `A dead loop has left behind ${left.join(' and ')}.`,
          '"ralph-fresh cancel" clears the state; the next run takes over the lock.',
        ),
  ];
}

function killedWhere(run: RunState): string {
  const where: Readonly<Record<ReturnType<typeof killedAt>, string>> = {
    beforeFirst: ' before its first iteration',
    afterIteration: ` after iteration ${run.iteration}`,
    inSeveral: ` while agents were working on ${killedStories(run)} stories`,
    inIteration: ` in iteration ${run.iteration}`,
  };
  return where[killedAt(run)];
}
