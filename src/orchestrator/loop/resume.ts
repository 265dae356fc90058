import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { isWithin } from '../../base/isWithin.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { RunEvent } from '../journal/events.ts';
import { foldRun } from '../journal/foldRun.ts';
import { readDecisions } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import type { Preparation } from '../planner/preparation.ts';
import { newRunId, type RunFiles } from '../workspace/runFiles.ts';
import { newestRunId } from '../workspace/runIds.ts';
import { isLeftOpen, iterationsToResume, MORE_ITERATIONS } from './resumeLimit.ts';
import type { RunChoice } from './runChoice.ts';
import { isSameTask, otherWork } from './sameWork.ts';

/** A run to continue. */
export interface EarlierRun {
  readonly state: RunState;
  /** The agent at its last start, before a possible fallback. */
  readonly agent: string;
  /** It used a reviewer. */
  readonly wasReviewed: boolean;
}

export interface ChosenRun {
  readonly runId: string;
  readonly resume: boolean;
  /** The run to continue, if any. */
  readonly earlier?: EarlierRun;
}

/**
 * The command that continues an ended run, with the necessary options.
 * @returns `undefined` if the run is complete, so only a new one can follow
 */
export function resumeCommand(state: RunState): string | undefined {
  if (state.outcome === 'completed') {
    return undefined;
  }
  const more = iterationsToResume(state);
  return more === undefined
    ? 'ralph-fresh run --resume'
    : `ralph-fresh run --resume --max-iterations ${more}`;
}

/** `--resume` with other work than the run's. */
export class OtherWorkError extends HumanError {}

/**
 * Chooses between a new run and continuing the last one (Ralph-Fresh whitepaper, 5.3: re-running the same command
 * resumes). Without an explicit request, only a run that was interrupted or stopped is continued, and only with the
 * same work.
 *
 * @throws {HumanError} if `--resume` has nothing to continue
 * @throws {OtherWorkError} if `--resume` is combined with other work than that run's
 */
export async function chooseRun(files: RunFiles, choice: RunChoice): Promise<ChosenRun> {
  const newest = await newestRunId(files);
  const events = newest === undefined ? [] : await readDecisions(files.journalFile(newest));
  const state = foldRun(events);
  if (choice.resume !== undefined) {
    const runId = requireResumable(choice, newest, state);
    const other = await otherWork(files, choice, { runId, state });
    if (other !== undefined) {
      throw new OtherWorkError(other);
    }
    return { runId, resume: true, earlier: earlierRun(events, state) };
  }
  if (newest !== undefined) {
    await requireNoUnreadAnswer(files, choice, { runId: newest, state, events });
  }
  return newest !== undefined &&
    continuesLast(choice, state) &&
    (await otherWork(files, choice, { runId: newest, state })) === undefined
    ? { runId: newest, resume: true, earlier: earlierRun(events, state) }
    : { runId: newRunId(), resume: false };
}

/**
 * A person who has answered and runs again means the run that asked, and not a new one on all stories that never reads the
 * answer.
 * @throws {HumanError} naming both commands
 */
async function requireNoUnreadAnswer(
  files: RunFiles,
  choice: RunChoice,
  {
    events,
    ...run
  }: { readonly runId: string; readonly state: RunState; readonly events: readonly RunEvent[] },
): Promise<void> {
  const { onlyStories } = run.state;
  const lastOf = (type: RunEvent['type']) => events.findLastIndex(event => event.type === type);
  if (
    onlyStories !== undefined &&
    choice.onlyStories === undefined &&
    continuesLast(choice, run.state) &&
    lastOf('question.answered') > lastOf('iteration.started') &&
    (await otherWork(files, { ...choice, onlyStories }, run)) === undefined
  ) {
    throw new HumanError(
      say(
        'The last run works only on {0}, and your answer waits there. Continue it with --resume, or start a new run on all stories with --new.',
        shorten(onlyStories.join(', '), 200),
      ),
    );
  }
}

function requireResumable(
  { maxIterations, resume }: RunChoice,
  newest: string | undefined,
  state: RunState,
): string {
  if (newest === undefined || state.phase === 'idle') {
    throw new HumanError(
      say('There is no run to resume in this folder. Leave --resume out to start one.'),
    );
  }
  if (typeof resume === 'string' && resume !== newest) {
    throw new HumanError(
      say(
        'Only the newest run, {0}, can be resumed. Leave out the id, or leave out --resume to start a new run.',
        newest,
      ),
    );
  }
  if (state.outcome === 'completed') {
    throw new HumanError(
      say('The last run is complete, so there is nothing to resume. Leave out --resume.'),
    );
  }
  const had = state.iteration;
  if (!isLeftOpen(state) && had >= (maxIterations ?? state.maxIterations)) {
    const used =
      maxIterations === undefined || maxIterations === state.maxIterations
        ? had === 1
          ? say('The last run has used its only iteration.')
          : say('The last run has used all of its {0} iterations.', had)
        : had === 1
          ? say(
              'The last run has already had 1 iteration, and --max-iterations {0} includes earlier iterations.',
              maxIterations,
            )
          : say(
              'The last run has already had {0} iterations, and --max-iterations {1} includes earlier iterations.',
              had,
              maxIterations,
            );
    throw new HumanError(
      say(
        '{0} Allow more, for example: ralph-fresh run --resume --max-iterations {1}.',
        used,
        had + MORE_ITERATIONS,
      ),
    );
  }
  return newest;
}

/** Whether a run continues the last one without `--resume`, if the work is the same. */
export function continuesLast(choice: RunChoice, state: RunState): boolean {
  const wasCutOff =
    state.cutOff.some(({ settled }) => settled) ||
    state.phase === 'running' ||
    state.phase === 'stopping' ||
    ['stopped', 'interrupted', 'error', 'needsHuman'].includes(state.outcome ?? '');
  return (
    choice.isNew !== true &&
    wasCutOff &&
    isSameTask(choice, state) &&
    // If its stories have not been created yet, this is only done when requested again.
    (choice.prepare !== undefined || pendingPreparation(state) === undefined) &&
    (isLeftOpen(state) || state.iteration < (choice.maxIterations ?? state.maxIterations))
  );
}

/** How the stories must be created if the run was interrupted before that. */
export function pendingPreparation({ iteration, prepare }: RunState): Preparation | undefined {
  return iteration === 0 ? prepare : undefined;
}

function earlierRun(events: readonly RunEvent[], state: RunState): EarlierRun {
  const began = events.findLast(({ type }) => type === 'run.started' || type === 'run.resumed');
  return {
    state,
    agent: began !== undefined && 'agent' in began ? String(began.agent) : (state.agent ?? ''),
    wasReviewed: events.some(({ type }) => type === 'review.ended'),
  };
}

/**
 * The absolute path of a file named in a journal. A repository may contain a forged journal, so the path must not
 * lead elsewhere.
 * @returns `undefined` if it is not below the workspace
 */
export function fileBelow({ workspace }: RunFiles, file: string): string | undefined {
  const absolute = path.resolve(workspace, file);
  return isWithin(workspace, absolute) ? absolute : undefined;
}

/**
 * Like {@link fileBelow}, for a file that the run cannot continue without.
 * @throws {HumanError} if it is not below the workspace
 */
export function fileOfRun(files: RunFiles, file: string, flag: string): string {
  const absolute = fileBelow(files, file);
  if (absolute === undefined) {
    throw new HumanError(
      say(
        'The journal of the last run names {0}, which is outside this folder. If that is intended, name it: {1}; otherwise start a new run with --new.',
        shorten(file, 200),
        flag,
      ),
    );
  }
  return absolute;
}
