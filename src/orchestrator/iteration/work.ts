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

/** What an iteration has left behind. Nothing of it is believed yet. */
export interface Work {
  readonly scope: Scope;
  /** The story file as the iteration found it; absent without a readable one. */
  readonly bytes?: Buffer;
  /** Of the call; absent when the loop was killed before the call ended: then the files alone tell. */
  readonly result?: AgentCallResult;
  /** The files now, after the guard. */
  readonly after: Snapshot;
  /** What ends the run: the work is not on the run's branch and cannot be brought there. */
  readonly astray?: Verdict;
}

/**
 * Looks at what the agent left: branch, guard, commits. It does not ask whether the call ended well: it also gets what a
 * person stopped, and, on resume, what a killed loop left.
 */
export async function collectWork(
  run: Run,
  { bytes, result, scope }: Omit<Work, 'after' | 'astray'>,
): Promise<Work> {
  const { before, iteration, place, story } = scope;
  if (!place.workTree.isAsked) {
    // Beside all that follows; what is restored or checked makes it worthless.
    place.workTree.ask();
  }
  await run.requests.look();
  const work = await look(run, {
    scope,
    ...(bytes && { bytes }),
    ...(result && { result }),
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

/** Looks at the work again, after something has run in its place: what that changed is the agent's work as well. */
export async function lookAgain(run: Run, work: Work): Promise<Work> {
  await run.requests.look();
  return look(run, work);
}

async function look(run: Run, work: Work): Promise<Work> {
  const { before, place } = work.scope;
  // Before the guard: going back to the branch may bring another story file.
  const astray = await checkBranch(run, work);
  if (astray) {
    return { ...work, astray };
  }
  await guardStories(run, work.scope, work.bytes);
  return { ...work, after: await readSnapshot(place.storyFile, place.git, before) };
}

/** @returns what ends the run, when the work is not on its branch and cannot be brought there */
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
      ...(head === undefined ? {} : { head }),
      ...(current?.leftElsewhere && { leftElsewhere: current.leftElsewhere }),
    },
    stories === undefined
      ? signalOf(result, run.config.completionPromise)?.kind === 'complete'
      : nextStory(stories, only).reason === 'allDone',
  );
  if (run.state().branchLeft !== branchLeft) {
    // What was asked of git meanwhile is about the other branch.
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
