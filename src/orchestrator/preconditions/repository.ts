import { existsSync } from 'node:fs';
import path from 'node:path';
import { isWithin } from '../../base/isWithin.ts';
import { say } from '../../base/say.ts';
import { declaredBareProblem } from '../git/git.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { runGit } from '../git/runGit.ts';
import { namedFiles } from '../git/treeCommit.ts';
import { realPlace } from '../stories/outsideLinks.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { newestRunId } from '../workspace/runIds.ts';
import type { Ground, Judgement, Precondition } from './precondition.ts';

/** Folders in which a person writes only what a run works with. */
const RUN_FOLDERS = ['.omc', '.ralph'];

/** A git repository with files to work on: iterations pass on their work through commits. */
export const repository: Precondition = {
  id: 'git',
  async judge(ground) {
    const { files, folder, head: headNow } = ground;
    const { workspace } = files;
    const { isBare, root } = await folder();
    if (root === undefined) {
      return isBare ? withoutFiles(workspace) : withoutRepository(files);
    }
    const [{ head }, version] = await Promise.all([headNow(), runGit(workspace, 'version')]);
    if (head === undefined) {
      return withoutCommit(ground, root);
    }
    const number = version.replace('git version', '').trim();
    return { level: 'holds', message: `git ${number}, repository ${root}` };
  },
};

function withoutFiles(workspace: string): Judgement {
  if (isDeclaredBare(workspace)) {
    return { level: 'refuses', ...declaredBareProblem(workspace) };
  }
  return {
    level: 'refuses',
    message: say('{0} is a bare git repository, which has no files to work on.', workspace),
    next: say(
      'Start in a clone of it, or in a worktree: git worktree add ../work, then ralph-fresh run --cwd ../work.',
    ),
  };
}

/** Whether git does not see the files around a folder `.git` only because of a setting. */
function isDeclaredBare(workspace: string): boolean {
  const gitDir = gitDirOf(workspace);
  const isInIt = gitDir !== undefined && isWithin(gitDir, realPlace(workspace) ?? workspace);
  // Only a repository with files has an index; and a bare one may be a folder of another one.
  const hasIndex = gitDir !== undefined && existsSync(path.join(gitDir, 'index'));
  return hasIndex && !isInIt && !existsSync(path.join(workspace, 'HEAD'));
}

async function withoutRepository(files: RunFiles): Promise<Judgement> {
  const { workspace } = files;
  const runId = await newestRunId(files);
  return runId === undefined
    ? {
        level: 'refuses',
        message: say(
          '{0} is not in a git repository, and commits are how iterations hand over their work.',
          workspace,
        ),
        next: say('Run "git init" there, commit once, and start again.'),
      }
    : {
        // No run starts without a repository.
        level: 'refuses',
        message: say(
          'The git repository of {0} is missing, which was there at the run {1}.',
          workspace,
          runId,
        ),
        next: say(
          'Restore the folder .git, from a backup or from a clone of the same repository, and start again.',
        ),
      };
}

/** Without a commit, nothing can take back what agents change in the files that are there already. */
async function withoutCommit(ground: Ground, root: string): Promise<Judgement> {
  const files = await personFiles(ground, root);
  return files.length === 0
    ? {
        level: 'warns',
        message: say('The repository has no commit yet.'),
        next: say('Make a first commit, so that there is a state to go back to.'),
      }
    : {
        // What the agents of a continued run have not committed is among these files.
        level: ground.isContinued ? 'warns' : 'refuses',
        message: say(
          'The repository has no commit yet, so what agents change in {0} could not be taken back.',
          namedFiles(files),
        ),
        next: say('Commit your files: git add -A, then git commit -m "First commit".'),
      };
}

/** The files of a repository without commits that are not there for the run only. */
async function personFiles(
  { files: { workspace }, progressFile, storyFile }: Ground,
  root: string,
): Promise<readonly string[]> {
  const place = (file: string) => realPlace(file) ?? file;
  const own = [
    ...RUN_FOLDERS.map(name => path.join(workspace, name)),
    ...[storyFile, progressFile].flatMap(file => file ?? []),
    // A link is a file of its own to git.
  ].flatMap(file => [place(file), path.join(place(path.dirname(file)), path.basename(file))]);
  const top = place(root);
  const listed = await runGit(
    workspace,
    ...['--no-optional-locks', 'ls-files', '--cached', '--others', '--exclude-standard'],
    ...['--full-name', '-z', '--', ':/'],
  );
  const names = listed.split('\0').filter(name => name !== '');
  return names.filter(name => !own.some(file => isWithin(file, path.join(top, name))));
}
