import { existsSync } from 'node:fs';
import path from 'node:path';
import { messageOf } from '../../base/messageOf.ts';
import { appendAs } from '../journal/appendAs.ts';
import type { RunEvent } from '../journal/events.ts';
import type { RunState } from '../journal/runState.ts';
import type { Place } from '../places/place.ts';
import type { Snapshot } from '../places/snapshot.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import type { Story } from '../stories/story.ts';
import { uncommittedIn } from './ownPlaces.ts';

/** So many of the files are named. */
const MAX_FILES = 20;

/** What was done, and is in no commit. */
export type UncommittedWork = NonNullable<Extract<RunEvent, { type: 'run.ended' }>['uncommitted']>;

/**
 * Stories that agents of this run have done without a commit of their own: a lock that a dead git left, or a hook that fails,
 * takes away the commit and not the tick. Pure.
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
 * Looks what agents of this run have left uncommitted, and why git could not commit, where its files tell.
 * @param storyIds of the stories that are done without a commit
 * @returns `undefined` when there is nothing, or git does not tell
 */
export async function uncommittedWork(
  run: Run,
  { gitDir, workTree }: Place,
  { gitProblem }: Snapshot,
  storyIds: readonly string[],
): Promise<UncommittedWork | undefined> {
  if (storyIds.length === 0 || gitProblem !== undefined) {
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
          ...(files.length > MAX_FILES && { more: files.length - MAX_FILES }),
          ...(lock !== undefined && existsSync(lock) && { lock }),
        };
  } catch (error) {
    const append = appendAs(run.state().iteration, run.journal);
    warn({ append }, 'gitUnreadable', messageOf(error));
    return undefined;
  }
}
