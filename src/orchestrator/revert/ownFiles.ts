import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { runGit } from '../git/runGit.ts';
import type { RunState } from '../journal/runState.ts';
import { linkTarget } from '../stories/linkTarget.ts';
import { isStoryFolder } from '../stories/storyFolder.ts';
import { viewFolder } from '../workspace/committedStories.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** Files that are not the work of agents, also if an agent has committed them; relative to the top folder. */
export interface OwnFiles {
  /** The story file and the progress logs; of a folder of stories, its files. */
  readonly notes: readonly string[];
  /** The story file in the repository: the target, if it is a link. '' without one. */
  readonly stories: string;
  /** Whether a file that an agent of a run added had been there when the run began, without a commit. */
  readonly wasThere: (file: string, run: RunState) => boolean;
}

/** @param storyFile absolute path */
export async function ownFilesOf(
  files: RunFiles,
  storyFile: string | undefined,
): Promise<OwnFiles> {
  // Not derived from the root's path, which differs if a link leads to the workspace.
  const prefix = (await runGit(files.workspace, 'rev-parse', '--show-prefix')).replace(
    /\r?\n$/,
    '',
  );
  const inRepository = (file: string, from = files.workspace) =>
    path.posix.join(prefix, path.relative(from, file).split(path.sep).join(path.posix.sep));
  // A link to a story file is never edited itself; git has the stories at its target.
  const target = storyFile === undefined ? undefined : await linkTarget(storyFile);
  const stories = target === undefined ? '' : inRepository(target, await realpath(files.workspace));
  const notes = [
    ...(storyFile === undefined || target === undefined
      ? []
      : [
          ...[storyFile, path.join(path.dirname(storyFile), 'progress.txt')].map(file =>
            inRepository(file),
          ),
          stories,
          ...(isStoryFolder(target)
            ? (await viewFolder(files.workspace, ['HEAD'], stories)).paths
            : []),
        ]),
    inRepository(path.join(files.workspace, '.omc', 'progress.txt')),
  ];
  const known = new Map<RunState, ReadonlySet<string>>();
  return {
    notes,
    stories,
    wasThere: (file, run) => {
      // In journals of older versions, git named only the folders of some files.
      const { uncommittedBefore = [], untrackedBefore = uncommittedBefore } = run;
      const before = known.get(run) ?? new Set([...notes, ...untrackedBefore]);
      known.set(run, before);
      return before.has(file);
    },
  };
}
