import { HumanError } from '../../base/humanError.ts';
import { messageOf } from '../../base/messageOf.ts';
import { say } from '../../base/say.ts';
import { diskFullCode } from '../../base/systemRefusal.ts';
import { GitRepository } from '../git/git.ts';
import { storiesBeforeCutOff } from '../iteration/iteration.ts';
import { readRunState } from '../journal/foldJournal.ts';
import { JournalWriter } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import { clearDeadPlans } from '../planner/planFolder.ts';
import { prepareStories } from '../planner/preparation.ts';
import { requireWritableState } from '../preconditions/state.ts';
import { inboxSize } from '../workspace/inbox.ts';
import { isRunId, newestRunId } from '../workspace/runFiles.ts';
import { acquireRunLock } from '../workspace/runLock.ts';
import { ignoreStateDir } from '../workspace/stateIgnore.ts';
import { AlreadyRunningError } from './exclusiveWork.ts';
import { FreshRun } from './freshRun.ts';
import { closeDeadRun } from './recovery.ts';
import { RunContext, type RunOptions } from './runContext.ts';
import { goToBranch, isNothingToDo, readyToStart } from './start.ts';
import { type Reopened, reopenUnchecked } from './uncheckedClaims.ts';
import { acquireWorkTree } from './workTreeLock.ts';

/**
 * The fresh-context loop: refresh, decide, hand off, prompt, spawn, judge, record, until there is a reason
 * to end. Everything it knows is in files; killed at any point, the next loop goes on from them.
 *
 * @returns the run as its journal tells it, ended; `undefined` when all stories are done already, so there is none
 * @throws {AlreadyRunningError} when another loop works here
 * @throws {WorkTreeTakenError} when one works in another folder of the same work tree
 * @throws {HumanError} when the run cannot start: no git repository, no readable stories
 */
export async function runLoop(options: RunOptions): Promise<RunState | undefined> {
  const { files, runId } = options;
  const git = new GitRepository(files.workspace);
  // Beside the lock and what comes after it; until its answer is needed, a failure must not count as unhandled.
  const root = git.root();
  root.catch(() => undefined);
  await requireWritableState(files);
  // From the lock on, requests are meant for this loop.
  const inboxFrom = await inboxSize(files.inboxFile(runId));
  const attempt = await acquireRunLock(files, runId);
  if (attempt.kind === 'held') {
    throw new AlreadyRunningError(attempt.by);
  }
  let releaseWorkTree: (() => Promise<void>) | undefined;
  try {
    releaseWorkTree = await acquireWorkTree(files);
    await ignoreStateDir(files);
    const lastRun = await newestRunId(files);
    // The one that goes on, too, which need not be the last: a power cut may have taken the lock file.
    const resumed = options.resume ? runId : undefined;
    for (const id of new Set([attempt.lock.died?.runId, lastRun, resumed])) {
      if (id !== undefined && isRunId(id)) {
        await closeDeadRun(files, id);
      }
    }
    await clearDeadPlans(files);
    const journalFile = files.journalFile(runId);
    const earlier = options.resume ? await readRunState(journalFile) : undefined;
    const before = earlier && (await storiesBeforeCutOff(options, earlier));
    const { snapshot, template, warnings } = await readyToStart(options, git, {
      root,
      ...(before && { before }),
    });
    if (await isNothingToDo(options, snapshot)) {
      return undefined;
    }
    const run = options.prepare === undefined ? await goToBranch(options, snapshot) : options;
    const reopened = await reopenUnchecked(run, git, snapshot, lastRun);
    const journal = await JournalWriter.open(journalFile);
    try {
      const context = new RunContext({
        ...{ run, git, journal, snapshot: reopened.snapshot, template },
        ...(earlier && { state: earlier }),
      });
      return await runToEnd(context, inboxFrom, { ...reopened, warnings });
    } finally {
      journal.close();
    }
  } catch (error) {
    throw withMend(error, options);
  } finally {
    await releaseWorkTree?.();
    await attempt.lock.release();
  }
}

async function runToEnd(
  context: RunContext,
  inboxFrom: number,
  { storyIds, warnings }: Reopened & { readonly warnings: readonly string[] },
): Promise<RunState> {
  const run = new FreshRun(context, inboxFrom);
  try {
    await (context.options.resume ? run.resume() : run.start());
    for (const warning of warnings) {
      context.warn('precondition', warning);
    }
    if (storyIds.length > 0) {
      context.warn('claimsNotChecked', storyIds.join(', '));
    }
    const unprepared = await prepareStories(context);
    if (unprepared) {
      return await run.end(unprepared);
    }
    if (context.options.prepare !== undefined) {
      await goToBranch(context.options, context.snapshot);
    }
    for (;;) {
      await run.refresh();
      const decision = await run.decide();
      switch (decision.kind) {
        case 'end':
          return await run.end(decision);
        case 'pause':
          await run.pause(decision);
          break;
        case 'skip':
          run.skip(decision);
          break;
        case 'later':
          run.later(decision);
          break;
        case 'iterate':
          await run.iterate(decision);
          break;
      }
    }
  } catch (error) {
    // Every end has a recorded reason, this one too. Should even that fail, the first error tells more.
    await run
      .end({ kind: 'end', outcome: 'error', detail: messageOf(error) })
      .catch(() => undefined);
    throw error;
  }
}

function withMend(error: unknown, { files }: RunOptions): unknown {
  const code = diskFullCode(error);
  if (error instanceof HumanError || code === undefined) {
    return error;
  }
  return new HumanError(
    say(
      'The disk takes nothing more ({0}), so the run was ended. Make room in {1} or on its disk, and run again to continue.',
      code,
      files.stateDir,
    ),
    { cause: error },
  );
}
