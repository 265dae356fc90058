import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { isWithin } from '../../base/isWithin.ts';
import type { PlaceFiles } from './placeFiles.ts';

/** Absolute paths of the user. */
export interface PathsOptions {
  /** Top folder of the repository. */
  readonly root: string;
  readonly workspace: string;
  readonly storyFile?: string | undefined;
}

/** Where the files of the user's folder are in a place. */
export async function pathsIn(files: PlaceFiles, { root, storyFile, workspace }: PathsOptions) {
  const [realRoot, realWorkspace] = await Promise.all([realpath(root), realpath(workspace)]);
  const prefix = slashes(path.relative(realRoot, realWorkspace));
  /** From the top folder; `undefined` for a file outside of the repository. */
  const placeOf = async (file: string): Promise<string | undefined> => {
    if (isWithin(workspace, file)) {
      return path.posix.join(prefix, slashes(path.relative(workspace, file)));
    }
    const folder = await realpath(path.dirname(file)).catch(() => path.dirname(file));
    const real = path.join(folder, path.basename(file));
    return isWithin(realRoot, real) ? slashes(path.relative(realRoot, real)) : undefined;
  };
  const own = storyFile === undefined ? undefined : await placeOf(storyFile);
  return {
    dir: path.join(files.tree, prefix),
    prefix,
    placeOf,
    storyFile: own === undefined ? storyFile : path.join(files.tree, own),
  };
}

/** A path in a place, and where git has it: a folder of the repository may be a link to another one. */
export async function realPathIn(top: string, file: string): Promise<string> {
  const folder = path.join(top, path.posix.dirname(file));
  const found = path.join(await realpath(folder).catch(() => folder), path.posix.basename(file));
  const real = await realpath(found).catch(() => found);
  return isWithin(top, real) ? slashes(path.relative(top, real)) : file;
}

function slashes(file: string): string {
  return file.split(path.sep).join('/');
}
