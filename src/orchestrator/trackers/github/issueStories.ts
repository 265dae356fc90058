import path from 'node:path';
import { decodeText } from '../../../base/decodeText.ts';
import { realPlace } from '../../stories/outsideLinks.ts';
import { readStoryBytes, readStoryFile } from '../../stories/storyFile.ts';
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
 * @returns also `true` for what cannot be read, but may be one
 */
export async function areIssues(workspace: string, storyFile: string): Promise<boolean> {
  if (isMirror(workspace, storyFile)) {
    return true;
  }
  const file = await readStoryFile(storyFile);
  if (file?.kind === 'stories') {
    return file.isIssueCopy === true;
  }
  const bytes = await readStoryBytes(storyFile);
  return bytes !== undefined && decodeText(bytes).text.includes('"github"');
}
