import { randomBytes } from 'node:crypto';
import { constants, lstatSync } from 'node:fs';
import { type FileHandle, link, mkdir, open, readdir, rename, rm } from 'node:fs/promises';
import path from 'node:path';
import { PLAIN, readPlainFile, requirePlainFolders } from '../../base/plainFile.ts';
import { isRunning } from '../process/processIdentity.ts';
import type { RunFiles } from './runFiles.ts';

const IGNORE_ALL = '*\n';
/** Larger ones are no lists of a person's patterns, or of git's. */
const MAX_BYTES = 1024 * 1024;
/** Behind the name of a file that is being made: the pid of its maker. */
const MADE = /^\.(\d+)-[0-9a-f]{12}\.tmp$/;
/** What file systems without hard links answer. */
const NO_LINKS: ReadonlySet<string> = new Set([
  'EPERM',
  'ENOTSUP',
  'EOPNOTSUPP',
  'ENOSYS',
  'EMLINK',
]);

/**
 * Keeps git from seeing the state, whoever writes there first. A person's own `.gitignore` stays as it is. Ours may
 * be lost while an agent works (`git clean -fdx`), so the repository's `info/exclude` names the state, too.
 * @throws {HumanError} when a folder on the way is a link
 */
export async function ignoreStateDir(files: RunFiles): Promise<void> {
  requirePlainFolders(files.stateDir);
  await mkdir(files.stateDir, { recursive: true });
  const file = path.join(files.stateDir, '.gitignore');
  await createOnce(file, IGNORE_ALL);
  if ((await readPlainFile(file, MAX_BYTES))?.toString('utf8') === IGNORE_ALL) {
    await excludeStateDir(files);
  }
}

/**
 * Whether the state has been here before, by the repository's `info/exclude`, which outlives the folder. Of a
 * repository whose `info/exclude` was not ours to write, nothing is known.
 */
export async function hasHadState(files: RunFiles): Promise<boolean> {
  const place = await excludePlace(files);
  return place !== undefined && (await linesOf(place.file))?.includes(place.pattern) === true;
}

async function excludeStateDir(files: RunFiles): Promise<void> {
  const place = await excludePlace(files);
  if (place === undefined) {
    return;
  }
  const { file, pattern } = place;
  try {
    if (kindOf(path.dirname(file)) === undefined) {
      await mkdir(path.dirname(file));
    }
    if (kindOf(path.dirname(file)) !== 'folder') {
      return;
    }
    if (!(await createOnce(file, `${pattern}\n`))) {
      await addLine(file, pattern);
    }
  } catch (error) {
    // A repository that is read-only has no agent that could commit the state.
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw error;
    }
  }
}

/** The repository's list, and the line of it that names the state. */
async function excludePlace(
  files: RunFiles,
): Promise<{ readonly file: string; readonly pattern: string } | undefined> {
  const found = await findGitDir(files.workspace);
  const pattern = found && excludePattern(path.relative(found.workTree, files.stateDir));
  return found === undefined || pattern === undefined
    ? undefined
    : { file: path.join(found.gitDir, 'info', 'exclude'), pattern };
}

async function linesOf(file: string): Promise<readonly string[] | undefined> {
  const text = (await readPlainFile(file, MAX_BYTES))?.toString('utf8');
  return text?.split(/\r?\n/);
}

/** Adds a line to a plain file, unless it is there. */
async function addLine(file: string, line: string): Promise<void> {
  const lines = await linesOf(file);
  if (lines === undefined || lines.includes(line)) {
    return;
  }
  const isWhole = lines.at(-1) === '';
  const handle = await open(file, constants.O_WRONLY | constants.O_APPEND | PLAIN);
  await writeAndClose(handle, `${isWhole ? '' : '\n'}${line}\n`);
}

/**
 * Makes the file with all its text or not at all: a half-made one would look like a person's own for ever.
 * @returns false when there is something at this place, also a link that leads nowhere
 */
async function createOnce(file: string, text: string): Promise<boolean> {
  await removeHalfMade(file);
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
    return false;
  }
  const { O_WRONLY, O_CREAT, O_EXCL } = constants;
  const made = `${file}.${process.pid}-${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeAndClose(await open(made, O_WRONLY | O_CREAT | O_EXCL | PLAIN, 0o644), text);
    return await putInPlace(made, file);
  } finally {
    await rm(made, { force: true });
  }
}

/** Removes what {@link createOnce} leaves beside the file when it is killed. */
async function removeHalfMade(file: string): Promise<void> {
  const { base, dir } = path.parse(file);
  for (const name of await readdir(dir)) {
    const pid = name.startsWith(`${base}.`) && MADE.exec(name.slice(base.length))?.[1];
    if (pid && !(await isRunning({ pid: Number(pid) }))) {
      await rm(path.join(dir, name), { force: true });
    }
  }
}

/** @returns false when there is something at the place by now */
async function putInPlace(made: string, file: string): Promise<boolean> {
  try {
    // Unlike a rename, a link takes nobody's place.
    await link(made, file);
    return true;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'EEXIST') {
      return false;
    }
    if (!NO_LINKS.has(code ?? '')) {
      throw error;
    }
    await rename(made, file);
    return true;
  }
}

async function writeAndClose(handle: FileHandle, text: string): Promise<void> {
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

/** @returns the repository that `dir` is in, with the folder of what its work trees share */
async function findGitDir(dir: string): Promise<{ workTree: string; gitDir: string } | undefined> {
  for (let workTree = dir; ; workTree = path.dirname(workTree)) {
    const place = path.join(workTree, '.git');
    const kind = kindOf(place);
    if (kind !== undefined) {
      const gitDir = kind === 'folder' ? place : await linkedGitDir(place);
      const isGit = gitDir !== undefined && kindOf(path.join(gitDir, 'HEAD')) === 'file';
      return isGit ? { workTree, gitDir } : undefined;
    }
    if (path.dirname(workTree) === workTree) {
      return undefined;
    }
  }
}

/** Follows the `.git` file of a linked work tree or submodule. */
async function linkedGitDir(file: string): Promise<string | undefined> {
  const text = await readPlainFile(file, MAX_BYTES);
  const target = /^gitdir: (.+?)\r?\n?$/.exec(text?.toString('utf8') ?? '')?.[1];
  if (target === undefined) {
    return undefined;
  }
  const own = path.resolve(path.dirname(file), target);
  const common = (await readPlainFile(path.join(own, 'commondir'), MAX_BYTES))?.toString('utf8');
  return common === undefined ? own : path.resolve(own, common.trim());
}

function kindOf(place: string): 'file' | 'folder' | 'other' | undefined {
  const stat = lstatSync(place, { throwIfNoEntry: false });
  if (stat === undefined) {
    return undefined;
  }
  return stat.isFile() ? 'file' : stat.isDirectory() ? 'folder' : 'other';
}

/** @returns `undefined` for a folder whose name no pattern can hold */
function excludePattern(folder: string): string | undefined {
  const name = path.sep === '\\' ? folder.replaceAll('\\', '/') : folder;
  return /[\r\n]/.test(name) ? undefined : `${name.replace(/[*?[\]\\!#]/g, '\\$&')}/`;
}
