import { HumanError } from '../../base/humanError.ts';
import type { GitRepository } from '../git/git.ts';
import { readSnapshot, type Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { taskOf } from '../run/runWork.ts';
import type { RunEnd } from '../run/verdict.ts';
import { problemOfFile } from '../stories/storyFile.ts';
import { isPlannedFor } from './plannedTask.ts';
import { planStories } from './planner.ts';
import { writeTaskStories } from './taskStories.ts';

/** How the stories of a run are created before its first iteration. */
export type Preparation =
  /** A planning agent writes them from the task. */
  | { readonly kind: 'plan' }
  /** One story per task. */
  | { readonly kind: 'tasks'; readonly tasks: readonly string[] };

/**
 * Creates the stories of a run before its first iteration, by a planning agent or from a list of tasks. If the same
 * command is repeated, it finds the stories it created before and continues with them.
 * @param prepare how; absent: they exist already
 * @returns the files with the stories, or the end of the run if there are none to continue with
 */
export async function prepareStories(
  run: Run,
  git: GitRepository,
  prepare: Preparation | undefined,
  before: Snapshot,
): Promise<{ readonly snapshot: Snapshot } | RunEnd> {
  const { files, id, journal, storyFile } = run;
  if (prepare === undefined || storyFile === undefined) {
    return { snapshot: before };
  }
  const task = taskOf(run, before);
  if (prepare.kind === 'tasks') {
    await writeTaskStories({
      tasks: prepare.tasks,
      task: run.task,
      files,
      storyFile,
      now: new Date(),
    });
  } else if (!(await isPlannedFor(task, storyFile, before.stories))) {
    const planned = await planStories({
      task,
      files,
      storyFile,
      call: run.caller.port('plan', 0, files.iterationDir(id, 0)),
      journal,
      now: new Date(),
    });
    if (planned.kind === 'cancelled') {
      return { kind: 'end', outcome: 'stopped' };
    }
    if (planned.kind === 'failed') {
      return { kind: 'end', outcome: 'error', detail: planned.message };
    }
  }
  const snapshot = await readSnapshot(storyFile, git);
  const { storyFileProblem } = snapshot;
  if (storyFileProblem !== undefined) {
    throw new HumanError(problemOfFile(storyFile, storyFileProblem));
  }
  return { snapshot };
}
