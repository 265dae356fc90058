import { existsSync } from 'node:fs';
import path from 'node:path';
import { saidOf } from '../../base/messageOf.ts';
import { littleSpaceFor } from '../git/runGit.ts';
import type { RunEvent } from '../journal/events.ts';
import type { RunState } from '../journal/runState.ts';
import type { Place } from '../places/place.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { uncommittedIn } from './ownPlaces.ts';

/** Maximum number of listed files. */
const MAX_FILES = 20;

/** Finished work that is not committed. No stories: they have commits, and these files are in none of them. */
export type UncommittedWork = NonNullable<Extract<RunEvent, { type: 'run.ended' }>['uncommitted']>;

/**
 * Stories that agents of this run completed without a commit: a stale git lock or a failing hook prevents the
 * commit but not the tick. Pure.
 */
export function doneWithoutCommit(
  { commits, storyRecords }: Pick<RunState, 'commits' | 'storyRecords'>,
  stories: readonly Story[],
): string[] {
  const committed = new Set(commits.map(({ storyId }) => storyId));
  return stories.flatMap(({ done, id }) =>
    done && storyRecords.get(id)?.doneBy === 'agent' && !committed.has(id) ? [id] : [],
  );
}

/**
 * Finds uncommitted work of this run's agents, and why git could not commit it, if that can be determined.
 * @param storyIds of the stories that are done without a commit; empty to find what agents forgot to commit
 * @returns `undefined` if there is none, or git cannot be read
 */
export async function uncommittedWork(
  run: Run,
  { dir, gitDir, workTree }: Place,
  { gitProblem, head }: Snapshot,
  storyIds: readonly string[],
): Promise<UncommittedWork | undefined> {
  if (gitProblem !== undefined) {
    return undefined;
  }
  try {
    const { changed } = await workTree.now();
    const files = uncommittedIn(run, changed).since;
    const lock = gitDir === undefined ? undefined : path.join(gitDir, 'index.lock');
    return files.length === 0
      ? undefined
      : {
          storyIds: [...storyIds],
          files: files.slice(0, MAX_FILES),
          more: files.length > MAX_FILES ? files.length - MAX_FILES : undefined,
          lock: lock !== undefined && existsSync(lock) ? lock : undefined,
          bytesFree: littleSpaceFor(dir),
          head,
        };
  } catch (error) {
    warn(run.journal, 'gitUnreadable', saidOf(error), run.state().iteration);
    return undefined;
  }
}
