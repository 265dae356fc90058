import { GitRepository } from '../git/git.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { WorkTreeAhead } from './workTreeAhead.ts';

/** The place in which an agent works. */
export interface Place {
  /** Absolute path of the agent's working directory. */
  readonly dir: string;
  readonly git: GitRepository;
  /** Real path of git's folder for the work tree, as first found; absent if there is none. */
  readonly gitDir?: string;
  /** Absolute path of the story file there; absent in free-form and plan mode. */
  readonly storyFile?: string;
  readonly workTree: WorkTreeAhead;
  /** Variables for what runs there. */
  readonly env: Readonly<Record<string, string>>;
  dispose(): Promise<void>;
}

/** The user's own work tree: the place of a run that works on one story at a time. */
export function userTree(dir: string, storyFile: string | undefined): Place {
  const git = new GitRepository(dir);
  const gitDir = gitDirOf(dir);
  return {
    dir,
    git,
    gitDir,
    storyFile,
    workTree: new WorkTreeAhead(git),
    env: {},
    dispose: async () => undefined,
  };
}
