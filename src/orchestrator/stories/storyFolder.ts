import {
  closeSync,
  fstatSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  statSync,
} from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate as otherWork } from 'node:timers/promises';
import { HumanError } from '../../base/humanError.ts';
import { PLAIN } from '../../base/plainFile.ts';
import { type Message, say } from '../../base/say.ts';
import { shellWord } from '../../base/shellWord.ts';
import { idInName } from './formats/backlogTask.ts';
import {
  COMPLETED,
  CONFIGS,
  type FolderContent,
  inOrder,
  isTaskName,
  oddTaskName,
  packFolder,
  TASKS,
} from './formats/folderText.ts';
import { plainText } from './formats/plainText.ts';
import { outsideProblem } from './outsideLinks.ts';
import type { StoryProblem } from './story.ts';

/** Files that are read without a pause for other work: each takes less time than the change of a thread. */
const AT_ONCE = 100;
/** No backlog has more; a folder with more was made by mistake. */
const MAX_FILES = 20_000;

/** Lists of tools that keep them in a folder of their own, by path from there. */
const LISTS_INSIDE = [
  ...['tasks.md', 'tasks/tasks.json', 'tasks.json', 'issues.jsonl', 'beads.jsonl'],
  ...['tasks.jsonl', 'agent/tasks.jsonl', 'tasks.yaml', 'tasks.yml', 'sprint-status.yaml'],
  ...['implementation-artifacts/sprint-status.yaml', 'prd.json', 'fix_plan.md', 'plan.md'],
];

/** Where tools have a list for each part of the work, in folders below; by path from a folder. */
const FOLDERS_OF_LISTS = ['.', 'changes', 'specs'];

/** Whether a folder is a source of stories: it has a folder with tasks. */
export function isStoryFolder(folder: string): boolean {
  try {
    const tasks = path.join(folder, TASKS);
    const isFolder = lstatSync(tasks, { throwIfNoEntry: false })?.isDirectory() === true;
    // Task Master has a folder of this name, too.
    return isFolder && !isKind(path.join(tasks, 'tasks.json'), 'file');
  } catch {
    // A parent is no folder, or must not be entered: reading it says so.
    return false;
  }
}

/** What keeps a folder from being a source of stories although it has something in the place of its tasks. */
export function tasksProblem(folder: string): Message | undefined {
  const tasks = path.join(folder, TASKS);
  return lstatSync(tasks, { throwIfNoEntry: false })?.isSymbolicLink() === true
    ? say('{0} is a link, so no task in it is read: put the folder itself there.', tasks)
    : undefined;
}

/** How a command is told which source it works on. */
export interface Naming {
  readonly flag: string;
  readonly of: (place: string) => string;
}

/** That of most commands. */
export const FILE_FLAG: Naming = { flag: '--file', of: place => `--file ${place}` };

/**
 * The source that somebody has named. If they name the folder with the tasks, they mean the one around it.
 *
 * @param dir what the name is relative to
 * @param naming how another name is given, for advice
 * @throws {HumanError} if it is a part of a source, or a folder that has its source in it
 */
export function namedSource(dir: string, named: string, naming: Naming = FILE_FLAG): string {
  const file = path.resolve(dir, named);
  const around = path.dirname(file);
  if (isStoryFolder(file)) {
    return file;
  }
  if (path.basename(file) === TASKS && isStoryFolder(around)) {
    return around;
  }
  const place = (found: string) => naming.of(shellWord(path.relative(dir, found) || '.'));
  const folder = backlogAround(file);
  if (folder !== undefined) {
    throw new HumanError(
      say('{0} is a file of Backlog.md. Name the folder: {1}', file, place(folder)),
    );
  }
  const [inside, ...others] = listsInside(file);
  if (inside !== undefined) {
    throw new HumanError(
      others.length === 0
        ? say('{0} is a folder. Name the file in it: {1}', file, place(inside))
        : say('{0} is a folder. Name one of the lists in it, such as: {1}', file, place(inside)),
    );
  }
  return file;
}

/** The list in a folder of a tool, or else those in the folders below. */
function listsInside(folder: string): readonly string[] {
  if (!isKind(folder, 'folder')) {
    return [];
  }
  const own = LISTS_INSIDE.map(list => path.join(folder, list)).find(list => isKind(list, 'file'));
  return own === undefined
    ? FOLDERS_OF_LISTS.flatMap(name => listsBelow(path.join(folder, name)))
    : [own];
}

/** A `tasks.md` for each folder in this one; OpenSpec keeps what is finished in `archive`. */
function listsBelow(folder: string): readonly string[] {
  return namesInSync(folder)
    .filter(name => name !== 'archive')
    .sort()
    .map(name => path.join(folder, name, 'tasks.md'))
    .filter(list => isKind(list, 'file'));
}

/** The folder of Backlog.md that a file is a task or the settings of. */
function backlogAround(file: string): string | undefined {
  const name = path.basename(file);
  const around = path.dirname(file);
  if (path.basename(around) === TASKS && isStoryFolder(path.dirname(around))) {
    return idInName(name) !== undefined && isTaskName(name) && isKind(file, 'file')
      ? path.dirname(around)
      : undefined;
  }
  return CONFIGS.some(config => config === name) && isStoryFolder(around) && isKind(file, 'file')
    ? around
    : undefined;
}

/** None if nobody may look: reading it says so. */
function namesInSync(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

function isKind(file: string, kind: 'file' | 'folder'): boolean {
  try {
    const found = statSync(file, { throwIfNoEntry: false });
    return kind === 'file' ? found?.isFile() === true : found?.isDirectory() === true;
  } catch {
    // Whatever keeps it from being looked at: reading it says so.
    return false;
  }
}

/**
 * Reads a folder of tasks as one text, see `folderText.ts`. Nothing is read through a link: who looks at the list could
 * otherwise be shown, and would send to an agent, what is not part of the repository.
 *
 * @param maxBytes of that text
 * @returns the text, or what prevents it
 */
export async function readFolder(
  folder: string,
  maxBytes: number,
): Promise<Buffer | { readonly problem: Message }> {
  for (const dir of [TASKS, COMPLETED]) {
    const problem = outsideProblem(path.join(folder, dir));
    if (problem !== undefined) {
      return { problem };
    }
  }
  const entries = await readdir(path.join(folder, TASKS), { withFileTypes: true }).catch(absent);
  const tasks = entries.filter(({ name }) => isTaskName(name));
  if (tasks.length > MAX_FILES) {
    return { problem: tooLarge(folder, maxBytes) };
  }
  const plain = tasks.filter(entry => entry.isFile());
  const files = new Map<string, Buffer>();
  let bytes = 0;
  const names = [...CONFIGS, ...inOrder(plain.map(({ name }) => name)).map(inTasks)];
  for (const [at, name] of names.entries()) {
    const content = readPlain(path.join(folder, name), maxBytes - bytes);
    if (content === 'tooLarge') {
      return { problem: tooLarge(folder, maxBytes) };
    }
    // It has been removed meanwhile.
    if (content !== undefined) {
      bytes += content.length;
      files.set(name, content);
    }
    if (at % AT_ONCE === AT_ONCE - 1) {
      await otherWork();
    }
  }
  const odd = entries.flatMap(({ name }) => oddTaskName(name) ?? []);
  const noFiles = tasks.filter(entry => !entry.isFile()).map(({ name }) => name);
  const settings = CONFIGS.filter(name => !files.has(name) && isThere(path.join(folder, name)));
  const content: FolderContent = {
    files,
    completed: (await namesIn(path.join(folder, COMPLETED))).filter(isTaskName),
    unread: [...settings, ...[...noFiles, ...new Set(odd)].map(inTasks)],
  };
  const text = packFolder(content);
  return text.length > maxBytes ? { problem: tooLarge(folder, maxBytes) } : text;
}

/**
 * What looks like a task where neither the tool nor we read it: in a folder below that of the tasks, or with another
 * ending. It is no part of the text of the folder, because it is nothing that a run may change.
 */
export async function tasksAsideProblems(folder: string): Promise<StoryProblem[]> {
  const below = await tasksBelow(folder);
  const others = await otherEndings(folder);
  const place = { code: 'notAStory', line: 1, column: 1 } as const;
  return [
    ...below.slice(0, 1).map(first => ({
      ...place,
      message: say(
        'Tasks in subfolders that are not read: {0}, beginning with {1}. Backlog.md does not read them either: move them to {2}.',
        below.length,
        plainText(first),
        `${TASKS}/`,
      ),
      file: first,
    })),
    ...others.slice(0, 1).map(first => ({
      ...place,
      message: say(
        'Tasks that are not read because of the end of their name: {0}, beginning with {1}. Backlog.md does not read them either: let their names end with ".md".',
        others.length,
        plainText(first),
      ),
      file: first,
    })),
  ];
}

/** Tasks whose names end with `.markdown`, by path from the folder. */
async function otherEndings(folder: string): Promise<string[]> {
  const entries = await readdir(path.join(folder, TASKS), { withFileTypes: true }).catch(absent);
  return inOrder(
    entries
      .filter(
        entry =>
          entry.isFile() && /\.markdown$/i.test(entry.name) && idInName(entry.name) !== undefined,
      )
      .map(({ name }) => inTasks(name.replaceAll(/\p{Cc}/gu, '\uFFFD'))),
  );
}

/** By path from the folder, with forward slashes. */
async function tasksBelow(folder: string): Promise<string[]> {
  const tasks = path.join(folder, TASKS);
  const entries = await readdir(tasks, { withFileTypes: true }).catch(absent);
  const found: string[] = [];
  for (const { name } of entries.filter(entry => entry.isDirectory())) {
    const below = await readdir(path.join(tasks, name), {
      recursive: true,
      withFileTypes: true,
      // Where nobody may look, there is nothing that could be named.
    }).catch(() => []);
    found.push(
      ...below
        .filter(
          entry =>
            entry.isFile() &&
            /\.md$/i.test(entry.name) &&
            // Who sorts tasks into folders also calls them "task-epic-11.3".
            (idInName(entry.name) !== undefined || /^task-/i.test(entry.name)),
        )
        .map(entry => path.relative(folder, path.join(entry.parentPath, entry.name)))
        .map(file => file.replaceAll(path.sep, '/').replaceAll(/\p{Cc}/gu, '\uFFFD')),
    );
  }
  return inOrder(found);
}

/** The files of a folder of stories, by path from there, with forward slashes. */
export async function storyFolderFiles(folder: string): Promise<string[]> {
  const files: string[] = CONFIGS.filter(name => !name.startsWith('..'));
  for (const list of [TASKS, COMPLETED]) {
    const names = (await namesIn(path.join(folder, list))).filter(isTaskName);
    files.push(...names.map(name => `${list}/${name}`));
  }
  return files.filter(
    name => lstatSync(path.join(folder, name), { throwIfNoEntry: false })?.isFile() === true,
  );
}

/** Changes whenever a file of the folder does. */
export async function folderVersion(folder: string): Promise<string> {
  const tasks = (await namesIn(path.join(folder, TASKS))).filter(
    name => isTaskName(name) || oddTaskName(name) !== undefined,
  );
  const names = [...CONFIGS, COMPLETED, ...tasks.map(inTasks)];
  const versions = [...(await tasksBelow(folder)), ...(await otherEndings(folder))];
  for (const [at, name] of names.entries()) {
    const found = statSync(path.join(folder, name), { throwIfNoEntry: false });
    versions.push(found === undefined ? '' : `${name} ${found.ino} ${found.size} ${found.mtimeMs}`);
    if (at % AT_ONCE === AT_ONCE - 1) {
      await otherWork();
    }
  }
  return versions.join('\n');
}

/** @returns `undefined` if there is no plain file at this path */
function readPlain(file: string, maxBytes: number): Buffer | 'tooLarge' | undefined {
  let fd: number;
  try {
    fd = openSync(file, PLAIN);
  } catch (error) {
    if (isAbsent(error)) {
      return undefined;
    }
    throw error;
  }
  try {
    const found = fstatSync(fd);
    return !found.isFile() ? undefined : found.size > maxBytes ? 'tooLarge' : readFileSync(fd);
  } finally {
    closeSync(fd);
  }
}

function isThere(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false }) !== undefined;
}

function absent(error: unknown): [] {
  if (isAbsent(error)) {
    return [];
  }
  throw error;
}

/** ELOOP, EMLINK: a link. ENXIO: a socket. */
function isAbsent(error: unknown): boolean {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  return ['ENOENT', 'ENOTDIR', 'ELOOP', 'EMLINK', 'ENXIO'].includes(code);
}

function inTasks(name: string): string {
  return `${TASKS}/${name}`;
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(absent);
}

function tooLarge(folder: string, maxBytes: number): Message {
  return say(
    '{0} has too many or too large task files, more than {1} MB: move finished tasks to {2}.',
    path.basename(folder),
    maxBytes / 1024 / 1024,
    `${path.basename(folder)}/${COMPLETED}`,
  );
}
