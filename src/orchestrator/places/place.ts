import { GitRepository } from '../git/git.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { WorkTreeAhead } from './workTreeAhead.ts';

/** Where one agent works. */
export interface Place {
  /** Absolute path of the folder that the agent is started in. */
  readonly dir: string;
  readonly git: GitRepository;
  /** Real path of git's folder for the work tree, as it was found at first; absent without one. */
  readonly gitDir?: string;
  /** Absolute path of the story file there; absent in free-form and plan mode. */
  readonly storyFile?: string;
  readonly workTree: WorkTreeAhead;
  dispose(): Promise<void>;
}

/** The user's own tree: the place of a run that works on one story at a time. */
export function userTree(dir: string, storyFile: string | undefined): Place {
  const git = new GitRepository(dir);
  const gitDir = gitDirOf(dir);
  return {
    dir,
    git,
    ...(gitDir !== undefined && { gitDir }),
    ...(storyFile !== undefined && { storyFile }),
    workTree: new WorkTreeAhead(git),
    dispose: async () => undefined,
  };
}
