import { constants, lstatSync } from 'node:fs';
import { type FileHandle, mkdir, open, readdir, rm } from 'node:fs/promises';
import path from 'node:path';
import { createFile, UNFINISHED } from '../../base/createFile.ts';
import { createFolder } from '../../base/createFolder.ts';
import { PLAIN, readPlainFile, requirePlainFolders } from '../../base/plainFile.ts';
import { isRunning } from '../process/processIdentity.ts';
import type { RunFiles } from './runFiles.ts';

const IGNORE_ALL = '*\n';
/** Larger files are not ignore lists of a person or of git. */
const MAX_BYTES = 1024 * 1024;

/**
 * Makes git ignore the state folder, whoever writes there first. An existing `.gitignore` of a person is left
 * unchanged. Ours may be deleted by an agent (`git clean -fdx`), so the state folder is also listed in the
 * repository's `info/exclude`.
 * @throws {HumanError} if a parent folder is a link
 */
export async function ignoreStateDir(files: RunFiles): Promise<void> {
  requirePlainFolders(files.stateDir);
  await createFolder(files.stateDir);
  const file = path.join(files.stateDir, '.gitignore');
  await createOnce(file, IGNORE_ALL);
  if ((await readPlainFile(file, MAX_BYTES))?.toString('utf8') === IGNORE_ALL) {
    await excludeStateDir(files);
  }
}

/**
 * Whether the state folder existed before, according to the repository's `info/exclude`, which outlives the folder.
 * Unknown if we could not write to `info/exclude`.
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
    // If the repository is read-only, no agent can commit the state.
    if (!['EACCES', 'EPERM', 'EROFS'].includes((error as NodeJS.ErrnoException).code ?? '')) {
      throw error;
    }
  }
}

/** The repository's exclude file, and the line in it for the state folder. */
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

/** Adds a line to a plain file, unless the file already has it. */
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
 * Creates the file with all its text or not at all: a partial file would look like a person's own forever.
 * @returns false if something exists at this path, including a broken link
 */
async function createOnce(file: string, text: string): Promise<boolean> {
  await removeHalfMade(file);
  if (lstatSync(file, { throwIfNoEntry: false }) !== undefined) {
    return false;
  }
  return createFile(file, text);
}

/** Removes the temporary files that {@link createOnce} leaves if it is killed. */
async function removeHalfMade(file: string): Promise<void> {
  const { base, dir } = path.parse(file);
  for (const name of await readdir(dir)) {
    const pid = name.startsWith(`${base}.`) && UNFINISHED.exec(name.slice(base.length))?.[1];
    if (pid && !(await isRunning({ pid: Number(pid) }))) {
      await rm(path.join(dir, name), { force: true });
    }
  }
}

async function writeAndClose(handle: FileHandle, text: string): Promise<void> {
  try {
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

/** @returns the work tree that contains `dir`, and the git folder that its work trees share */
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

/** @returns `undefined` for a folder whose name cannot be written as a pattern */
function excludePattern(folder: string): string | undefined {
  const name = path.sep === '\\' ? folder.replaceAll('\\', '/') : folder;
  return /[\r\n]/.test(name) ? undefined : `${name.replace(/[*?[\]\\!#]/g, '\\$&')}/`;
}
