import { existsSync } from 'node:fs';
import { lstat, readdir } from 'node:fs/promises';
import path from 'node:path';
import { messageOf } from '../../base/messageOf.ts';
import { type Message, say, sentences } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { GitRepository } from '../git/git.ts';
import { readRefFiles } from '../git/refFiles.ts';
import { writeGit } from '../git/runGit.ts';
import { isHeld } from './keptWork.ts';
import { emptyTrash, PlaceFiles, placesIn } from './placeFiles.ts';
import { inspectPlace, noRecord } from './placeHolding.ts';
import { placeRefs, SETTLING } from './placesFolder.ts';

const MAX_REASON = 300;
const BLOCK_BYTES = 512;

/** A place on the disk. */
export interface PlaceEntry {
  readonly name: string;
  /** Top folder of the clone. */
  readonly path: string;
  /** It could not be read, so another one was made instead. */
  readonly isSetAside: boolean;
  /** What it last served. */
  readonly runId?: string | undefined;
  readonly story?: string | undefined;
  readonly iteration?: number | undefined;
  /** Full hash. */
  readonly head?: string | undefined;
  /** The living process that has it. */
  readonly usedBy?: number | undefined;
  /** Why it must not be deleted: it has something that the user's repository does not hold. */
  readonly unsafe?: Message | undefined;
  /** Space on the disk; reads every file's size, which takes a while. */
  size(): Promise<number>;
}

/** What became of a place. */
export interface CleanedPlace {
  readonly name: string;
  readonly path: string;
  /** Why it is still there; absent if it was removed. */
  readonly kept?: Message | undefined;
  /** A living process has it. */
  readonly isUsed: boolean;
}

/** The places of a workspace, those that were set aside last. Changes nothing. */
export async function listPlaces(folder: string): Promise<PlaceEntry[]> {
  const entries: PlaceEntry[] = [];
  for (const { files, isSetAside } of await placesIn(folder)) {
    const record = await files.readRecord();
    const usedBy = await files.usedBy();
    const found =
      usedBy === undefined
        ? await look(files, record?.root)
        : {
            head: (await readRefFiles(files.gitDir)).head,
            unsafe: say('Process {0} works there.', usedBy),
          };
    const { iteration, runId, story } = record ?? {};
    entries.push({
      ...{ name: files.name, path: files.tree, isSetAside, runId, story, iteration, usedBy },
      ...{ head: found.head, unsafe: found.unsafe },
      size: () => sizeOf(files.tree),
    });
  }
  return entries;
}

/** Ids of the stories of a run that have a place, those that have used it last. */
export async function listedStories(folder: string, runId: string): Promise<string[]> {
  const records = await Promise.all(
    (await placesIn(folder)).map(({ files, isSetAside }) =>
      isSetAside ? undefined : files.readRecord(),
    ),
  );
  return records.flatMap(record =>
    record?.isReady && record.runId === runId && record.story !== undefined ? [record.story] : [],
  );
}

/**
 * Removes the places that are proved to be safe: no living process has them, and refs of the user's repository hold
 * everything in them. Waits for the deletion.
 *
 * @param root top folder of the user's repository
 */
export async function cleanPlaces(folder: string, root: string): Promise<CleanedPlace[]> {
  const cleaned: CleanedPlace[] = [];
  for (const { files, isSetAside } of await placesIn(folder)) {
    const ref = placeRefs(folder) + (isSetAside ? `aside/${files.name}` : files.name);
    const isUsed = (await files.usedBy()) !== undefined;
    const kept = await clean(files, root, ref);
    cleaned.push({ name: files.name, path: files.tree, kept, isUsed });
  }
  await emptyTrash(folder);
  return cleaned;
}

/**
 * Like {@link cleanPlaces}, for one place.
 * @returns why it is still there; `undefined` if it was removed
 */
export async function cleanPlace(
  folder: string,
  root: string,
  name: string,
): Promise<Message | undefined> {
  const kept = await clean(new PlaceFiles(folder, name), root, placeRefs(folder) + name);
  await emptyTrash(folder);
  return kept;
}

async function clean(files: PlaceFiles, root: string, ref: string): Promise<Message | undefined> {
  let release: () => Promise<void>;
  try {
    release = await files.lock();
  } catch (error) {
    return say('It is in use: {0}', shorten(messageOf(error), MAX_REASON));
  }
  try {
    const { unsafe } = await look(files, root);
    if (unsafe === undefined) {
      await files.discardAll();
      await writeGit(root, ['update-ref', '-d', ref]);
    }
    return unsafe;
  } catch (error) {
    return say('It cannot be removed: {0}', shorten(messageOf(error), MAX_REASON));
  } finally {
    await release();
  }
}

async function look(
  files: PlaceFiles,
  root: string | undefined,
): Promise<{ readonly head?: string | undefined; readonly unsafe?: Message }> {
  const record = await files.readRecord();
  if (record === undefined || root === undefined) {
    return { unsafe: noRecord(files) };
  }
  try {
    if ((await new GitRepository(root).root()) === undefined) {
      return { unsafe: say('Its repository {0} is gone.', root) };
    }
    if (!record.isReady || record.isScratch) {
      return { head: record.start };
    }
    if (!existsSync(files.tree)) {
      // Somebody has removed it: nothing is left that could be lost.
      return {};
    }
    const holding = await inspectPlace(files, root, record);
    const { head, problems, uncommitted } = holding;
    if (await isHeld(files, root, record, holding)) {
      return { head };
    }
    const next =
      files.name.startsWith(SETTLING) && record.story !== undefined
        ? say('A conflict is settled there: {0}', `ralph-fresh land ${record.story}`)
        : collects();
    const unsafe =
      problems.length > 0
        ? sentences(problems)
        : uncommitted !== undefined
          ? say('It has uncommitted work that has not been kept. {0}', next)
          : say('It has commits that your repository does not have. {0}', next);
    return { head, unsafe };
  } catch (error) {
    return { unsafe: say('It cannot be read: {0}', shorten(messageOf(error), MAX_REASON)) };
  }
}

function collects(): Message {
  return say('If its run was killed, "ralph-fresh run --resume" collects it.');
}

/** As `du` counts: blocks on the disk. Links are not followed. */
async function sizeOf(folder: string): Promise<number> {
  let size = 0;
  for (const entry of await readdir(folder, { withFileTypes: true }).catch(() => [])) {
    const file = path.join(folder, entry.name);
    const found = await lstat(file).catch(() => undefined);
    // Windows does not tell blocks.
    size += found === undefined ? 0 : found.blocks ? found.blocks * BLOCK_BYTES : found.size;
    if (entry.isDirectory()) {
      size += await sizeOf(file);
    }
  }
  return size;
}
