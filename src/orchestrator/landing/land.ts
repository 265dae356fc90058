import path from 'node:path';
import { saidOf } from '../../base/messageOf.ts';
import { whole } from '../../base/numbers.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import { type Message, say } from '../../base/say.ts';
import type { AgentCallResult } from '../agents/call/agentCall.ts';
import { changedEntries } from '../git/changes.ts';
import { type Operation, unfinishedOperation } from '../git/operations.ts';
import { recordDuplicates, searchDuplicates } from '../iteration/duplicateSearch.ts';
import { signalOf } from '../iteration/signals.ts';
import { uncommittedWork } from '../iteration/uncommittedWork.ts';
import { lookAgain, storiesLeft, type Work } from '../iteration/work.ts';
import type { IterationOutcome } from '../journal/eventCodes.ts';
import { readDecisions } from '../journal/journal.ts';
import {
  handledIn,
  runningIteration,
  storyNotes,
  storyRecord,
  WHOLE_TASK,
} from '../journal/runState.ts';
import { workedMs } from '../journal/workedMs.ts';
import { readSnapshot, readStories, type Snapshot, storyCountOf } from '../places/snapshot.ts';
import { judgeClaims } from '../proof/claims.ts';
import { type Judgement, judge } from '../proof/judge.ts';
import type { Run } from '../run/run.ts';
import { modeOf } from '../run/runWork.ts';
import { isSkipped, type Scope, STORY_STOPPED } from '../run/scope.ts';
import type { Verdict } from '../run/verdict.ts';
import { warn } from '../run/warn.ts';
import { workTreeRoot } from '../stories/outsideLinks.ts';
import { storyChanges } from '../stories/storyChanges.ts';
import { idsNow, sameStory } from '../stories/storyMatching.ts';
import { listStoryCommits } from './listedCommits.ts';
import { writeReceipt } from './receiptFile.ts';
import { isIdShared } from './sharedId.ts';

/** Maximum number of named folders. */
const MAX_NAMED = 5;
const MAX_MODULES_BYTES = 1 << 20;

/** The outcome of an iteration. */
export interface Landing {
  /**
   * Absent if the iteration stays open: its work is not on the run's branch, or a stop came before its claim could
   * be checked. Then nothing is accepted or refused, and it is judged when the run continues.
   */
  readonly outcome?: IterationOutcome;
  /** What ends the run. */
  readonly verdict?: Verdict;
  /** The files are those of another branch. */
  readonly isAstray?: true;
  /** The files after it. */
  readonly after: Snapshot;
}

/**
 * Judges an iteration and records its outcome: first its claims, by checks and reviewer, then the iteration as a
 * whole.
 * @param follow gives the work of a later look the ids of the list that it leaves
 */
export async function land(
  run: Run,
  collected: Work,
  follow: (again: Work) => Promise<Work>,
): Promise<Landing> {
  if (collected.astray) {
    return { verdict: collected.astray, after: collected.after, isAstray: true };
  }
  let work = collected;
  const { result } = work;
  const { append, before, iteration, place } = work.scope;
  const { config } = run;
  let { after } = work;
  const storiesBefore = before.stories?.stories ?? [];
  const changes = storyChanges({
    storiesBefore,
    storiesAfter: storiesLeft(work),
    handled: handledIn(run.state(), iteration),
  });
  for (const change of changes) {
    append({ type: 'story.changed', ...change, by: 'agent' });
  }
  // Including what a person ticked meanwhile, because an agent could have forged that request.
  const claimed = storyChanges({
    storiesBefore,
    storiesAfter: storiesLeft(work),
    handled: new Map(),
  }).flatMap(({ done, storyId }) => (done ? [storyId] : []));
  const isWholeTask =
    modeOf(run) !== 'stories' && signalOf(result, config.completionPromise)?.kind === 'complete';
  const operation =
    (claimed.length > 0 || isWholeTask) && place.gitDir && !run.stop.endSignal.aborted
      ? unfinishedOperation(place.gitDir)
      : undefined;
  if (operation !== undefined) {
    return { verdict: { kind: 'astray', message: inTheMiddleOf(operation) }, after };
  }
  // In parallel with the checks: both only read.
  const search = searchDuplicates(run.code, place.dir, { from: before.head, to: after.head });
  const judged = await judgeClaims(run, {
    scope: work.scope,
    after,
    stories: claimed,
    storyFile: place.storyFile,
    isWholeTask,
    // Changes made by the checks count as the agent's work: they may write to the story file, or leave the branch.
    afterChecks: async () => {
      const again = await lookAgain(run, work);
      const idNow = idsNow(after.stories?.stories ?? [], again.after.stories?.stories ?? []);
      work = await follow(again);
      ({ after } = work);
      return { ...again, stories: claimed.flatMap(id => idNow.get(id) ?? []) };
    },
  });
  const { scope } = work;
  const { story } = scope;
  const isGuarded = storyNotes(run.state(), story?.id).guard?.iteration === iteration;
  if (isGuarded || judged.kind !== 'passed' || config.verify.length > 0 || config.reviewer) {
    place.workTree.take();
  }
  if (judged.kind === 'cutOff') {
    return { verdict: judged.verdict, after };
  }
  if (judged.kind !== 'passed') {
    after = await readSnapshot(place.storyFile, place.git, after);
  }
  // During a review, a person may have set its story to not done. What else others changed is recorded later.
  const judgedFiles =
    config.reviewer && judged.kind === 'passed'
      ? { ...after, ...(await readStories(place.storyFile, after)) }
      : after;
  const commits = run.state().commits.filter(commit => commit.iteration === iteration).length;
  const judgement = judge({
    story,
    storiesBefore: scope.before.stories?.stories ?? [],
    storiesAfter: storiesLeft({ ...work, after: judgedFiles }),
    commits,
    result,
    completionPromise: config.completionPromise,
    handled: handledIn(run.state(), iteration),
    stopped: result === undefined || scope.skip.reason === STORY_STOPPED || isStopped(run, result),
    skipped: isSkipped(scope),
    refused:
      (judged.kind === 'refused' && isOwnRefusal(run, scope, judged.stories)) ||
      (await isIdShared(run, scope)),
    notWanted: result?.notWanted === true,
  });
  if (commits > 0) {
    await recordDuplicates(scope, search);
  }
  if (judgement.outcome === 'storyDone') {
    await listStoryCommits(run, scope);
  }
  if (commits > 0 && scope.lane === undefined) {
    await warnOfNested(scope, after);
  }
  await recordOutcome(run, { ...work, after }, { ...judgement, commits });
  const { outcome } = judgement;
  const refused = judged.kind === 'refused' ? judged.stories : [];
  return { outcome, verdict: notPutBack(run, refused, after) ?? judgement.verdict, after };
}

/** In lanes, such work does not land; here it is committed already, and a clone would lack the files. */
async function warnOfNested(scope: Scope, { head }: Snapshot): Promise<void> {
  const { before, place } = scope;
  if (before.head === undefined || head === undefined) {
    return;
  }
  try {
    const entries = await changedEntries(place.dir, before.head, head);
    const nested = entries.flatMap(entry => (entry.isRepository ? [entry.path] : []));
    if (nested.length > 0) {
      const modules = await readPlainFile(
        path.join(workTreeRoot(place.dir), '.gitmodules'),
        MAX_MODULES_BYTES,
      );
      const known =
        modules
          ?.toString('utf8')
          .split(/\r?\n/)
          .map(line => line.trim()) ?? [];
      const others = nested.filter(folder => !known.includes(`path = ${folder}`));
      if (others.length > 0) {
        warn(scope, 'repositoryCommitted', others.slice(0, MAX_NAMED).join(', '));
      }
    }
  } catch (error) {
    warn(scope, 'gitUnreadable', saidOf(error));
  }
}

/** The next agents, checks and readers of the file would take a refused story for done. */
function notPutBack(run: Run, refused: readonly string[], after: Snapshot): Verdict | undefined {
  const left = refused.filter(
    storyId =>
      storyRecord(run.state(), storyId).refused === true &&
      after.stories?.stories.some(({ done, id }) => done && id === storyId) === true,
  );
  return left.length === 0
    ? undefined
    : {
        kind: 'fatal',
        message: say(
          '{0} was refused, and could not be set back to not done in its file. Make the file writable, and run again.',
          left.join(', '),
        ),
      };
}

/** The rest of the work is still to come: checks would judge files that are not what will be committed. */
function inTheMiddleOf(operation: Operation): Message {
  return operation === 'bisect'
    ? say(
        'The agent reported its work as done in the middle of a "git bisect". End it with "git bisect reset", and run again to continue: then the work is checked.',
      )
    : say(
        'The agent reported its work as done in the middle of a "git {0}". Finish it with "git {0} --continue", or abort it with "git {0} --abort", and run again to continue: then the work is checked.',
        operation,
      );
}

/**
 * Records the outcome of an iteration in a place of its own whose story stays open: its agent does not say that it is
 * done, or its work could not be kept.
 * @returns what ends the run, if anything
 */
export async function leaveOpen(
  run: Run,
  work: Work,
  { commits, isClaimed }: { readonly commits: number; readonly isClaimed: boolean },
): Promise<Verdict | undefined> {
  const { result, scope } = work;
  const { before, iteration, story } = scope;
  const storiesBefore = before.stories?.stories ?? [];
  const left = storiesLeft(work);
  const own = story && sameStory(storiesBefore, story, left);
  const judgement = judge({
    story,
    storiesBefore,
    // Without its commits, a claim counts for nothing.
    storiesAfter: left.map(other =>
      other === own || other.id === story?.id ? { ...other, done: false } : other,
    ),
    commits,
    result,
    completionPromise: run.config.completionPromise,
    handled: handledIn(run.state(), iteration),
    stopped: result === undefined || scope.skip.reason === STORY_STOPPED || isStopped(run, result),
    skipped: isSkipped(scope),
    refused: isClaimed || (await isIdShared(run, scope)),
    notWanted: result?.notWanted === true,
  });
  // What counts is the list in the user's folder: that of the place has a tick which does not land.
  const after = { ...work.after, ...(await readStories(run.storyFile, before)) };
  await recordOutcome(run, { ...work, after }, { ...judgement, commits });
  return judgement.verdict;
}

/** That a story is refused which a person ticked meanwhile says nothing about the agent's own. */
function isOwnRefusal(run: Run, { iteration, story }: Scope, refused: readonly string[]): boolean {
  const handled = handledIn(run.state(), iteration);
  return (
    story === undefined ||
    refused.length === 0 ||
    refused.some(id => id === story.id || handled.get(id) !== true)
  );
}

/**
 * Records the outcome in the journal and in the iteration's folder, and reports a threshold that it reaches.
 * @param work.after the files that count from now on
 */
export async function recordOutcome(
  run: Run,
  { after, result, scope }: Pick<Work, 'after' | 'result' | 'scope'>,
  { commits, outcome, progress, signal }: Judgement & { readonly commits: number },
): Promise<void> {
  const { iteration, story } = scope;
  if (signal) {
    const { accepted, kind, message } = signal;
    scope.append({
      type: 'promise.seen',
      iteration,
      signal: kind,
      message: message.slice(0, 2_000),
      accepted,
    });
  }
  const isUncommitted =
    scope.lane === undefined && outcome === 'storyDone' && commits === 0 && story !== undefined;
  const uncommitted = isUncommitted && (await uncommittedWork(run, scope.place, after, [story.id]));
  const spent = runningIteration(run.state(), iteration);
  const turns = result?.end.result?.turns;
  const ended = scope.append({
    type: 'iteration.ended',
    iteration,
    storyId: story?.id,
    outcome,
    durationMs:
      result === undefined ? await workedBefore(run, iteration) : elapsed(spent?.startedAt),
    costUsd: spent?.usage === undefined && !spent?.costUsd ? undefined : (spent?.costUsd ?? 0),
    costEstimated: spent?.costEstimated ? true : undefined,
    turns: turns === undefined ? undefined : whole(turns),
    usage: spent?.usage ? { ...spent.usage } : undefined,
    commits,
    uncommitted: uncommitted || undefined,
    progress,
    stories: storyCountOf(after),
  });
  run.keptStories.noteJudged(iteration);
  await writeReceipt(scope.dir, ended, run.state(), result?.model ?? story?.model);
  tellOfTrouble(run, scope);
}

/** Whether a stop ended the agent, or the wait for a usage limit. */
function isStopped({ stop }: Run, { error }: AgentCallResult): boolean {
  return stop.endSignal.aborted || (stop.requested && error?.kind === 'usageLimit');
}

/** Of an interrupted iteration, only the journal knows when it worked. */
async function workedBefore({ files, id, state }: Run, iteration: number): Promise<number> {
  return runningIteration(state(), iteration)?.settled
    ? 0
    : workedMs(await readDecisions(files.journalFile(id)), iteration);
}

function elapsed(startedAt: string | undefined): number {
  return startedAt === undefined ? 0 : Math.max(0, Date.now() - Date.parse(startedAt));
}

/** Reported once, when a threshold is reached; the consequences are decided before the next iteration. */
function tellOfTrouble(run: Run, scope: Scope): void {
  const { failThreshold, stuckThreshold } = run.config;
  const storyId = scope.story?.id ?? WHOLE_TASK;
  const { failures, stuckFor } = storyRecord(run.state(), storyId);
  if (scope.story && failures >= failThreshold) {
    // There is no next agent to warn.
    const words = say(
      '{0} has failed too often in a row ({1}); the run leaves it alone.',
      storyId,
      failures,
    );
    warn(scope, 'storyLeftAlone', words);
  } else if (stuckFor === stuckThreshold) {
    scope.append({ type: 'story.stuck', storyId, iterations: stuckFor, action: 'warn' });
  }
}
