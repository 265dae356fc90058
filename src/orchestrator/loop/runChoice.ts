import type { Preparation } from '../planner/preparation.ts';

/** The run that the person requested. */
export interface RunChoice {
  /** `--resume`, optionally with a run's id. */
  readonly resume?: string | true;
  /** `--new`: do not continue an unfinished run. */
  readonly isNew?: boolean;
  readonly task?: string;
  /** Absolute path. */
  readonly storyFile?: string;
  /** Absolute path. */
  readonly planDir?: string;
  /** Whether the command line names the story file or the plan, so that no search was needed. */
  readonly namesPlace?: boolean;
  readonly prepare?: Preparation;
  /** Ids of the selected stories; absent: all. */
  readonly onlyStories?: readonly string[];
  /** From the command line; otherwise the earlier run's value is used. */
  readonly maxIterations?: number;
}
