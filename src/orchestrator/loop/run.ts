import { HumanError } from '../../base/humanError.ts';
import { saidOf } from '../../base/messageOf.ts';
import { say, sentences, type Words } from '../../base/say.ts';
import { diskFullCode } from '../../base/systemRefusal.ts';
import { CodeSearch } from '../context/codeSearch.ts';
import { mergeByHand } from '../git/mergeByHand.ts';
import { readRunState } from '../journal/foldJournal.ts';
import { JournalWriter } from '../journal/journal.ts';
import { cutOffOf, type RunState } from '../journal/runState.ts';
import { userTree } from '../places/place.ts';
import { readSnapshot, type Snapshot } from '../places/snapshot.ts';
import { clearDeadPlans } from '../planner/planFolder.ts';
import { landsOn } from '../preconditions/lanes.ts';
import { requireWritableState } from '../preconditions/state.ts';
import { warn } from '../run/warn.ts';
import { heldTip } from '../workspace/heldTip.ts';
import { storiesOfCutOff } from '../workspace/keptStories.ts';
import { inboxSize } from '../workspace/request.ts';
import { isRunId } from '../workspace/runFiles.ts';
import { newestRunId } from '../workspace/runIds.ts';
import { acquireRunLock } from '../workspace/runLock.ts';
import { ignoreStateDir } from '../workspace/stateIgnore.ts';
import { AlreadyRunningError } from './exclusiveWork.ts';
import { FreshRun } from './freshRun.ts';
import { isIsolated, openIsolation } from './isolation.ts';
import type { Isolation } from './laneWork.ts';
import { closeDeadRun } from './recovery.ts';
import type { RunOptions } from './runOptions.ts';
import { goToBranch, isNothingToDo, readyToStart } from './start.ts';
import { StartWatch } from './startWatch.ts';
import { reopenUnchecked } from './uncheckedClaims.ts';
import { acquireWorkTree } from './workTreeLock.ts';

/**
 * The fresh-context loop: refresh, decide, hand off, prompt, spawn, judge, record, until there is a reason to end.
 * Its whole state is in files; if it is killed at any point, the next loop continues from them.
 *
 * @returns the final state of the run; `undefined` if all stories are already done, so there is no run
 * @throws {AlreadyRunningError} if another loop is running here
 * @throws {WorkTreeTakenError} if one is running in another folder of the same work tree
 * @throws {HumanError} if the run cannot start: no git repository, no readable stories
 */
export async function runLoop(options: RunOptions): Promise<RunState | undefined> {
  const { files, runId } = options;
  const place = userTree(files.workspace, options.storyFile);
  const { git } = place;
  // In parallel with taking the lock; until the answer is needed, a failure must not count as unhandled.
  const folder = git.folder();
  folder.catch(() => undefined);
  await requireWritableState(files);
  // From the lock on, requests are for this loop.
  const inboxFrom = await inboxSize(files.inboxFile(runId));
  const attempt = await acquireRunLock(files, runId);
  if (attempt.kind === 'held') {
    throw new AlreadyRunningError(attempt.by);
  }
  const startWatch = new StartWatch(options, inboxFrom);
  let releaseWorkTree: (() => Promise<void>) | undefined;
  const code = new CodeSearch(files.contextDir, { wait: false });
  try {
    const isSearched = options.config.contextTokens > 0;
    if (isSearched) {
      code.start();
    }
    releaseWorkTree = await acquireWorkTree(files);
    await ignoreStateDir(files);
    const lastRun = await newestRunId(files);
    // Including the run to continue, which need not be the last one: a power failure may have removed the lock
    // file.
    const resumed = options.resume ? runId : undefined;
    for (const id of new Set([attempt.lock.died?.runId, lastRun, resumed])) {
      if (id !== undefined && isRunId(id)) {
        await closeDeadRun(files, id);
      }
    }
    await clearDeadPlans(files);
    const journalFile = files.journalFile(runId);
    const earlier = options.resume ? await readRunState(journalFile) : undefined;
    const { before } = await storiesOfCutOff(options, earlier && cutOffOf(earlier));
    const snapshot = await readSnapshot(options.storyFile, git, before && { stories: before });
    const { template, warnings } = await readyToStart(options, git, snapshot, { folder, earlier });
    const isolated = isIsolated(options, earlier);
    if (await isNothingToDo(options, snapshot)) {
      // What has landed may still wait for the branch.
      if (isolated || (await isBranchBehind(options, snapshot))) {
        await bringIn(await openIsolation(options, git, snapshot, earlier), options);
      }
      return undefined;
    }
    if (isSearched && snapshot.head !== undefined) {
      // For the first prompt, in parallel with whatever comes before it.
      code.follow(files.workspace, snapshot.head);
    }
    const { isMoved, options: run } =
      options.prepare === undefined && !isolated
        ? await goToBranch(options, snapshot)
        : { options, isMoved: false };
    const here = isMoved ? { ...snapshot, ...(await git.headAndBranch()) } : snapshot;
    const reopened = await reopenUnchecked(run, git, here);
    // Before the journal exists: a refused run leaves none.
    const isolation =
      isolated && run.prepare === undefined
        ? await openIsolation(run, git, reopened.snapshot, earlier)
        : undefined;
    const journal = await JournalWriter.open(journalFile, earlier);
    try {
      const { snapshot, storyIds } = reopened;
      const fresh = new FreshRun(run, {
        ...{ place, code, journal, snapshot, template, inboxFrom, startWatch },
        isolate: isolated
          ? async now => isolation ?? (await openIsolation(run, git, now, earlier))
          : undefined,
      });
      return await runToEnd(fresh, run.resume === true, [
        ...warnings.map(warning => ['precondition', warning] as const),
        ...(storyIds.length === 0 ? [] : [['claimsNotChecked', storyIds.join(', ')] as const]),
      ]);
    } finally {
      journal.close();
    }
  } catch (error) {
    throw withFix(error, options);
  } finally {
    startWatch.dispose();
    try {
      await Promise.all([place.dispose(), code.dispose()]);
    } finally {
      await releaseWorkTree?.();
      await attempt.lock.release();
    }
  }
}

/** Whether something has landed in an earlier run that the branch could not follow to. */
async function isBranchBehind(
  { config, files }: RunOptions,
  { branch: current, stories }: Snapshot,
): Promise<boolean> {
  const branch = landsOn(config.branch, stories, current);
  return branch !== '' && (await heldTip(files.workspace, branch)) !== undefined;
}

/** @throws {HumanError} if the branch cannot have what has landed now: then not all is done */
async function bringIn({ target }: Isolation, { onBroughtIn }: RunOptions): Promise<void> {
  const before = await target.look();
  const result = await target.follow();
  if (result.kind === 'held') {
    throw new HumanError(
      sentences(
        [
          say(
            'All stories are done, but {0} does not have everything that has landed.',
            target.branch,
          ),
          result.reason,
          mergeByHand(target.tipRef, {
            code: result.code,
            untracked: result.code === 'diverged' ? await target.untrackedInTheWay() : [],
          }),
        ],
        '\n',
      ),
    );
  }
  if (before.kind !== 'same') {
    onBroughtIn?.(target.branch, result.commit);
  }
}

/** @param warnings codes and details, for the journal */
async function runToEnd(
  fresh: FreshRun,
  resumes: boolean,
  warnings: readonly (readonly [string, Words])[],
): Promise<RunState> {
  try {
    await (resumes ? fresh.resume() : fresh.start());
    for (const [code, detail] of warnings) {
      warn(fresh.run.journal, code, detail);
    }
    const unprepared = await fresh.prepare();
    if (unprepared) {
      return await fresh.end(unprepared);
    }
    for (;;) {
      await fresh.refresh();
      const decision = await fresh.decide();
      switch (decision.kind) {
        case 'end':
          return await fresh.end(decision);
        case 'pause':
          await fresh.pause(decision);
          break;
        case 'skip':
          fresh.skip(decision);
          break;
        case 'later':
          fresh.later(decision);
          break;
        case 'start':
          for (const start of decision.starts) {
            await fresh.iterate(start);
          }
          break;
        case 'wait':
          await fresh.wait();
          break;
      }
    }
  } catch (error) {
    // Every end has a recorded reason, including this one. If recording fails, the first error is more informative.
    await fresh
      .end({ kind: 'end', outcome: 'error', detail: saidOf(error) })
      .catch(() => undefined);
    throw error;
  }
}

function withFix(error: unknown, { files }: RunOptions): unknown {
  const code = diskFullCode(error);
  if (error instanceof HumanError || code === undefined) {
    return error;
  }
  return new HumanError(
    say(
      'No space is left on the disk ({0}), so the run was ended. Free some space in {1} or elsewhere on that disk, and run again to continue.',
      code,
      files.stateDir,
    ),
    { cause: error },
  );
}
