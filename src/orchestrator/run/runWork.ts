import path from 'node:path';
import type { RunMode } from '../journal/eventCodes.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** The work of a run. */
export interface RunWork {
  readonly files: RunFiles;
  /** Absolute path of the story file in the user's folder; absent in free-form and plan mode. */
  readonly storyFile?: string;
  /** Absolute path of a folder with plan.md, progress.md and errors.log: the pure loop. */
  readonly planDir?: string;
  /** The person's task. */
  readonly task?: string;
}

/** A plan takes precedence, then the story file, then the task alone. */
export function modeOf({ planDir, storyFile }: Omit<RunWork, 'files'>): RunMode {
  return planDir !== undefined ? 'plan' : storyFile === undefined ? 'freeForm' : 'stories';
}

/** The task in the agents' prompts. */
export function taskOf(
  { files, planDir, task }: RunWork,
  { stories }: Pick<Snapshot, 'stories'>,
): string {
  return (
    task?.trim() ||
    (planDir === undefined
      ? stories?.description || stories?.project || 'Complete the stories.'
      : `Complete the plan in ${relativePath(files.workspace, path.join(planDir, 'plan.md'))}.`)
  );
}

/** Absolute path of the progress log: next to the story file or the plan. */
export function progressFileOf({ files, planDir, storyFile }: RunWork): string {
  if (planDir !== undefined) {
    return path.join(planDir, 'progress.md');
  }
  const dir =
    storyFile === undefined ? path.join(files.workspace, '.omc') : path.dirname(storyFile);
  return path.join(dir, 'progress.txt');
}

/** A path as in journals and prompts: relative to the workspace, with forward slashes on every system. */
export function relativePath(workspace: string, file: string): string {
  return path.relative(workspace, file).split(path.sep).join('/');
}
