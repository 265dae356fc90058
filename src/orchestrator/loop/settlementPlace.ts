import { createHash } from 'node:crypto';
import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { GitRepository } from '../git/git.ts';
import { mergeTrees } from '../git/mergeTree.ts';
import { runGit } from '../git/runGit.ts';
import { type RunState, storyNotes } from '../journal/runState.ts';
import { isShared } from '../landing/sharedFiles.ts';
import { Target } from '../landing/target.ts';
import { ClonePlaces } from '../places/clonePlaces.ts';
import { type ConflictedFile, conflictedFiles } from '../places/conflictedPlace.ts';
import { PlaceFiles } from '../places/placeFiles.ts';
import { placesFolder, SETTLING } from '../places/placesFolder.ts';
import { progressFileOf } from '../run/runWork.ts';
import { livingRun } from '../workspace/livingRun.ts';
import { readRun } from '../workspace/runCheckpoint.ts';
import { isRunId, type RunFiles } from '../workspace/runFiles.ts';
import { newestRunId } from '../workspace/runIds.ts';
import { tipRef, workRef } from '../workspace/workRefs.ts';
import { inRepository } from './isolation.ts';
import { closeRunFoundDead } from './recovery.ts';

const MAX_NAME = 30;
const DIGITS = 6;

/** A conflict that a person settles by hand, in a place of their own. */
export interface Settlement {
  readonly storyId: string;
  /** Absolute path of the place's top folder. */
  readonly root: string;
  /** The branch that the result lands on. */
  readonly branch: string;
  /** Full hashes: what both sides come from, if anything; what has landed; and what the agent has done. */
  readonly base: string | undefined;
  readonly ours: string;
  readonly theirs: string;
  /** Those in conflict, settled or not. */
  readonly files: readonly ConflictedFile[];
}

/** The newest run with what it says of a story's conflict. */
export interface Known {
  readonly runId: string;
  readonly state: RunState;
  readonly isActive: boolean;
}

/** What belongs to the settlement of a story. */
export async function partsOf(files: RunFiles, { runId, state }: Known, storyId: string) {
  const { workspace } = files;
  const { settling: work } = storyNotes(state, storyId);
  if (work === undefined) {
    throw new HumanError(
      say(
        'You are not settling a conflict of {0}. Begin with: ralph-fresh places settle {0}',
        named(storyId),
      ),
    );
  }
  const root = await rootOf(workspace);
  const branch = state.branch ?? '';
  const storyFile =
    state.storyFile === undefined ? undefined : path.resolve(workspace, state.storyFile);
  const progressFile = progressFileOf({ files, storyFile });
  const folder = await placesOf(workspace);
  const target = await Target.open({
    ...{ root, branch, tipRef: tipRef(workspace, branch) },
    storyFile: inRepository(root, storyFile),
    progressFile: inRepository(root, progressFile),
  });
  const name = placeName(storyId);
  const settlement = async (): Promise<Settlement> => {
    const place = new PlaceFiles(folder, name);
    const record = await place.readRecord();
    if (record?.iteration !== work.iteration || record.runId !== runId) {
      throw noPlace(storyId);
    }
    const merged = await mergeTrees(root, record.start, work.head);
    const paths = merged.kind === 'conflict' ? merged.paths : [];
    const found = await conflictedFiles({ root: place.tree }, paths);
    const base = (await runGit(root, 'merge-base', record.start, work.head)).trim();
    return {
      ...{ storyId, branch, root: place.tree },
      ...{ base: base === '' ? undefined : base, ours: record.start, theirs: work.head },
      files: found.filter(file => !isShared(target.sharedFiles, file.path)),
    };
  };
  return {
    ...{ name, folder, root, settlement, target, work },
    ref: workRef(workspace, { runId, storyId, iteration: work.iteration }),
    // Nothing of the repository's settings runs here.
    places: new ClonePlaces({
      ...{ workspace, root, folder, runId, env: {} },
      workRef: left => workRef(workspace, left),
    }),
  };
}

/** @throws {HumanError} if there is none */
export async function newestRun(files: RunFiles): Promise<Known> {
  const living = (await livingRun(files))?.runId;
  const isActive = living !== undefined && isRunId(living);
  if (!isActive) {
    // The agent of a killed loop may still be working.
    await closeRunFoundDead(files);
  }
  const runId = isActive ? living : await newestRunId(files);
  if (runId === undefined) {
    throw new HumanError(
      say('There is no run in this folder yet. Start one with "ralph-fresh run".'),
    );
  }
  return { runId, state: await readRun(files, runId), isActive };
}

async function placesOf(workspace: string): Promise<string> {
  const folder = placesFolder(process.env, process.platform, workspace);
  return realpath(folder).catch(() => folder);
}

async function rootOf(workspace: string): Promise<string> {
  const root = await new GitRepository(workspace).root();
  if (root === undefined) {
    throw new HumanError(say('{0} is not in a git repository.', workspace));
  }
  return root;
}

/** Each story has a place of its own; different ids give different names. */
function placeName(storyId: string): string {
  const plain = storyId.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const hash = createHash('sha256').update(storyId).digest('hex').slice(0, DIGITS);
  return `${SETTLING}${plain.slice(0, MAX_NAME)}-${hash}`;
}

export function noPlace(storyId: string): HumanError {
  return new HumanError(
    say(
      'The place in which {0} was settled is gone. Begin again with: ralph-fresh places settle {0}',
      named(storyId),
    ),
  );
}

/** An id in a message. */
export function named(storyId: string): string {
  return shorten(storyId, 80);
}
