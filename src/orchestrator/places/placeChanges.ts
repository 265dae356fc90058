import { randomUUID } from 'node:crypto';
import { lstat, realpath, rm } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { gitOutput } from '../git/runGit.ts';
import { ALONE } from '../git/sharedClone.ts';
import { unchangedCopies } from './copiedFiles.ts';
import { PlaceFiles, placesIn } from './placeFiles.ts';
import { copyIndex } from './placeHolding.ts';
import { SETTLING } from './placesFolder.ts';

/** A file of a place, while the place serves one iteration. */
export interface PlaceFile {
  /** The name of the place. */
  readonly place: string;
  readonly runId: string;
  readonly iteration: number | undefined;
  /** From the top folder, with forward slashes. */
  readonly path: string;
}

/** The place that served a story last. */
export interface StoryPlace {
  readonly name: string;
  /** Top folder of the clone. */
  readonly root: string;
  /** The workspace's folder in it. */
  readonly dir: string;
  readonly runId: string;
  readonly iteration: number | undefined;
  /** The living process that has it: its agent's loop. */
  readonly usedBy: number | undefined;
}

/** A file of a place that differs from the commit at which the place started. */
export interface PlaceChange {
  /** From the top folder, with forward slashes. */
  readonly path: string;
  readonly isNew: boolean;
  /** What is there now. A link leads who knows where, so it is no `file`. */
  readonly now: 'file' | 'gone' | 'other';
}

/** What was done in a place so far, committed or not. */
export interface PlaceChanges {
  /** Full hash, in the user's repository. */
  readonly start: string;
  readonly iteration: number | undefined;
  /** By path. */
  readonly files: readonly PlaceChange[];
}

/**
 * The place in which a story of a run is, or was last; that of a person who settles its conflict comes first.
 * @param folder the folder of the workspace's places
 * @returns `undefined` if there is none, or another story has used it since
 */
export async function placeOfStory(
  folder: string,
  { runId, storyId }: { readonly runId: string; readonly storyId: string },
): Promise<StoryPlace | undefined> {
  const found: StoryPlace[] = [];
  for (const { files, isSetAside } of await placesIn(folder)) {
    const record = await files.readRecord();
    if (!isSetAside && record?.isReady && record.runId === runId && record.story === storyId) {
      const inRoot = path.relative(record.root, record.workspace);
      found.push({
        ...{ name: files.name, root: files.tree, runId, iteration: record.iteration },
        dir: inRoot.startsWith('..') ? files.tree : path.join(files.tree, inRoot),
        usedBy: await files.usedBy(),
      });
    }
  }
  const byPerson = found.find(({ name }) => name.startsWith(SETTLING));
  return byPerson ?? found.sort((a, b) => (b.iteration ?? 0) - (a.iteration ?? 0))[0];
}

/**
 * What differs in a place from the commit at which it started. Changes nothing, and runs nothing that an agent wrote
 * there: git works with our own copy of the git folder.
 *
 * @param root top folder of the place
 * @throws {HumanError} if it cannot be read
 */
export async function changesIn(root: string): Promise<PlaceChanges> {
  const files = PlaceFiles.of(root);
  const record = await files.readRecord();
  if (record?.isReady !== true) {
    throw new HumanError(say('The place {0} is being prepared, or is gone.', root));
  }
  const { iteration, start } = record;
  const index = path.join(files.reader, `index-${randomUUID()}`);
  const git = async (...args: readonly string[]) => {
    const place = [`--git-dir=${files.reader}`, `--work-tree=${root}`];
    const output = await gitOutput(root, [...ALONE, ...place, ...args], {
      moreEnv: { GIT_INDEX_FILE: index },
    });
    return output.toString('utf8').split('\0');
  };
  try {
    await copyIndex(path.join(files.reader, 'index'), index);
    const [changed, added, copies] = await Promise.all([
      git('diff', '--name-only', '-z', '--no-renames', '--no-ext-diff', start, '--'),
      git('ls-files', '--others', '--exclude-standard', '-z'),
      unchangedCopies(root, record.copied),
    ]);
    const copied = new Set(copies);
    const all = new Map([
      ...changed.map(name => [name, false] as const),
      // A folder that is a repository of its own ends with a slash.
      ...added.filter(name => !name.endsWith('/')).map(name => [name, true] as const),
    ]);
    const names = [...all].filter(([name]) => name !== '' && !copied.has(name));
    const top = await realpath(root);
    return {
      ...{ start, iteration },
      files: await Promise.all(
        names
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .map(async ([name, isNew]) => ({ path: name, isNew, now: await whatIs(top, name) })),
      ),
    };
  } catch (error) {
    throw asHumanError(error, say('The place {0} cannot be read', root));
  } finally {
    await rm(index, { force: true });
  }
}

/**
 * Where a file of a place is.
 * @param folder the folder of the workspace's places
 * @returns its real path; `undefined` if it is no plain file, or the place serves something else now
 */
export async function fileInPlace(
  folder: string,
  { iteration, path: name, place, runId }: PlaceFile,
): Promise<string | undefined> {
  const found = (await placesIn(folder)).find(
    ({ files, isSetAside }) => !isSetAside && files.name === place,
  );
  const record = await found?.files.readRecord();
  if (found === undefined || record?.runId !== runId || record.iteration !== iteration) {
    return undefined;
  }
  const top = await realpath(found.files.tree).catch(() => '');
  const file = path.join(top, name);
  return file.startsWith(top + path.sep) && (await whatIs(top, name)) === 'file' ? file : undefined;
}

async function whatIs(top: string, name: string): Promise<PlaceChange['now']> {
  const file = path.join(top, name);
  const found = await lstat(file).catch(() => undefined);
  if (found === undefined) {
    return 'gone';
  }
  // A folder on the way may be a link, too.
  return found.isFile() && (await realpath(file).catch(() => '')) === file ? 'file' : 'other';
}
