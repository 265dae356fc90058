import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { readSnapshot } from '../iteration/snapshot.ts';
import type { Decision } from '../loop/policy.ts';
import type { RunContext } from '../loop/runContext.ts';
import { isPlannedFor } from './plannedTask.ts';
import { planStories } from './planner.ts';
import { writeTaskStories } from './taskStories.ts';

/**
 * Makes the stories of a run before its first iteration, by a planning agent or from a list of tasks. The
 * same command again finds the stories it has made before and goes on with them.
 * @returns the end of the run when there are no stories to go on with
 */
export async function prepareStories(
  context: RunContext,
): Promise<Extract<Decision, { kind: 'end' }> | undefined> {
  const { files, prepare, storyFile } = context.options;
  if (prepare === undefined || storyFile === undefined) {
    return undefined;
  }
  if (prepare.kind === 'tasks') {
    await writeTaskStories({
      tasks: prepare.tasks,
      ...(context.options.task === undefined ? {} : { task: context.options.task }),
      files,
      storyFile,
      now: new Date(),
    });
  } else if (!(await isPlannedFor(context.task, storyFile, context.snapshot.stories))) {
    const planned = await planStories({
      task: context.task,
      files,
      storyFile,
      call: context.caller.port('plan', 0, context.dir(0)),
      journal: context.journal,
      now: new Date(),
    });
    if (planned.kind === 'cancelled') {
      return { kind: 'end', outcome: 'stopped' };
    }
    if (planned.kind === 'failed') {
      return { kind: 'end', outcome: 'error', detail: planned.message };
    }
  }
  context.snapshot = await readSnapshot(storyFile, context.git);
  const { storyFileProblem } = context.snapshot;
  if (storyFileProblem !== undefined) {
    throw new HumanError(say('{0}: {1}', storyFile, storyFileProblem));
  }
  return undefined;
}
