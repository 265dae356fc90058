import { realpath, stat } from 'node:fs/promises';
import path from 'node:path';
import { isWithin } from '../../base/isWithin.ts';
import { type RunState, runningIn } from '../../orchestrator/journal/runState.ts';
import { placeOfStory, type StoryPlace } from '../../orchestrator/places/placeChanges.ts';

/** The file that a path in a terminal names. */
export interface LinkedFile {
  readonly file: string;
  /** It is in the place in which the story's agent works, and the user's folder may have another one, or none. */
  readonly isOfAgent: boolean;
}

type Place = Pick<StoryPlace, 'dir' | 'root'>;

/**
 * The place of a story that the living run works on, or whose work waits to land.
 * @param places the folder of the workspace's places
 */
export async function placeNow(
  places: string,
  { runId, state }: { readonly runId: string; readonly state: RunState },
  storyId: string,
): Promise<Place | undefined> {
  const current = runningIn(state, storyId);
  const place = current && (await placeOfStory(places, { runId, storyId }));
  return place?.iteration === current?.number ? place : undefined;
}

/**
 * Finds an existing file, first where the agent works, then in the user's folder. An agent's output may name any file;
 * only those in the two are found.
 * @param written possibly relative
 * @param folder absolute path of the user's folder
 */
export async function linkedFile(
  written: string,
  folder: string,
  place: Place | undefined,
): Promise<LinkedFile | undefined> {
  const ofAgent = place && path.resolve(place.dir, written);
  if (place && ofAgent && isWithin(place.root, ofAgent) && (await isInside(place.root, ofAgent))) {
    return { file: ofAgent, isOfAgent: true };
  }
  const file = path.resolve(folder, written);
  return isWithin(folder, file) && (await isFile(file)) ? { file, isOfAgent: false } : undefined;
}

/** An agent may have made a link there that leads anywhere. */
async function isInside(root: string, file: string): Promise<boolean> {
  try {
    return isWithin(await realpath(root), await realpath(file)) && (await isFile(file));
  } catch {
    // Missing: no link.
    return false;
  }
}

async function isFile(file: string): Promise<boolean> {
  try {
    return (await stat(file)).isFile();
  } catch {
    // Missing or not readable: no link.
    return false;
  }
}
