import path from 'node:path';
import { readObjects } from '../git/objects.ts';
import { FOLDER_MODE, namesIn, type TreeView, viewTrees } from '../git/treeView.ts';
import {
  COMPLETED,
  CONFIGS,
  isTaskName,
  oddTaskName,
  packFolder,
  TASKS,
} from '../stories/formats/folderText.ts';
import { realPlace } from '../stories/outsideLinks.ts';
import type { StoryList } from '../stories/story.ts';
import { parseStoryFile } from '../stories/storyFile.ts';

/** Trees, seen along a folder of stories. */
export interface FolderTrees {
  readonly views: readonly TreeView[];
  /** The folder's files in any of the trees, from the top folder. */
  readonly paths: readonly string[];
  /** The folder in the n-th tree as one text, as in `folderText.ts`; `undefined` if it has no tasks there. */
  readonly textOf: (n: number) => Buffer | undefined;
}

/**
 * Reads a folder of stories in trees.
 * @param roots commits or trees that exist
 * @param folder from the top folder, with forward slashes
 * @param others further paths along which the trees are seen
 * @throws git's message
 */
export async function viewFolder(
  root: string,
  roots: readonly string[],
  folder: string,
  others: readonly string[] = [],
): Promise<FolderTrees> {
  const inside = (...parts: readonly string[]) => path.posix.join(folder, ...parts);
  const lists = [TASKS, COMPLETED];
  const objects = await readObjects(
    root,
    roots.flatMap(one => lists.map(list => `${one}:${inside(list)}`)),
  );
  const names = new Set(
    objects.flatMap((object, i) =>
      object?.type === 'tree'
        ? namesIn(object)
            .filter(isTaskName)
            .map(name => `${lists[i % lists.length]}/${name}`)
        : [],
    ),
  );
  const odd = roots.map((_, i) => {
    const tasks = objects[i * lists.length];
    const found = tasks?.type === 'tree' ? namesIn(tasks) : [];
    return [...new Set(found.flatMap(name => oddTaskName(name) ?? []))];
  });
  // What is next to the folder says what its tasks mean, but it is not part of it.
  const settings = CONFIGS.map(config => inside(config));
  const tasks = [...names].map(name => inside(name));
  const views = await viewTrees(root, roots, [...tasks, ...settings, ...others]);
  return {
    views,
    paths: [...tasks, ...settings.filter(one => one.startsWith(`${folder}/`))],
    textOf: n => {
      const view = views[n];
      return view && textIn(view, folder, [...CONFIGS, ...names], odd[n] ?? []);
    },
  };
}

function textIn(
  view: TreeView,
  folder: string,
  names: readonly string[],
  odd: readonly string[],
): Buffer | undefined {
  const files = new Map<string, Buffer>();
  const completed: string[] = [];
  const unread = odd.map(name => `${TASKS}/${name}`);
  for (const name of names) {
    const at = path.posix.join(folder, name);
    const content = view.file(at);
    const isThere = view.entry(at) !== undefined;
    if (name.startsWith(`${COMPLETED}/`)) {
      completed.push(...(isThere ? [path.posix.basename(name)] : []));
    } else if (content !== undefined) {
      files.set(name, content);
    } else if (isThere) {
      unread.push(name);
    }
  }
  const hasTasks = [...files.keys(), ...unread].some(name => name.startsWith(`${TASKS}/`));
  return hasTasks ? packFolder({ files, completed, unread }) : undefined;
}

/**
 * The bytes of a story file, or of a folder of stories, in a commit.
 * @param file from the top folder, with forward slashes
 * @returns `undefined` if the commit does not have it
 */
export async function committedStories(
  root: string,
  commit: string,
  file: string,
): Promise<Buffer | undefined> {
  const [object] = await readObjects(root, [`${commit}:${file}`]);
  return object?.type === 'tree'
    ? (await viewFolder(root, [commit], file)).textOf(0)
    : object?.type === 'blob'
      ? object.content
      : undefined;
}

/** Whether one of these trees has a folder at this path. */
export function isFolderIn(views: readonly TreeView[], file: string): boolean {
  return views.some(view => view.entry(file)?.mode === FOLDER_MODE);
}

/** Where a story file is in its repository: from the top folder, with forward slashes. */
export function placeInRepository(root: string, storyFile: string): string {
  const relative = path.relative(realPlace(root) ?? root, realPlace(storyFile) ?? storyFile);
  return relative.split(path.sep).join('/');
}

/** The bytes of the committed version of a story file; `undefined` if that commit, or the file in it, does not exist. */
export async function committedFile(
  root: string,
  commit: string,
  storyFile: string,
): Promise<Buffer | undefined> {
  return committedStories(root, commit, placeInRepository(root, storyFile)).catch(() => undefined);
}

/** The list in {@link committedFile}; `undefined` if it is none. */
export async function committedList(
  root: string,
  commit: string,
  storyFile: string,
): Promise<StoryList | undefined> {
  const bytes = await committedFile(root, commit, storyFile);
  const list = bytes && parseStoryFile(storyFile, bytes);
  return list?.kind === 'stories' ? list : undefined;
}
