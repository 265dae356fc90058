import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { isWithin } from '../../base/isWithin.ts';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { RunEvent } from '../journal/events.ts';
import { foldRun } from '../journal/foldRun.ts';
import { readDecisions } from '../journal/journal.ts';
import type { RunState } from '../journal/runState.ts';
import { plannedTaskOf } from '../planner/plannedTask.ts';
import type { Preparation } from '../planner/preparation.ts';
import { holdsTitles, titlesOf } from '../planner/taskStories.ts';
import { relativePath } from '../run/runWork.ts';
import { recalledSettings } from '../settings/settings.ts';
import type { GivenSettings, Settings } from '../settings/settingTable.ts';
import { readStoryBytes, readStoryList } from '../stories/storyFile.ts';
import { KeptStories } from '../workspace/keptStories.ts';
import { newestRunId, newRunId, type RunFiles } from '../workspace/runFiles.ts';

/** Maximum length of a task in the journal, in UTF-16 units. */
export const MAX_RECORDED_TASK = 4_000;

/** The run that the person requested. */
export interface RunChoice {
  /** `--resume`, optionally with a run's id. */
  readonly resume?: string | true;
  /** `--new`: do not continue an unfinished run. */
  readonly isNew?: boolean;
  readonly task?: string;
  /** Absolute path. */
  readonly storyFile?: string;
  /** Absolute path. */
  readonly planDir?: string;
  /** Whether the command line names the story file or the plan, so that no search was needed. */
  readonly namesPlace?: boolean;
  readonly prepare?: Preparation;
  /** Ids of the selected stories; absent: all. */
  readonly onlyStories?: readonly string[];
  /** From the command line; otherwise the earlier run's value is used. */
  readonly maxIterations?: number;
}

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

/** Suggested number of additional iterations. */
const MORE_ITERATIONS = 20;

/**
 * The command that continues an ended run, with the necessary options.
 * @returns `undefined` if the run is complete, so only a new one can follow
 */
export function resumeCommand(state: RunState): string | undefined {
  const { iteration, maxIterations, outcome } = state;
  if (outcome === 'completed') {
    return undefined;
  }
  return iteration >= maxIterations && !isLeftOpen(state)
    ? `ralph-fresh run --resume --max-iterations ${iteration + MORE_ITERATIONS}`
    : 'ralph-fresh run --resume';
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
  return newest !== undefined &&
    continuesLast(choice, state) &&
    (await otherWork(files, choice, { runId: newest, state })) === undefined
    ? { runId: newest, resume: true, earlier: earlierRun(events, state) }
    : { runId: newRunId(), resume: false };
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

function continuesLast(choice: RunChoice, state: RunState): boolean {
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

/**
 * A person has solved the problem that prevented the judgment, and was told to run again, or finished work waits to
 * land: that takes no new iteration.
 */
function isLeftOpen({ cutOff, lostCommits, outcome, running }: RunState): boolean {
  return (
    [...cutOff, ...running].some(({ queued }) => queued) ||
    (outcome === 'error' && (cutOff.length > 0 || lostCommits !== undefined))
  );
}

function isSameTask({ task }: RunChoice, state: RunState): boolean {
  const given = task?.trim() ?? '';
  return given === '' || given.slice(0, MAX_RECORDED_TASK) === state.task;
}

/**
 * Compares the run's work with the requested one.
 * @returns the message if it differs; `undefined` if it is the same
 */
async function otherWork(
  files: RunFiles,
  choice: RunChoice,
  run: { readonly runId: string; readonly state: RunState },
): Promise<Message | undefined> {
  const { workspace } = files;
  const { state } = run;
  const relative = (file: string | undefined) =>
    file === undefined ? undefined : relativePath(workspace, file);
  // Resuming the last run without naming a file means that run's work.
  const isCompared = choice.resume === undefined || choice.namesPlace === true;
  const isElsewhere =
    relative(choice.storyFile) !== state.storyFile || relative(choice.planDir) !== state.planDir;
  if (isCompared && isElsewhere) {
    const place = state.planDir ?? state.storyFile;
    return place === undefined
      ? say('The last run works on a task. To start a new run, use --new instead of --resume.')
      : say(
          'The last run works on {0}. To start a new run, use --new instead of --resume.',
          shorten(place, 200),
        );
  }
  const isStoriesCompared = choice.resume === undefined || choice.onlyStories !== undefined;
  if (isStoriesCompared && !isSameSet(choice.onlyStories, state.onlyStories)) {
    return state.onlyStories === undefined
      ? say('The last run works on all stories. To start a new run, use --new instead of --resume.')
      : say(
          'The last run works only on {0}. To start a new run, use --new instead of --resume.',
          shorten(state.onlyStories.join(', '), 200),
        );
  }
  const storyFile =
    state.storyFile === undefined ? undefined : path.resolve(workspace, state.storyFile);
  if (choice.prepare !== undefined) {
    return (await isPreparedSo(choice, state, storyFile))
      ? undefined
      : say(
          'The last run has other stories than these. To start a new run, use --new instead of --resume.',
        );
  }
  return storyFile !== undefined && (await isAnotherList(files, storyFile, run))
    ? say(
        'The last run worked on other stories than {0} contains now. To start a new run, use --new instead of --resume.',
        shorten(state.storyFile ?? '', 200),
      )
    : undefined;
}

function isSameSet(a: readonly string[] | undefined, b: readonly string[] | undefined): boolean {
  const asText = (ids: readonly string[] | undefined) => JSON.stringify([...new Set(ids)].sort());
  return (a === undefined) === (b === undefined) && asText(a) === asText(b);
}

/** Whether the stories of a run are, or were to be, created from the same input as now. */
async function isPreparedSo(
  choice: RunChoice,
  state: RunState,
  storyFile: string | undefined,
): Promise<boolean> {
  const { prepare } = choice;
  if (prepare?.kind === 'tasks') {
    const titles = titlesOf(prepare.tasks);
    return state.prepare?.kind === 'tasks'
      ? JSON.stringify(titlesOf(state.prepare.tasks)) === JSON.stringify(titles)
      : storyFile !== undefined && (await holdsTitles(storyFile, titles));
  }
  return (
    isSameTask(choice, state) &&
    (state.prepare?.kind === 'plan' ||
      (storyFile !== undefined && (await plannedTask(storyFile)) === choice.task?.trim()))
  );
}

async function plannedTask(storyFile: string): Promise<string | undefined> {
  // What makes it unreadable is reported when the stories themselves are read.
  const bytes = await readStoryBytes(storyFile);
  return bytes && plannedTaskOf(bytes.toString('utf8'));
}

/** Whether somebody else replaced the stories in the file: none of those in the journal is left. */
async function isAnotherList(
  files: RunFiles,
  storyFile: string,
  { runId, state }: { readonly runId: string; readonly state: RunState },
): Promise<boolean> {
  const known = new Set(
    [
      ...state.storyRecords.keys(),
      ...[...state.running, ...state.cutOff].map(({ storyId }) => storyId),
      state.lastIteration?.storyId,
    ].filter(Boolean),
  );
  if (known.size === 0) {
    return false;
  }
  // A missing or broken file is not another list; the start of the run reports how to fix it.
  const list = await readStoryList(storyFile);
  return (
    list !== undefined &&
    !list.stories.some(({ id }) => known.has(id)) &&
    !(await isAsLeft(new KeptStories(files, runId, storyFile), storyFile, state))
  );
}

/** Whether the file is as the interrupted agent left it: then the guard brings the stories back. */
async function isAsLeft(
  kept: KeptStories,
  storyFile: string,
  { cutOff, phase }: RunState,
): Promise<boolean> {
  if (phase !== 'ended') {
    // A killed loop has left it just now.
    return true;
  }
  const now = await readStoryBytes(storyFile);
  for (const { number } of cutOff) {
    if (now !== undefined && (await kept.readLeft(number))?.equals(now) === true) {
      return true;
    }
  }
  return false;
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
 * The number of agents that a person has chosen while the run was active counts when it continues. With one, agents
 * still have a place of their own, as they had.
 */
export function chosenLanes({ isolated, lanesChosen }: RunState): GivenSettings {
  return isolated && lanesChosen !== undefined
    ? recalledSettings({ lanes: lanesChosen, isolate: true })
    : {};
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

/**
 * Checks whether a continued run would differ from what the person knows: another agent, or weaker checks because a
 * settings file has changed meanwhile. Flags given now are intentional.
 *
 * @param given the flags of now
 * @param remembered the flags of the run, combined with those of now
 * @throws {HumanError} naming what changed and how to confirm it
 */
export function requireSameTerms(
  { agent, state, wasReviewed }: EarlierRun,
  settings: Settings,
  { given, remembered }: { readonly given: GivenSettings; readonly remembered: GivenSettings },
): void {
  const namesAgent = [given.agent, given.command, given.preset].some(value => value !== undefined);
  if (agent !== '' && agent !== settings.agent && !namesAgent) {
    const began = shorten(agent, 40);
    throw new HumanError(
      agent === 'command'
        ? say(
            'The run was started with another program as its agent, which is not stored. Pass --preset or --command again, or choose --agent {0}.',
            settings.agent,
          )
        : say(
            'The run was started with the agent {0}, and {1} would continue it. Pass --agent {0} again, or choose --agent {1}.',
            began,
            settings.agent,
          ),
    );
  }
  const missing = state.verify.filter(command => !settings.verify.includes(command));
  if (missing.length > 0 && given.verify === undefined) {
    const named = missing.map(command => `--verify ${JSON.stringify(command)}`).join(' ');
    throw new HumanError(
      say(
        'The run was checked by commands that are no longer in the settings. Find out who changed .omc/config.json; then name the checks to use, such as {0}, or start a new run with --new.',
        shorten(named, 400),
      ),
    );
  }
  if (wasReviewed && !settings.reviewer && remembered.reviewer === undefined) {
    throw new HumanError(
      say(
        'The stories of the run were reviewed, and the settings no longer ask for a reviewer. Find out who changed .omc/config.json; then pass --reviewer or --no-reviewer, or start a new run with --new.',
      ),
    );
  }
}
