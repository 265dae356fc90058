import path from 'node:path';
import { filesInTheWay } from '../git/filesInTheWay.ts';
import { GitRepository } from '../git/git.ts';
import type { RunState } from '../journal/runState.ts';
import { isFolderPath } from '../stories/formats/folderText.ts';
import { heldTip } from './heldTip.ts';

/** Where the work of an ended run is that has landed from places of its agents. */
export interface WorkNow {
  /** The branch that it landed on, if another one is checked out. */
  readonly elsewhere?: string;
  /** What its branch still lacks, and the files that are in the way now. */
  readonly held?: RunState['held'];
}

/**
 * Looks again at what a journal says of the branch: since then, a person may have brought in what it lacked, cleared
 * files out of the way, or checked out another branch.
 *
 * @param dir absolute path of the workspace
 * @throws {HumanError} if git cannot read the repository
 */
export async function workNow(
  dir: string,
  { branch, commits, held, isolated, storyFile }: RunState,
): Promise<WorkNow> {
  if (!isolated || branch === undefined) {
    return { held };
  }
  const git = new GitRepository(dir);
  const [root, current, tip] = await Promise.all([
    git.root(),
    git.branch(),
    held && heldTip(dir, branch),
  ]);
  const elsewhere = commits.length > 0 && current !== branch ? branch : undefined;
  if (held === undefined || tip === undefined || root === undefined) {
    return { elsewhere };
  }
  if (held.reason !== 'localChanges' || current !== branch) {
    return { elsewhere, held };
  }
  // The story file and the progress log are brought in whatever ticks and notes they have.
  const shared = [storyFile, storyFile && path.join(path.dirname(storyFile), 'progress.txt')].map(
    file => file && path.relative(root, path.resolve(dir, file)).split(path.sep).join('/'),
  );
  const files = await filesInTheWay(root, `refs/heads/${branch}`, tip);
  // A folder of stories is one of them, with its tasks.
  const isShared = (file: string) =>
    shared.some(one => one === file || (one && isFolderFile(one, file)));
  return { held: { ...held, files: files.filter(file => !isShared(file)) } };
}

function isFolderFile(folder: string, file: string): boolean {
  return file.startsWith(`${folder}/`) && isFolderPath(file.slice(folder.length + 1));
}
