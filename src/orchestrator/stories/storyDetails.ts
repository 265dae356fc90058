import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { isWithin } from '../../base/isWithin.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import { readBmadCriteria } from './formats/bmadCriteria.ts';
import type { Criterion, Story } from './story.ts';

const MAX_BYTES = 1024 * 1024;
const LOCATION = /^story_location[ \t]*:[ \t]*(?:"([^"\n]*)"|'([^'\n]*)'|([^\s"'#][^\n#]*))/m;

/**
 * The criteria in the file that describes a story: next to the story file, or else in its `story_location`. A file outside
 * of the workspace is not read.
 * @returns none if there is no such file
 */
export async function readDetailCriteria(
  workspaceDir: string,
  storyFile: string,
  { details }: Story,
): Promise<Criterion[]> {
  if (details === undefined) {
    return [];
  }
  const root = await realpath(workspaceDir);
  for (const folder of await foldersOf(root, storyFile)) {
    const bytes = await readPlainFile(path.join(folder, details), MAX_BYTES);
    if (bytes !== undefined) {
      return readBmadCriteria(bytes.toString('utf8'));
    }
  }
  return [];
}

/** Existing folders within the workspace, without links. */
async function foldersOf(root: string, storyFile: string): Promise<string[]> {
  const text = (await readPlainFile(storyFile, MAX_BYTES))?.toString('utf8') ?? '';
  const [, double, single, bare] = LOCATION.exec(text) ?? [];
  const location = (double ?? single ?? bare)?.trim().replace(/^\{project-root\}\/?/, '');
  const folders = [
    path.dirname(storyFile),
    ...(location === undefined ? [] : [path.resolve(root, location)]),
  ];
  const found = await Promise.all(folders.map(realFolder));
  return found.flatMap(folder => (folder !== undefined && isWithin(root, folder) ? [folder] : []));
}

async function realFolder(folder: string): Promise<string | undefined> {
  try {
    return await realpath(folder);
  } catch {
    return undefined; // It does not exist, or cannot be entered.
  }
}
