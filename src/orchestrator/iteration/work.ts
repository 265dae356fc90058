import type { AgentCallResult } from '../agents/call/agentCall.ts';
import { runningIteration } from '../journal/runState.ts';
import { readSnapshot, type Snapshot } from '../places/snapshot.ts';
import { recordCommits, recordOwedCommits } from '../run/commitRecord.ts';
import type { Run } from '../run/run.ts';
import type { Scope } from '../run/scope.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import { nextStory } from '../stories/select.ts';
import { keepToBranch } from './branchWatch.ts';
import { guardStories } from './guard/guarding.ts';
import { lookForLostCommits } from './lostWork.ts';
import { signalOf } from './signals.ts';

/** The results of an iteration, not judged yet. */
export interface Work {
  readonly scope: Scope;
  /** The story file at the start of the iteration; absent if there was no readable one. */
  readonly bytes?: Buffer;
  /** The result of the call; absent if the loop was killed before the call ended: then only the files count. */
  readonly result?: AgentCallResult;
  /** The files after the guard. */
  readonly after: Snapshot;
  /** What ends the run if the work is not on the run's branch and cannot be moved there. */
  readonly astray?: Verdict;
}

/**
 * Examines what the agent left: branch, guard, commits. It does not matter whether the call succeeded: this is also
 * used after a stop by a person and, on resume, for the work of a killed loop.
 */
export async function collectWork(
  run: Run,
  { bytes, result, scope }: Omit<Work, 'after' | 'astray'>,
): Promise<Work> {
  const { before, iteration, place, story } = scope;
  if (!place.workTree.isAsked) {
    // In parallel with the following steps; a restore or a check makes the answer outdated.
    place.workTree.ask();
  }
  await run.requests.look();
  const work = await look(run, {
    scope,
    bytes,
    result,
    after: await readSnapshot(place.storyFile, place.git, before),
  });
  if (work.astray) {
    return work;
  }
  const { after } = work;
  warnOfProblems(scope, after);
  await recordOwedCommits(run, place.git, after);
  const origin = { iteration, storyId: story?.id, since: before.head };
  if (after.gitProblem === undefined) {
    await lookForLostCommits(run, { place, now: after }, before.stories?.stories ?? []);
    await recordCommits(run.journal, place.git, {
      ...origin,
      until: after.head,
      known: run.state().commits,
    });
  } else {
    run.owedCommits ??= origin;
  }
  return work;
}

/** Examines the work again after a command has changed it; its changes also count as the agent's work. */
export async function lookAgain(run: Run, work: Work): Promise<Work> {
  await run.requests.look();
  return look(run, work);
}

async function look(run: Run, work: Work): Promise<Work> {
  const { before, place } = work.scope;
  // Before the guard: returning to the branch may change the story file.
  const astray = await checkBranch(run, work);
  if (astray) {
    return { ...work, astray };
  }
  await guardStories(run, work.scope, work.bytes);
  return { ...work, after: await readSnapshot(place.storyFile, place.git, before) };
}

/** @returns what ends the run, if the work is not on its branch and cannot be moved there */
async function checkBranch(run: Run, { after, result, scope }: Work): Promise<Verdict | undefined> {
  const { head } = scope.before;
  const { git, workTree } = scope.place;
  const { branchLeft, onlyStories } = run.state();
  const current = runningIteration(run.state(), scope.iteration);
  const stories = after.stories?.stories;
  const only = onlyStories && { only: new Set(onlyStories) };
  const astray = await keepToBranch(
    scope,
    {
      branch: current?.branch ?? run.branch ?? (await git.branch()),
      startedAt: current?.startedAt ?? new Date().toISOString(),
      head,
      leftElsewhere: current?.leftElsewhere,
    },
    stories === undefined
      ? signalOf(result, run.config.completionPromise)?.kind === 'complete'
      : nextStory(stories, only).reason === 'allDone',
  );
  if (run.state().branchLeft !== branchLeft) {
    // The earlier answer of git is about the other branch.
    workTree.take();
  }
  return astray;
}

function warnOfProblems(scope: Scope, { gitProblem, storyFileProblem }: Snapshot): void {
  if (storyFileProblem !== undefined) {
    warn(scope, 'storyFileUnreadable', storyFileProblem);
  }
  if (gitProblem !== undefined) {
    warn(scope, 'gitUnreadable', gitProblem);
  }
}
