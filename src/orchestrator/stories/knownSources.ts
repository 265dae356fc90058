import { lstat, readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { decodeText } from '../../base/decodeText.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import { namedFolder } from './formats/backlogSettings.ts';
import { hasPlaceForTasks, isOrchestrationText } from './formats/orchestrationText.ts';
import { hasTaskList } from './formats/taskMasterFormat.ts';
import { findPrdFiles } from './prdFiles.ts';
import { hasOpenStories } from './select.ts';
import type { StoryFile, StoryFormatName, StoryList, StoryProblem } from './story.ts';
import { readStoryBytes, readStoryFile, readStoryList } from './storyFile.ts';
import { folderVersion, isStoryFolder } from './storyFolder.ts';
import { OTHER_STORY_FILE_PLACES, STORY_FILE_PLACES } from './storyPlaces.ts';

/** Where Backlog.md has its tasks, unless its settings name another folder. */
const BACKLOGS = ['backlog', '.backlog'] as const;
const BACKLOG_SETTINGS = 'backlog.config.yml';
/** The usual list of ralphy; elsewhere a document of this name is about a product. */
const RALPHY_LIST = 'PRD.md';
/** Where ralphy has its settings. */
const RALPHY = '.ralphy';
const MAX_SETTINGS_BYTES = 256 * 1024;

const choiceOf = (place: string) => place.replace(/\*\.ya?ml$/, '*.yaml');
/** The other places, those with a `*` in one folder together: whether a name ends with `.yaml` or `.yml` is no choice. */
const CHOICES: readonly (readonly string[])[] = [
  ...new Set(OTHER_STORY_FILE_PLACES.map(choiceOf)),
].map(choice => OTHER_STORY_FILE_PLACES.filter(place => choiceOf(place) === choice));

/** Finds the story file of a workspace: its path, or `undefined` if there is none at any known path. */
export function findStoryFile(workspaceDir: string): Promise<string | undefined> {
  return usedFile(workspaceDir, undefined);
}

/**
 * Like {@link findStoryFile}, as if there were one more file, with open stories.
 * @param planned its absolute path
 */
export function storyFileWith(workspaceDir: string, planned: string): Promise<string | undefined> {
  return usedFile(workspaceDir, planned);
}

async function usedFile(
  workspaceDir: string,
  planned: string | undefined,
): Promise<string | undefined> {
  for (const place of STORY_FILE_PLACES) {
    const path = join(workspaceDir, place);
    if (path === planned || (await isFile(path))) {
      return path;
    }
  }
  for (const places of CHOICES) {
    const isPlanned =
      planned !== undefined && places.some(place => isAt(workspaceDir, place, planned));
    const others: KnownSource[] = [];
    for (const place of places) {
      others.push(...(await filesWithStories(workspaceDir, place)));
    }
    const known = others.filter(({ path }) => path !== planned);
    const found = isPlanned ? [...known, { path: planned, isOpen: true }] : known;
    const open = found.filter(({ isOpen }) => isOpen);
    const [only, ...more] = open.length === 1 ? open : found;
    if (only !== undefined && more.length === 0) {
      return only.path;
    }
  }
  return undefined;
}

/**
 * Reads the story file that a workspace uses: the one that a person chose, otherwise the one that is found.
 * @param chosen its absolute path
 * @returns `undefined` if there is none
 */
export async function readUsedFile(
  workspaceDir: string,
  chosen: string | undefined,
): Promise<StoryFile | undefined> {
  const file = chosen === undefined ? undefined : await readStoryFile(chosen);
  if (file !== undefined) {
    return file;
  }
  const found = await findStoryFile(workspaceDir);
  return found === undefined ? undefined : readStoryFile(found);
}

/**
 * A text that is another one when the used file has changed, or one appears at a usual path.
 * @param used its absolute path; `undefined` if there is none
 */
export async function usedVersion(workspaceDir: string, used: string | undefined): Promise<string> {
  const usual = STORY_FILE_PLACES.map(place => join(workspaceDir, place));
  const files = [...(used === undefined ? [] : [used]), ...usual];
  const found = await Promise.all(files.map(file => stat(file).catch(() => undefined)));
  const inside = used !== undefined && isStoryFolder(used) ? await folderVersion(used) : '';
  return found
    .map((file, at) => (file ? `${files[at]} ${file.ino} ${file.mtimeMs} ${file.size}` : ''))
    .join('\n')
    .concat(`\n${inside}`);
}

/** A file or folder at one of the known paths. */
export interface KnownSource {
  readonly path: string;
  /** Below the workspace; with a `*`, several files may be there. */
  readonly place: string;
  /** Stories are left to do, or it cannot be read, so that nobody knows. */
  readonly isOpen: boolean;
}

/** A file at a known path without stories, and with what is almost one, or almost a list of them. */
export interface Slip {
  readonly path: string;
  readonly place: string;
  readonly slip: StoryProblem;
}

/** All files at the known paths that contain stories, the default one first, and whether there is something to do. */
export async function knownSources(workspaceDir: string): Promise<KnownSource[]> {
  return (await sourcesAndSlips(workspaceDir)).filter(found => 'isOpen' in found);
}

/** Those of {@link knownSources}, and between them the files that would be if they were written as they should be. */
export async function sourcesAndSlips(workspaceDir: string): Promise<(KnownSource | Slip)[]> {
  const found: (KnownSource | Slip)[] = [];
  for (const place of STORY_FILE_PLACES) {
    const path = join(workspaceDir, place);
    if (await isFile(path)) {
      const file = await readStoryFile(path);
      found.push({ path, place, isOpen: file !== undefined && hasOpenStories(file) });
    }
  }
  for (const place of OTHER_STORY_FILE_PLACES) {
    for (const { file, hasStories, path } of await readAt(workspaceDir, place)) {
      const slip = hasStories ? undefined : slipIn(place, file);
      if (hasStories) {
        found.push({ path, place, isOpen: hasOpenStories(file) });
      } else if (slip !== undefined) {
        found.push({ path, place, slip });
      }
    }
  }
  return found;
}

/** What keeps the stories of a file from being read, if that has a place in it. */
function slipIn(place: string, { format, kind, problems: [first] }: StoryFile) {
  const isOwn = format === (SHARED_NAMES.get(place)?.format ?? format);
  const isPlaced = first?.isPlaced === true || (first?.line ?? 1) > 1;
  return kind === 'invalid' && isOwn && isPlaced ? first : undefined;
}

/** Absolute paths of all files in a workspace that may contain stories: those at the well-known paths first. */
export async function findStoryFiles(folder: string): Promise<string[]> {
  const known = (await knownSources(folder)).map(({ path }) => path);
  return [...new Set([...known, ...(await findPrdFiles(folder))])];
}

/**
 * All files at the known paths of a workspace that contain stories, in order of precedence.
 * @param workspace absolute path
 */
export async function findStorySources(workspace: string): Promise<StoryList[]> {
  const found: StoryList[] = [];
  for (const place of [...STORY_FILE_PLACES, ...OTHER_STORY_FILE_PLACES]) {
    for (const file of await filesAt(workspace, place)) {
      const list = await readStoryList(file);
      if (list !== undefined && (await belongsAt(place, list))) {
        found.push(list);
      }
    }
  }
  return found;
}

/** Whether a path is at a place, which may have a `*`. */
function isAt(workspaceDir: string, place: string, path: string): boolean {
  const [start = '', ending] = join(workspaceDir, place).split('*');
  const name = path.slice(start.length, path.length - (ending ?? '').length);
  return ending === undefined
    ? path === start
    : path.startsWith(start) &&
        path.endsWith(ending) &&
        name !== '' &&
        !/[\\/]/.test(name) &&
        !isArchive(place, name);
}

/** Whether stories may be there: a file, or a folder with tasks. */
async function isSource(path: string): Promise<boolean> {
  return (await isFile(path)) || isStoryFolder(path);
}

async function isFile(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isFile() === true;
}

async function isDirectory(path: string): Promise<boolean> {
  const found = await stat(path).catch(() => undefined);
  return found?.isDirectory() === true;
}

/** The files at a path that contain stories, or might if they could be read. */
async function filesWithStories(workspaceDir: string, place: string): Promise<KnownSource[]> {
  return (await readAt(workspaceDir, place))
    .filter(({ hasStories }) => hasStories)
    .map(({ file, path }) => ({ path, place, isOpen: hasOpenStories(file) }));
}

async function readAt(workspaceDir: string, place: string) {
  const read: { readonly path: string; readonly file: StoryFile; readonly hasStories: boolean }[] =
    [];
  for (const path of await filesAt(workspaceDir, place)) {
    const file = (await isSource(path)) ? await readStoryFile(path) : undefined;
    if (file !== undefined) {
      read.push({ path, file, hasStories: await belongsAt(place, file) });
    }
  }
  return read;
}

interface SharedName {
  /** The format that a story file has there. */
  readonly format: StoryFormatName;
  /** Whether a text that cannot be read is one, as far as it shows. */
  readonly isIts: (text: string) => boolean;
}

const ORCHESTRATION: SharedName = { format: 'orchestration', isIts: isOrchestrationText };

/** Names that other programs use for something else. */
const SHARED_NAMES: ReadonlyMap<string, SharedName> = new Map([
  ['tasks/tasks.json', { format: 'taskMaster', isIts: hasTaskList }],
  ['tasks.yaml', ORCHESTRATION],
  ['tasks.yml', ORCHESTRATION],
]);

/** A file at a known path that has no stories. */
export interface EmptySource {
  readonly file: StoryFile;
  /** It has no bytes, or only white space. */
  readonly isBlank: boolean;
}

/**
 * The first file at a place of a tool that is read and has no story: its list is empty, or nothing in it can be used.
 * A Markdown file without checkboxes is no list, unless there is nothing in it or a tool has its tasks there.
 */
export async function emptySource(workspaceDir: string): Promise<EmptySource | undefined> {
  for (const place of OTHER_STORY_FILE_PLACES) {
    const isOfTool =
      !SHARED_NAMES.has(place) && (!place.endsWith('.md') || place.endsWith('/tasks.md'));
    for (const path of await filesAt(workspaceDir, place)) {
      const file = (await isSource(path)) ? await readStoryFile(path) : undefined;
      if (file !== undefined && !(await belongsAt(place, file))) {
        const text = (await readStoryBytes(path))?.toString('utf8');
        const isBlank = text?.trim() === '';
        if (isOfTool || isBlank || hasNoTasks(file, text ?? '')) {
          return { file, isBlank };
        }
      }
    }
  }
  return undefined;
}

/** Whether it is an orchestration without tasks that are read: a list that is empty, or one of plain texts. */
function hasNoTasks({ format, kind, problems: [problem] }: StoryFile, text: string): boolean {
  return (
    format === 'orchestration' &&
    (kind === 'stories' || problem?.code === 'noStories') &&
    hasPlaceForTasks(text)
  );
}

/**
 * What is in the place of a `prd.json` without being a file, the first of them: a folder, a pipe, a link to nothing, or
 * links that lead to each other.
 * Links that can be followed are.
 */
export async function placeWithoutFile(
  workspaceDir: string,
): Promise<
  { readonly path: string; readonly kind: 'folder' | 'link' | 'linkLoop' | 'pipe' } | undefined
> {
  for (const place of STORY_FILE_PLACES) {
    const path = join(workspaceDir, place);
    const found = await stat(path).catch((error: NodeJS.ErrnoException) => error);
    if (!(found instanceof Error)) {
      if (!found.isFile()) {
        return { path, kind: found.isDirectory() ? 'folder' : 'pipe' };
      }
    } else if (
      found.code === 'ENOENT' &&
      (await lstat(path).catch(() => undefined)) !== undefined
    ) {
      return { path, kind: 'link' };
    } else if (found.code === 'ELOOP') {
      return { path, kind: 'linkLoop' };
    }
  }
  return undefined;
}

/** The first Markdown plan at a known place that has no checkbox; it may be a text about something else. */
export async function planWithoutCheckbox(workspaceDir: string): Promise<StoryFile | undefined> {
  for (const place of OTHER_STORY_FILE_PLACES.filter(name => /plan\.md$/i.test(name))) {
    const path = join(workspaceDir, place);
    const file = (await isSource(path)) ? await readStoryFile(path) : undefined;
    if (file !== undefined && !(await belongsAt(place, file))) {
      return file;
    }
  }
  return undefined;
}

/** Whether a file at one of the other places has stories, or would have them if it could be read. */
async function belongsAt(place: string, file: StoryFile): Promise<boolean> {
  const shared = SHARED_NAMES.get(place);
  const mayHaveStories =
    file.kind === 'stories' ? file.stories.length > 0 : file.problems[0].code !== 'noStories';
  if (!mayHaveStories || shared === undefined) {
    return mayHaveStories;
  }
  if (file.kind === 'stories' || file.format !== shared.format) {
    return file.format === shared.format;
  }
  const bytes = await readStoryBytes(file.path);
  return bytes !== undefined && shared.isIts(decodeText(bytes).text);
}

/** The paths that match a pattern, whether or not a file exists. */
async function filesAt(workspaceDir: string, place: string): Promise<string[]> {
  if (BACKLOGS.some(folder => folder === place)) {
    const named = await namedBacklog(workspaceDir);
    return named === undefined || place === BACKLOGS[0] ? [join(workspaceDir, named ?? place)] : [];
  }
  if (place === RALPHY_LIST && !(await isDirectory(join(workspaceDir, RALPHY)))) {
    return [];
  }
  const star = place.indexOf('*');
  if (star === -1) {
    return [join(workspaceDir, place)];
  }
  const folder = join(workspaceDir, place.slice(0, star));
  const ending = place.slice(star + 1);
  const isFolder = ending.startsWith('/');
  const names = await readdir(folder).catch(() => []);
  return names
    .filter(name =>
      isFolder ? !isArchive(place, name) : name.endsWith(ending) && !name.startsWith('_'),
    )
    .sort()
    .map(name => join(folder, isFolder ? `${name}${ending}` : name));
}

/**
 * The folder that the settings of Backlog.md in the project name instead of a usual one. One further down is not
 * followed: these settings are not looked for so far above it.
 */
async function namedBacklog(workspaceDir: string): Promise<string | undefined> {
  const bytes = await readPlainFile(join(workspaceDir, BACKLOG_SETTINGS), MAX_SETTINGS_BYTES).catch(
    // Settings that nobody may read name nothing. They are not what somebody looks for here.
    () => undefined,
  );
  const named = bytes && namedFolder(bytes.toString('utf8'));
  const isFollowed = named?.includes('/') === false && isStoryFolder(join(workspaceDir, named));
  return isFollowed ? named : undefined;
}

/** Where OpenSpec keeps the changes that are finished. */
function isArchive(place: string, name: string): boolean {
  return place.startsWith('openspec/') && name === 'archive';
}
