import { existsSync } from 'node:fs';
import path from 'node:path';
import { findStoryFile } from '../../stories/knownSources.ts';
import { realPlace } from '../../stories/outsideLinks.ts';
import { readStoryFile } from '../../stories/storyFile.ts';
import { MIRROR_FILE } from './githubMirror.ts';

/** Whether a path leads to the copy of issues of a folder, also by a link or another name of the folder. */
export function isMirror(workspace: string, storyFile: string | undefined): storyFile is string {
  const mirror = path.join(workspace, MIRROR_FILE);
  return (
    storyFile !== undefined &&
    (storyFile === mirror || realPlace(storyFile) === (realPlace(mirror) ?? mirror))
  );
}

/**
 * Whether the stories of a file are a copy of issues on GitHub: the one of the folder, or any other list that says so,
 * since a repository can contain a copy at any path.
 * @returns `undefined` if nobody knows: the list is gone, or cannot be read, so that it may be one
 */
export async function areIssues(
  workspace: string,
  storyFile: string,
): Promise<boolean | undefined> {
  if (isMirror(workspace, storyFile)) {
    return true;
  }
  const file = await readStoryFile(storyFile);
  return file?.kind === 'stories' ? file.isIssueCopy === true : undefined;
}

/** Like {@link areIssues}, for a folder: its copy of issues, or the list that is in use. */
export async function hasIssues(workspace: string): Promise<boolean | undefined> {
  if (existsSync(path.join(workspace, MIRROR_FILE))) {
    return true;
  }
  const used = await findStoryFile(workspace);
  return used !== undefined && areIssues(workspace, used);
}
