import path from 'node:path';
import { type TreeView, viewTrees } from '../git/treeView.ts';
import { changedIn } from '../stories/formats/folderText.ts';
import { isFolderIn, viewFolder } from '../workspace/committedStories.ts';
import { type SharedFiles, sharedPaths } from './sharedFiles.ts';

/** The shared files of a tree. A folder of stories is one file here, as in `folderText.ts`. */
export interface SharedView {
  /** The content; `undefined` if the tree does not have it. */
  file(path: string): Buffer | undefined;
}

/** Trees, seen along the shared files. */
export interface SharedTrees {
  readonly views: readonly TreeView[];
  /** All shared paths that one of the trees has; those that all lack may be among them. */
  readonly paths: readonly string[];
  /** Of the n-th tree. */
  readonly shared: readonly SharedView[];
  /** The folder of stories, if the story file is one. */
  readonly folder?: string;
}

/**
 * Reads trees along the shared files. Folders of stories need a second look, at the tasks that they have.
 * @param roots commits or trees that exist, as full hashes
 * @throws git's message
 */
export async function viewShared(
  root: string,
  roots: readonly string[],
  shared: SharedFiles,
): Promise<SharedTrees> {
  const paths = sharedPaths(shared);
  const views = await viewTrees(root, roots, paths);
  const folder = shared.storyFile;
  if (folder === undefined || !isFolderIn(views, folder)) {
    return { views, paths, shared: views };
  }
  const others = paths.filter(one => one !== folder);
  const inside = await viewFolder(root, roots, folder, others);
  const texts = new Map<number, Buffer | undefined>();
  const textOf = (n: number) => {
    if (!texts.has(n)) {
      texts.set(n, inside.textOf(n));
    }
    return texts.get(n);
  };
  return {
    views: inside.views,
    paths: [...inside.paths, ...others],
    shared: inside.views.map((view, n) => ({
      file: file => (file === folder ? textOf(n) : view.file(file)),
    })),
    folder,
  };
}

/** The files of a folder of stories that differ, by path from the top folder. */
export function changedFiles(
  folder: string,
  before: Buffer | undefined,
  after: Buffer,
): Map<string, Buffer> {
  return new Map(
    [...changedIn(before, after)].map(([name, content]) => [
      path.posix.join(folder, name),
      content,
    ]),
  );
}
