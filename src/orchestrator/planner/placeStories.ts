import { lstatSync } from 'node:fs';
import { access, constants, mkdir, open, rm } from 'node:fs/promises';
import path from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createFile, writeNew } from '../../base/createFile.ts';
import { createFolder } from '../../base/createFolder.ts';
import { HumanError } from '../../base/humanError.ts';
import { openPlainFile } from '../../base/plainFile.ts';
import { replaceFile } from '../../base/replaceFile.ts';
import { say } from '../../base/say.ts';
import { diskRefusal } from '../../base/systemRefusal.ts';
import { requireInside } from '../stories/outsideLinks.ts';
import { parseStoryFile } from '../stories/storyFile.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** Interval between two attempts to write, in ms. */
const PAUSE_MS = 100;
/** In ms. Longer than the time after which `replaceFile` considers a temporary file the leftover of a crash. */
const PATIENCE_MS = 35_000;
const MAX_SLUG = 50;

export interface NewStories {
  readonly files: RunFiles;
  /** Absolute path of a JSON story file; may not exist yet. */
  readonly storyFile: string;
  /** Its new content. */
  readonly content: string;
  readonly now: Date;
}

/**
 * Writes a new story file and a new `progress.txt` next to it. The existing files are first copied to a new folder
 * below `.omc/archive`, and are only replaced if they have not changed since the copy. If the process is killed at
 * any point, both old files are complete, in their places or in the archive. After a failure, no copy stays that
 * nothing was replaced for.
 *
 * @returns the archive's folder, relative to the workspace, if there was something to keep
 * @throws {HumanError} if a file cannot be written or keeps changing
 */
export async function placeStories(stories: NewStories): Promise<{ archived?: string }> {
  const { files, storyFile, content, now } = stories;
  const archiving: Archiving = { files, now, unneeded: [] };
  try {
    requirePlace(files, storyFile);
    await createFolder(path.dirname(storyFile));
    const progressFile = progressFileOf(storyFile);
    const archived = await archive(archiving, [storyFile, progressFile]);
    // The stories first: new stories with an old log only mean that an agent reads more than it needs.
    const kept = await replace(storyFile, content, archived, archiving);
    const keptLog = await replace(progressFile, progressHead(now), archived, archiving);
    await syncDir(path.dirname(storyFile));
    const dir = (kept ?? keptLog)?.dir;
    return dir === undefined ? {} : { archived: relative(files, dir) };
  } catch (error) {
    for (const dir of archiving.unneeded) {
      await removeArchive(dir);
    }
    throw asHumanError(storyFile, error);
  }
}

/**
 * Checks whether a story file can be written there, before anybody pays for a plan.
 *
 * @throws {HumanError} if it is not a JSON file, or something other than a file is in the way
 */
export async function requireWritablePlace(files: RunFiles, storyFile: string): Promise<void> {
  requirePlace(files, storyFile);
  for (const file of [storyFile, progressFileOf(storyFile)]) {
    await access(file, constants.W_OK).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'ENOENT') {
        throw asHumanError(file, error);
      }
    });
  }
}

function requirePlace(files: RunFiles, storyFile: string): void {
  if (!/\.json$/i.test(storyFile)) {
    throw new HumanError(
      say(
        'New stories are written as JSON, and {0} is another kind of file: name one that ends with .json.',
        storyFile,
      ),
    );
  }
  for (const file of [storyFile, progressFileOf(storyFile)]) {
    const found = lstatSync(file, { throwIfNoEntry: false });
    if (found?.isSymbolicLink()) {
      throw new HumanError(
        say(
          '{0} is a link, and what it leads to would be replaced. Remove the link, or name the file itself.',
          file,
        ),
      );
    }
    if (found !== undefined && !found.isFile()) {
      throw new HumanError(
        say('{0} is not a file: move it out of the way, then start again.', file),
      );
    }
  }
  for (const place of [storyFile, progressFileOf(storyFile)]) {
    requireInside(place);
  }
  requireArchive(files);
}

/** @throws {HumanError} if the folder of the archive is not usable: a link out of the repository, or a file */
export function requireArchive(files: RunFiles): void {
  const archiveDir = archiveDirOf(files);
  requireInside(archiveDir);
  const found = lstatSync(archiveDir, { throwIfNoEntry: false });
  if (found !== undefined && !found.isDirectory()) {
    throw new HumanError(
      say(
        '{0} must be a folder, because earlier stories are kept there: move what is in its place elsewhere.',
        archiveDir,
      ),
    );
  }
}

function archiveDirOf({ stateDir }: RunFiles): string {
  return path.join(path.dirname(stateDir), 'archive');
}

function progressFileOf(storyFile: string): string {
  return path.join(path.dirname(storyFile), 'progress.txt');
}

/** The start of an empty progress log. */
function progressHead(now: Date): string {
  return `# Ralph Progress Log\n\nStarted: ${now.toISOString()}\n\n## Codebase Patterns\n\n---\n`;
}

/** Copies of the archived files, by path. */
interface Archive {
  readonly dir: string;
  readonly contents: ReadonlyMap<string, Buffer>;
}

/** Where and when archives are made. */
interface Archiving {
  readonly files: RunFiles;
  readonly now: Date;
  /** Folders of archives since whose copies no file was replaced. */
  readonly unneeded: string[];
}

/** @returns `undefined` if none of the files exists */
async function archive(
  { files, now, unneeded }: Archiving,
  paths: readonly [storyFile: string, ...others: string[]],
): Promise<Archive | undefined> {
  const contents = new Map<string, Buffer>();
  for (const file of paths) {
    const content = await readIfThere(file);
    if (content !== undefined) {
      contents.set(file, content);
    }
  }
  if (contents.size === 0) {
    return undefined;
  }
  const dir = await archiveContents(files, now, slugOf(paths[0], contents.get(paths[0])), contents);
  unneeded.push(dir);
  return { dir, contents };
}

/**
 * Copies files to a new folder below `.omc/archive`, then does what needs the copies. If either fails, the copies are
 * removed: they would only take up room, such as on a disk that is full.
 * @param slug the end of the folder's name
 * @param contents by path; only the names of the files are used
 * @param replace gets the absolute path of the folder; fails only if it has replaced nothing
 */
export async function withArchive<T>(
  files: RunFiles,
  now: Date,
  slug: string,
  contents: ReadonlyMap<string, Buffer>,
  replace: (dir: string) => Promise<T>,
): Promise<T> {
  const dir = await archiveContents(files, now, slug, contents);
  try {
    return await replace(dir);
  } catch (error) {
    await removeArchive(dir);
    throw error;
  }
}

/** Safe from a power failure. Leaves nothing behind if it fails. @returns absolute path of the folder */
async function archiveContents(
  files: RunFiles,
  now: Date,
  slug: string,
  contents: ReadonlyMap<string, Buffer>,
): Promise<string> {
  const dir = await newFolder(archiveDirOf(files), `${timestamp(now)}-${slug}`);
  try {
    for (const [file, content] of contents) {
      await writeNew(path.join(dir, path.basename(file)), content);
    }
    await syncDir(dir);
    await syncDir(path.dirname(dir));
    return dir;
  } catch (error) {
    await removeArchive(dir);
    throw error;
  }
}

/** Only after another error, which is the one that a person can fix. */
async function removeArchive(dir: string): Promise<void> {
  await rm(dir, { recursive: true, force: true }).catch(() => undefined);
}

async function newFolder(parent: string, name: string): Promise<string> {
  await mkdir(parent, { recursive: true });
  for (let n = 1; ; n += 1) {
    const dir = path.join(parent, n === 1 ? name : `${name}-${n}`);
    try {
      await mkdir(dir);
      return dir;
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') {
        throw error;
      }
    }
  }
}

/**
 * Replaces a file whose content is archived; if it has changed since, it is archived again.
 * @returns the archive of the replaced content, or the previous one
 */
async function replace(
  file: string,
  content: string,
  kept: Archive | undefined,
  archiving: Archiving,
): Promise<Archive | undefined> {
  const begin = performance.now();
  let archived = kept;
  let before = kept?.contents.get(file);
  while (!(await put(file, before, Buffer.from(content)))) {
    if (performance.now() - begin > PATIENCE_MS) {
      throw new HumanError(
        say(
          'Another program keeps changing {0}, so it was not replaced: try again when that program has ended.',
          file,
        ),
      );
    }
    await wait(PAUSE_MS);
    const found = await readIfThere(file);
    if (found !== undefined && (before === undefined || !found.equals(before))) {
      archived = await archive(archiving, [file]);
      before = archived?.contents.get(file);
    } else {
      // Unchanged, so another process has a temporary file; or somebody removed the file, and the copy stays.
      before = found;
    }
  }
  if (before !== undefined) {
    archiving.unneeded.length = 0;
  }
  return archived;
}

/** @returns false if the file does not have the expected content (any more) */
async function put(file: string, before: Buffer | undefined, after: Buffer): Promise<boolean> {
  if (before !== undefined) {
    return replaceFile(file, before, after).catch(error => {
      if (codeOf(error) === 'ENOENT') {
        return false;
      }
      throw error;
    });
  }
  return createFile(file, after);
}

async function readIfThere(file: string): Promise<Buffer | undefined> {
  const handle = await openPlainFile(file);
  try {
    return await handle?.readFile();
  } finally {
    await handle?.close();
  }
}

/**
 * Makes new names in a folder survive a power failure. Windows cannot open folders, but writes their names itself.
 */
async function syncDir(dir: string): Promise<void> {
  if (process.platform === 'win32') {
    return;
  }
  const handle = await open(dir, constants.O_RDONLY);
  try {
    await handle.sync();
  } catch (error) {
    // Some file systems (network, FUSE) do not support it; then they are responsible for the names.
    if (!['EINVAL', 'ENOTSUP', 'EOPNOTSUPP'].includes(codeOf(error))) {
      throw error;
    }
  } finally {
    await handle.close();
  }
}

/** `2026-01-28-151403`, UTC as in run ids. */
function timestamp(now: Date): string {
  return now.toISOString().slice(0, 19).replace('T', '-').replaceAll(/:/g, '');
}

/** What the archived stories were about, according to their branch or project. */
function slugOf(storyFile: string, content: Buffer | undefined): string {
  const file = content === undefined ? undefined : parseStoryFile(storyFile, content);
  const name =
    file?.kind === 'stories' && file.format === 'prd'
      ? file.branchName.replace(/^ralph\//, '') || file.project
      : '';
  const slug = name
    .slice(0, 4 * MAX_SLUG)
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/\p{M}/gu, '')
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, MAX_SLUG)
    .replaceAll(/^-|-$/g, '');
  return slug || 'stories';
}

/** A path relative to the workspace, with forward slashes. */
export function relative({ workspace }: RunFiles, file: string): string {
  return path.relative(workspace, file).split(path.sep).join('/');
}

function codeOf(error: unknown): string {
  return error instanceof Error && 'code' in error ? String(error.code) : '';
}

function asHumanError(file: string, error: unknown): unknown {
  if (error instanceof HumanError || codeOf(error) === '') {
    return error;
  }
  const { path: place = file } = error as NodeJS.ErrnoException;
  return new HumanError(
    diskRefusal(error, file) ??
      say(
        '{0} cannot be written ({1}): check the permissions of the file and its folder.',
        place,
        codeOf(error),
      ),
    { cause: error },
  );
}
