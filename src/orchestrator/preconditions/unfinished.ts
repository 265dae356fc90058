import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { leftLock } from '../git/lockFiles.ts';
import { unfinishedOperation } from '../git/operations.ts';
import { runGit } from '../git/runGit.ts';
import type { Judgement, Precondition } from './precondition.ts';

/** No git operation is unfinished, and none was killed: an agent's first commit would become part of it, or fail. */
export const unfinished: Precondition = {
  id: 'unfinished',
  needsGit: true,
  async judge({ files: { workspace }, head }) {
    try {
      const gitDir = gitDirOf(workspace);
      return (
        (gitDir === undefined
          ? undefined
          : (underWay(gitDir) ?? (await locked(gitDir, (await head()).branch)))) ??
        (await conflicts(workspace)) ?? {
          level: 'holds',
          message: 'No git command is unfinished here: no merge, rebase, conflict or lock file.',
        }
      );
    } catch (error) {
      throw asHumanError(error);
    }
  },
};

function underWay(gitDir: string): Judgement | undefined {
  const operation = unfinishedOperation(gitDir);
  switch (operation) {
    case undefined:
      return undefined;
    case 'bisect':
      return {
        level: 'refuses',
        message: say('A "git bisect" is in progress here, and ending it would lose the commits.'),
        next: say('End it with "git bisect reset".'),
      };
    default:
      return {
        level: 'refuses',
        message: say(
          'A "git {0}" is in progress here, and the agents\' work would become part of it.',
          operation,
        ),
        next: say(
          'Finish it with "git {0} --continue", or abort it with "git {0} --abort".',
          operation,
        ),
      };
  }
}

/** What a git process leaves that is killed in the middle of a commit. */
async function locked(gitDir: string, branch: string): Promise<Judgement | undefined> {
  const lock = await leftLock(gitDir, branch);
  return lock === undefined
    ? undefined
    : {
        level: 'refuses',
        message: say(
          'The lock file {0} is here, so nothing can be committed: another git process is working, or one crashed.',
          lock,
        ),
        next: say('If no git process is running here, remove that file.'),
      };
}

/** Conflicts, for example after a stash that did not apply cleanly. */
async function conflicts(workspace: string): Promise<Judgement | undefined> {
  const output = await runGit(
    workspace,
    ...['--no-optional-locks', 'ls-files', '--unmerged', '--full-name', '-z', '--', ':/'],
  );
  // A file is listed with up to three versions.
  const files = [
    ...new Set(output.split('\0').flatMap(entry => entry.split('\t').slice(1).join('\t') || [])),
  ];
  const [first] = files;
  if (first === undefined) {
    return undefined;
  }
  const named = shorten(first, 200);
  const more = files.length - 1;
  return {
    level: 'refuses',
    message: say(
      'There are conflicts in {0}, so nothing can be committed.',
      more > 0 ? say('{0} and {1} more', named, more) : named,
    ),
    next: say('Resolve them, and tell git with "git add".'),
  };
}
