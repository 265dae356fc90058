import * as z from 'zod';
import { readLastLines } from '../../base/growingFile.ts';
import { HumanError } from '../../base/humanError.ts';
import { jsonOf } from '../../base/jsonOf.ts';
import { saidOf } from '../../base/messageOf.ts';
import { once } from '../../base/once.ts';
import { readPlainFile, writePlainFile } from '../../base/plainFile.ts';
import { say } from '../../base/say.ts';
import { answerOfCutOff, callsCutOff, costOfCutOff } from '../agents/call/cutOffCall.ts';
import { GitRepository } from '../git/git.ts';
import { gitDirOf } from '../git/gitDir.ts';
import { removeLeftLocks } from '../git/lockFiles.ts';
import { reportedIn } from '../iteration/discoveries.ts';
import type { CurrentIteration } from '../journal/currentIteration.ts';
import { EXIT_CODES, type RunOutcome } from '../journal/eventCodes.ts';
import { parseRunEvent, type RunEvent } from '../journal/events.ts';
import { readRunState } from '../journal/foldJournal.ts';
import { foldRun } from '../journal/foldRun.ts';
import { JournalWriter, readDecisions } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import { isRunning } from '../process/processIdentity.ts';
import { endLeftovers } from '../process/processTree.ts';
import { recordCommits } from '../run/commitRecord.ts';
import { warn } from '../run/warn.ts';
import { readStoryList } from '../stories/storyFile.ts';
import { isItsLoopRunning } from '../workspace/livingRun.ts';
import { isRunId, type RunFiles } from '../workspace/runFiles.ts';
import { newestRunId } from '../workspace/runIds.ts';
import { acquireRunLock } from '../workspace/runLock.ts';
import { keepBoundary } from './boundary.ts';
import { fileBelow } from './resume.ts';

const MAX_STATE_BYTES = 64 * 1024;
/** In bytes. Only what people do after the end of a run follows it in the journal. */
const TAIL_BYTES = 64 * 1024;
const stateSchema = once(() => z.looseObject({ active: z.unknown(), run_id: z.unknown() }));

/**
 * Closes a run whose loop was killed: ends what its agent left running, and writes the end, or just the state file,
 * that the loop could not write. Call it while holding the run lock.
 */
export async function closeDeadRun(files: RunFiles, runId: string): Promise<void> {
  const file = files.journalFile(runId);
  const events = await readDecisions(file);
  const state = foldRun(events);
  if (!isOpen(state)) {
    if (state.outcome !== undefined) {
      // Killed after its end event: the next run should not have to fix the state file.
      await markInactive(files, runId, state.outcome);
    }
    return;
  }
  if (await isItsLoopRunning(state)) {
    throw new HumanError(
      say(
        'The loop of run {0} (process {1}) is still running here, although its lock file was removed. Stop it with "ralph-fresh stop".',
        runId,
        String(state.pid),
      ),
    );
  }
  let leftovers = 0;
  for (const current of state.running.length > 0 ? state.running : [state.planner]) {
    leftovers += await endLeftovers(await groupToEnd(current), runId, {
      cgroup: lastCgroup(events),
    });
  }
  const journal = await JournalWriter.open(file, state);
  try {
    for (const [index, call] of callsCutOff(events).entries()) {
      // It was billed like any other call.
      const { iteration, purpose } = call.started;
      const cost = await costOfCutOff(files, runId, state.agent, call).catch((error: unknown) => {
        journal.append({ type: 'warning', code: 'costNotRead', detail: saidOf(error) });
        return {};
      });
      journal.append({
        type: 'agent.ended',
        iteration,
        purpose,
        reason: 'cancelled',
        durationMs: call.durationMs,
        // What was left of all of them was ended together.
        leftovers: index === 0 ? leftovers : 0,
        ...cost,
      });
    }
    await reportFoundWork(journal, events, { files, runId, state });
    if (leftovers > 0 || state.running.length > 0) {
      await removeLockOf(files, journal);
    }
    const head = await recordWhatWasLeft(journal, { files, runId, state });
    journal.append({
      type: 'run.ended',
      outcome: 'interrupted',
      exitCode: EXIT_CODES.interrupted,
      head,
      stories: state.stories,
      iterations: state.iteration,
    });
    journal.sync();
  } finally {
    journal.close();
  }
  await markInactive(files, runId, 'interrupted');
}

/**
 * An agent that was ended in the middle of a commit leaves a lock file, and the next one could commit nothing. It may have
 * been ended together with its loop.
 */
async function removeLockOf({ workspace }: RunFiles, journal: JournalWriter): Promise<void> {
  const gitDir = gitDirOf(workspace);
  const git = new GitRepository(workspace);
  const branch = await git.branch().catch(() => undefined);
  // Without it, and with a lock that stays, what starts next says what is wrong.
  if (gitDir !== undefined && branch !== undefined) {
    await removeLeftLocks(
      gitDir,
      branch,
      () => git.root().catch(() => undefined),
      lock => warn(journal, 'gitLockRemoved', lock),
    );
  }
}

/** Records the work that agents reported just before the loop was killed. */
async function reportFoundWork(
  journal: JournalWriter,
  events: readonly RunEvent[],
  {
    files,
    runId,
    state,
  }: { readonly files: RunFiles; readonly runId: string; readonly state: RunState },
): Promise<void> {
  const storyFile = state.storyFile && fileBelow(files, state.storyFile);
  const list = storyFile ? await readStoryList(storyFile) : undefined;
  for (const { number, storyId } of state.running) {
    const started = events.findLast(
      event =>
        event.type === 'agent.started' && event.iteration === number && event.purpose === undefined,
    );
    if (started?.type !== 'agent.started') {
      continue;
    }
    const answer = await answerOfCutOff(files, runId, state.agent, started).catch(
      (error: unknown) => {
        journal.append({ type: 'warning', code: 'answerNotRead', detail: saidOf(error) });
        return undefined;
      },
    );
    const reported = reportedIn(answer ?? '', {
      ...{ runId, iteration: number, storyId, discoveries: journal.state.discoveries },
      stories: list?.stories ?? [],
    });
    for (const body of reported) {
      journal.append(body);
    }
  }
}

/**
 * Records the commits of interrupted iterations, which are their work and just could not be recorded, and keeps what
 * else they left.
 * @returns HEAD: later commits are not their work
 */
async function recordWhatWasLeft(
  journal: JournalWriter,
  {
    files,
    runId,
    state,
  }: { readonly files: RunFiles; readonly runId: string; readonly state: RunState },
): Promise<string | undefined> {
  const git = new GitRepository(files.workspace);
  for (const { interrupted, lane, number, startCommit, storyId } of state.running) {
    // One that was interrupted before is only being judged; others may have committed since.
    if (startCommit !== undefined && !interrupted && lane === undefined) {
      await recordCommits(journal, git, {
        ...{ iteration: number, storyId, since: startCommit },
        known: state.commits,
      });
    }
  }
  // A file elsewhere is not read: the journal may be forged. What was left there is judged as it is then.
  const storyFile = state.storyFile && fileBelow(files, state.storyFile);
  return keepBoundary(journal, git, { files, runId, state, storyFile });
}

/**
 * The cgroup of the dead loop's agents and checks, which need not be below this process's own. The last recorded
 * one is used: a check that started after it may not have been recorded.
 */
function lastCgroup(events: readonly RunEvent[]): string | undefined {
  for (const event of events.toReversed()) {
    const isProcess = event.type === 'agent.started' || event.type === 'check.started';
    if (isProcess && event.cgroup !== undefined) {
      return event.cgroup;
    }
    if (event.type === 'run.started' || event.type === 'run.resumed') {
      return undefined;
    }
  }
  return undefined;
}

/** Marks the run as inactive, because other modes read this file and would wait for a dead loop. */
async function markInactive(files: RunFiles, runId: string, outcome: RunOutcome): Promise<void> {
  const text = (await readPlainFile(files.stateFile, MAX_STATE_BYTES))?.toString('utf8');
  const parsed = text === undefined ? undefined : stateSchema().safeParse(jsonOf(text)).data;
  if (parsed?.active === true && parsed.run_id === runId) {
    await writePlainFile(
      files.stateFile,
      `${JSON.stringify({ ...parsed, active: false, outcome }, null, 2)}\n`,
    );
  }
}

/**
 * Closes the newest run if its loop was killed and nobody has closed it yet.
 * @returns whether there was such a run
 */
export async function closeRunFoundDead(files: RunFiles): Promise<boolean> {
  const runId = await newestRunId(files);
  if (runId === undefined || (await hasEnded(files.journalFile(runId)))) {
    return false;
  }
  const attempt = await acquireRunLock(files, runId);
  if (attempt.kind === 'held') {
    return false;
  }
  try {
    // The lock may have been held by the loop of another run.
    for (const id of new Set([attempt.lock.died?.runId, runId])) {
      if (id !== undefined && isRunId(id)) {
        await closeDeadRun(files, id);
      }
    }
  } finally {
    await attempt.lock.release();
  }
  return true;
}

/** Says the journal, and not its checkpoint: an agent could write that, and go on working after its loop was killed. */
async function hasEnded(journalFile: string): Promise<boolean> {
  const last = (await readLastLines(journalFile, TAIL_BYTES))
    .map(parseRunEvent)
    .findLast(
      event =>
        event?.type === 'run.started' ||
        event?.type === 'run.resumed' ||
        event?.type === 'run.ended',
    );
  return last === undefined ? !isOpen(await readRunState(journalFile)) : last.type === 'run.ended';
}

function isOpen({ phase }: RunState): boolean {
  return phase === 'running' || phase === 'stopping';
}

/**
 * The agent's process group, if its leader is identified exactly and is running. Otherwise the group could belong
 * to somebody else, or the journal could be forged; such processes are only found by the run's marker.
 */
async function groupToEnd(
  current: Pick<CurrentIteration, 'agentPid' | 'agentStartId'> | undefined,
): Promise<number | undefined> {
  const { agentPid: pid, agentStartId: startId } = current ?? {};
  return pid !== undefined && startId !== undefined && (await isRunning({ pid, startId }))
    ? pid
    : undefined;
}
