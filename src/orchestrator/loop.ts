import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { FreshRun, type RunOptions } from './freshRun.ts';
import { GitRepository } from './git.ts';
import { HumanError } from './humanError.ts';
import { requireNoOtherMode } from './modes.ts';
import { closeDeadRun } from './recovery.ts';
import { JournalWriter } from './run/journal.ts';
import { isRunId, type RunFiles, runIds } from './run/runFiles.ts';
import { acquireRunLock, type LockOwner } from './run/runLock.ts';
import type { RunState } from './run/runState.ts';
import { readSnapshot, type Snapshot } from './snapshot.ts';

/** Another loop works in this workspace. */
export class AlreadyRunningError extends HumanError {
  readonly owner: LockOwner;

  constructor(owner: LockOwner) {
    super(
      `A run is already going on in this folder (process ${owner.pid}). Watch it with "ralph-fresh status --watch" or end it with "ralph-fresh stop".`,
    );
    this.owner = owner;
  }
}

/**
 * The fresh-context loop: refresh, decide, hand off, prompt, spawn, judge, record, until there is a reason
 * to end. Everything it knows is in files; killed at any point, the next loop goes on from them.
 *
 * @returns the run as its journal tells it, ended
 * @throws {AlreadyRunningError} when another loop works here
 * @throws {HumanError} when the run cannot start: no git repository, no readable stories
 */
export async function runLoop(options: RunOptions): Promise<RunState> {
  const { files, runId } = options;
  const git = new GitRepository(files.workspace);
  const attempt = await acquireRunLock(files, runId);
  if (attempt.kind === 'held') {
    throw new AlreadyRunningError(attempt.by);
  }
  try {
    await ignoreStateDir(files);
    await requireNoOtherMode(files);
    const previousRun = (await runIds(files)).findLast(id => id !== runId);
    for (const id of new Set([attempt.lock.died?.runId, previousRun])) {
      if (id !== undefined && isRunId(id)) {
        await closeDeadRun(files, id);
      }
    }
    const snapshot = await readyToStart(options, git);
    const journal = await JournalWriter.open(files.journalFile(runId));
    try {
      const run = new FreshRun(options, git, journal, snapshot);
      try {
        await run.start();
        for (;;) {
          const decision = run.decide();
          if (decision.kind === 'end') {
            return await run.end(decision);
          }
          await run.iterate(decision);
          await run.refresh();
        }
      } catch (error) {
        // Every end has a recorded reason, this one too. Should even that fail, the first error tells more.
        await run
          .end({ kind: 'end', outcome: 'error', detail: String(error) })
          .catch(() => undefined);
        throw error;
      }
    } finally {
      journal.close();
    }
  } finally {
    await attempt.lock.release();
  }
}

/** Looks whether a run can start at all, before the journal exists. */
async function readyToStart(options: RunOptions, git: GitRepository): Promise<Snapshot> {
  const { files, storyFile, task } = options;
  if ((await git.root()) === undefined) {
    throw new HumanError(
      `${files.workspace} is not in a git repository, and commits are how iterations hand over their work. Run "git init" there, commit once, and start again.`,
    );
  }
  const snapshot = await readSnapshot(storyFile, git);
  if (storyFile === undefined) {
    if (task === undefined || task.trim() === '') {
      throw new HumanError(
        'There is no prd.json and no task. Write stories to .omc/prd.json or name the task.',
      );
    }
    return snapshot;
  }
  if (snapshot.storyFileProblem !== undefined) {
    throw new HumanError(`${storyFile}: ${snapshot.storyFileProblem}`);
  }
  if (snapshot.stories?.stories.length === 0) {
    throw new HumanError(
      `${storyFile} holds no stories yet. Add at least one (docs/story-files.md has an example).`,
    );
  }
  return snapshot;
}

async function ignoreStateDir(files: RunFiles): Promise<void> {
  const file = path.join(files.stateDir, '.gitignore');
  if (!existsSync(file)) {
    await mkdir(files.stateDir, { recursive: true });
    await writeFile(file, '*\n');
  }
}
