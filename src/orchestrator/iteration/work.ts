import { say } from '../../base/say.ts';
import type { AgentCallResult } from '../agents/call/agentCall.ts';
import type { Tip } from '../git/commitsElsewhere.ts';
import { removeLeftLocks } from '../git/lockFiles.ts';
import { runningIteration, storyNotes } from '../journal/runState.ts';
import type { StoryNotes } from '../journal/storyNotes.ts';
import { readSnapshot, readStories, type Snapshot } from '../places/snapshot.ts';
import { recordCommits, recordOwedCommits } from '../run/commitRecord.ts';
import type { Run } from '../run/run.ts';
import { modeOf } from '../run/runWork.ts';
import type { Scope } from '../run/scope.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { isDoneIn } from '../stories/storyChanges.ts';
import { matchStories } from '../stories/storyMatching.ts';
import { keepReturned, keepToBranch } from './branchWatch.ts';
import { reportedIn } from './discoveries.ts';
import { guardStories, type KeptVersion, readVersion } from './guard/guarding.ts';
import { lookForLostCommits } from './lostWork.ts';
import { warnOfMisread } from './misread.ts';
import { ownPlaces } from './ownPlaces.ts';
import { ownFiles } from './prompt/uncommitted.ts';
import { signalOf } from './signals.ts';

/** The results of an iteration, not judged yet. */
export interface Work {
  readonly scope: Scope;
  /** The story file at the start of the iteration; absent if there was no readable one. */
  readonly kept?: KeptVersion;
  /**
   * The story file as the interrupted iteration left it; absent if nobody else can have changed the file since then.
   */
  readonly left?: StoryList;
  /** The result of the call; absent if the loop was killed before the call ended: then only the files count. */
  readonly result?: AgentCallResult;
  /** The files after the guard. */
  readonly after: Snapshot;
  /** What ends the run if the work is not on the run's branch and cannot be moved there, or git is locked. */
  readonly astray?: Verdict;
}

/**
 * Examines what the agent left: branch, guard, commits. It does not matter whether the call succeeded: this is also
 * used after a stop by a person and, on resume, for the work of a killed loop.
 */
export async function collectWork(run: Run, begun: Omit<Work, 'after' | 'astray'>): Promise<Work> {
  const { scope } = begun;
  const { before, iteration, place, story } = scope;
  if (scope.lane === undefined && !place.workTree.isAsked) {
    // In parallel with the following steps; a restore or a check makes the answer outdated.
    place.workTree.ask();
  }
  recordFoundWork(run, scope, begun.result);
  await run.requests.look();
  // In a place of its own, commits are recorded when they land.
  const head = place.git.headAndBranch(scope.lane === undefined ? before.head : undefined);
  const found = { ...begun, after: await readSnapshot(place.storyFile, place.git, before, head) };
  const work = await look(run, found, begun.left);
  const { after } = work;
  if (work.astray) {
    warnOfGit(scope, after);
    return work;
  }
  await warnOfProblems(work);
  if (scope.lane !== undefined) {
    // Its commits are recorded when they land.
    return work;
  }
  await recordOwedCommits(run, place.git, after);
  const origin = {
    ...{ iteration, storyId: story?.id, since: before.head },
    // What others committed after it was interrupted is not its work.
    until: runningIteration(run.state(), iteration)?.endCommit,
  };
  if (run.config.contextTokens > 0 && after.head !== undefined) {
    run.code.follow(place.dir, after.head);
  }
  if (after.gitProblem === undefined) {
    await lookForLostCommits(run, { place, now: after }, before.stories?.stories ?? []);
    await recordCommits(run.journal, place.git, {
      ...origin,
      until: origin.until ?? after.head,
      known: run.state().commits,
    });
  } else {
    run.owedCommits ??= origin;
  }
  return work;
}

/** What the agent reports as new work, at once: a killed loop loses none of it. */
function recordFoundWork(
  run: Run,
  { append, before, iteration, story }: Scope,
  result: AgentCallResult | undefined,
): void {
  const answer = result?.end.result;
  if (answer === undefined || answer.isError || result?.error !== undefined) {
    return;
  }
  const events = reportedIn(answer.text, {
    ...{ runId: run.id, iteration, storyId: story?.id },
    stories: before.stories?.stories ?? [],
    discoveries: run.state().discoveries,
  });
  for (const event of events) {
    append(event);
  }
}

/** Examines the work again after a command has changed it; its changes also count as the agent's work. */
export async function lookAgain(run: Run, work: Work): Promise<Work> {
  const { before, iteration, place, story } = work.scope;
  await run.requests.look();
  const after = await readSnapshot(place.storyFile, place.git, before);
  const again = await look(run, { ...work, after });
  if (
    work.scope.lane === undefined &&
    again.astray === undefined &&
    again.after.gitProblem === undefined
  ) {
    await recordCommits(run.journal, place.git, {
      ...{ iteration, storyId: story?.id },
      since: work.after.head,
      until: again.after.head,
      known: run.state().commits,
    });
  }
  return again;
}

/** @param left see {@link Work}; only the first look has to tell the iteration's changes from those of others */
async function look(run: Run, work: Work, left?: StoryList): Promise<Work> {
  const { before, place } = work.scope;
  const { storyFile } = place;
  // Before the guard: returning to the branch may change the story file.
  const { astray, isMoved } = await checkBranch(run, work);
  if (astray) {
    return { ...work, astray };
  }
  await guardStories(run, work.scope, { kept: work.kept, left });
  const { branch, gitProblem, head } = work.after;
  const after = isMoved
    ? await readSnapshot(storyFile, place.git, before)
    : { branch, gitProblem, head, ...(await readStories(storyFile, before)) };
  // From now on, the changes of others belong to the file as it was before.
  const now =
    left === undefined || storyFile === undefined ? undefined : await readVersion(storyFile);
  return { ...work, after, kept: now ?? work.kept, astray: await lockLeft(run, work.scope, after) };
}

/**
 * With a lock file that git has left, no further agent could commit, and checks that use git would fail for a reason that
 * is not the work's. The agent and its processes have ended, so a lock that nobody else holds is removed.
 */
async function lockLeft(
  run: Run,
  scope: Scope,
  { branch }: Snapshot,
): Promise<Verdict | undefined> {
  const { iteration, lane, place } = scope;
  // A stop does not wait; the next start looks, too.
  const { gitDir } = place;
  if (gitDir === undefined || lane !== undefined || run.stop.endSignal.aborted) {
    return undefined;
  }
  const held = await removeLeftLocks(
    gitDir,
    branch ?? '',
    () => place.git.root().catch(() => undefined),
    lock => warn(scope, 'gitLockRemoved', lock),
  );
  return held === undefined
    ? undefined
    : {
        kind: 'astray',
        message: say(
          'Since iteration {0}, the lock file {1} is here, so nothing can be committed: its agent, a check or another git process has left it. If no git process is running here, remove that file, and run again to continue: then the work is checked.',
          iteration,
          held,
        ),
      };
}

/**
 * The stories as the iteration leaves them. What others have changed since it was interrupted is as before the
 * iteration.
 */
export function storiesLeft({ after, left, scope }: Work): readonly Story[] {
  const now = after.stories?.stories ?? [];
  if (left === undefined) {
    return now;
  }
  const then = doneBefore(left.stories, now);
  const before = doneBefore(scope.before.stories?.stories ?? [], now);
  return now.map(story =>
    then.get(story) === story.done ? story : { ...story, done: before.get(story) ?? story.done },
  );
}

/** Which of the stories were done in an earlier version of their list; new ones are not included. */
function doneBefore(earlier: readonly Story[], now: readonly Story[]): ReadonlyMap<Story, boolean> {
  return new Map(matchStories(earlier, now).pairs.map(({ after, before }) => [after, before.done]));
}

/**
 * @returns `astray`: what ends the run, if the work is not on its branch and cannot be moved there; `isMoved`: whether
 * HEAD was moved, or found elsewhere
 */
async function checkBranch(
  run: Run,
  { after, result, scope }: Work,
): Promise<{ readonly astray?: Verdict; readonly isMoved: boolean }> {
  const { head } = scope.before;
  const { git, workTree } = scope.place;
  const { branchLeft } = run.state();
  const current = runningIteration(run.state(), scope.iteration);
  const start = {
    branch: current?.branch ?? run.branch ?? (await git.branch()),
    startedAt: current?.startedAt ?? new Date().toISOString(),
    head,
    leftElsewhere: current?.leftElsewhere,
    isOwn: ownFiles(ownPlaces(run)),
  };
  const now = after.gitProblem === undefined ? after : { problem: after.gitProblem };
  // Later, a person may have switched between branches.
  const { head: headNow, branch: found } = after;
  const isReturned = result !== undefined && headNow !== undefined && found === start.branch;
  const astray =
    (await keepToBranch(scope, start, now)) ??
    (isReturned
      ? await keepReturned(
          scope,
          start,
          { branch: found, head: headNow },
          {
            isClaimed: isClaimed(run, scope, { after, result }),
            earlier: madeElsewhere(storyNotes(run.state(), scope.story?.id)),
          },
        )
      : undefined);
  const isMoved = run.state().branchLeft !== branchLeft;
  if (isMoved) {
    // The earlier answer of git is about the other branch.
    workTree.take();
  }
  return { astray, isMoved };
}

/** Only of the last iteration: once there is work on the branch, it replaces what was tried elsewhere. */
function madeElsewhere({
  elsewhere,
  lastIteration,
}: StoryNotes): readonly Pick<Tip, 'branch' | 'hash'>[] {
  return elsewhere !== undefined && elsewhere.iteration === lastIteration?.number
    ? elsewhere.hashes.map(hash => ({ hash, branch: elsewhere.branch }))
    : [];
}

function isClaimed(
  run: Run,
  { before, story }: Scope,
  { after: { stories }, result }: Pick<Work, 'after' | 'result'>,
): boolean {
  if (modeOf(run) !== 'stories') {
    return signalOf(result, run.config.completionPromise)?.kind === 'complete';
  }
  return (
    story !== undefined && isDoneIn(stories?.stories ?? [], story, before.stories?.stories ?? [])
  );
}

async function warnOfProblems({ after, kept, scope }: Work): Promise<void> {
  if (after.storyFileProblem !== undefined) {
    warn(scope, 'storyFileUnreadable', after.storyFileProblem);
  }
  await warnOfMisread(scope, after.stories, kept?.bytes);
  warnOfGit(scope, after);
}

function warnOfGit(scope: Scope, { gitProblem }: Snapshot): void {
  if (gitProblem !== undefined) {
    warn(scope, 'gitUnreadable', gitProblem);
  }
}
