import { stat } from 'node:fs/promises';
import { systemRefusal } from '../../base/systemRefusal.ts';
import { gitResult, writeGit } from '../git/runGit.ts';
import { isHeld, keepHolding } from './keptWork.ts';
import type { PlaceFiles, PlaceRecord } from './placeFiles.ts';
import { type Holding, inspectPlace } from './placeHolding.ts';

/** Where the work in a place is made safe. */
export interface SafeOptions {
  /** Top folder of the user's repository. */
  readonly root: string;
  /** Start of the names of the refs that hold what places begin with. */
  readonly refs: string;
  /** The full name of the ref for what the agent of an iteration left. */
  readonly workRef: (left: {
    readonly runId: string;
    readonly storyId: string;
    readonly iteration: number;
  }) => string;
}

/** A place in which nothing would be lost if it is used again. */
export interface Reusable {
  readonly record: PlaceRecord;
  /** The index of the work tree as an agent left it; absent if none has worked there. */
  readonly listing: string | undefined;
}

/**
 * Makes sure that nothing is lost if the place is used again.
 * @returns its record; `undefined` if it must be made anew
 */
export async function securePlace(
  files: PlaceFiles,
  safe: SafeOptions,
): Promise<Reusable | undefined> {
  await files.discardHalves();
  if ((await stat(files.tree).catch(() => undefined)) === undefined) {
    return undefined;
  }
  const record = await files.readRecord();
  if (record === undefined) {
    await setAside(files, safe, undefined);
    return undefined;
  }
  if (!record.isReady) {
    // A process was killed while it prepared the place: nobody has worked there since the last proof.
    return { record, listing: undefined };
  }
  const look = record.isScratch
    ? inspectPlace(files, safe.root, record)
    : keepUnheld(files, safe, record);
  const holding = await look.catch((error: unknown) => {
    if (systemRefusal(error) !== undefined) {
      throw error;
    }
    return undefined;
  });
  if (record.isScratch) {
    return holding?.problems.length === 0 ? { record, listing: holding.listing } : undefined;
  }
  if (holding === undefined) {
    await setAside(files, safe, record.start);
    return undefined;
  }
  return { record, listing: holding.listing };
}

/** @returns what is in the place, all of which is safe; `undefined` if some of it cannot be read or kept */
async function keepUnheld(
  files: PlaceFiles,
  { root, workRef }: SafeOptions,
  record: PlaceRecord,
): Promise<Holding | undefined> {
  const holding = await inspectPlace(files, root, record);
  if (await isHeld(files, root, record, holding)) {
    return holding;
  }
  const { iteration = 0, runId, story: storyId = files.name } = record;
  const stamp = new Date().toISOString().replace(/\D/g, '');
  // What was kept when its agent ended may be other work.
  const ref = `${workRef({ runId, storyId, iteration })}-later/${stamp}`;
  const kept = await keepHolding(files, root, ref, holding);
  return kept.problem === undefined ? holding : undefined;
}

/** Another ref holds the commit that its own commits build on. */
async function setAside(
  files: PlaceFiles,
  { refs, root }: SafeOptions,
  start: string | undefined,
): Promise<void> {
  const aside = await files.setAside();
  // A repository that was cloned again at the same path may not have it.
  if (start !== undefined && (await gitResult(root, ['cat-file', '-e', start])).code === 0) {
    await writeGit(root, ['update-ref', `${refs}aside/${aside.name}`, start]);
  }
}
