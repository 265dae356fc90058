import { existsSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say, sentences } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { UsageError } from '../../base/usageError.ts';
import { readRunState } from '../../orchestrator/journal/foldJournal.ts';
import {
  type ChosenRun,
  continuesLast,
  fileBelow,
  fileOfRun,
} from '../../orchestrator/loop/resume.ts';
import type { RunOptions } from '../../orchestrator/loop/runOptions.ts';
import type { Preparation } from '../../orchestrator/planner/preparation.ts';
import { titlesOf } from '../../orchestrator/planner/taskStories.ts';
import { findStoryFile } from '../../orchestrator/stories/knownSources.ts';
import { namedSource } from '../../orchestrator/stories/storyFolder.ts';
import { MIRROR_FILE } from '../../orchestrator/trackers/github/githubMirror.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import { newestRunId } from '../../orchestrator/workspace/runIds.ts';
import { AllListsDone, finishedFile, OWN_STORY_FILE } from '../storyFiles.ts';
import { whyNoStoryFile } from '../whyNoStoryFile.ts';
import type { RunFlags, StartRequest } from './startFlags.ts';

/** Maximum length of a task joined from the titles of `--tasks`, in UTF-16 units. */
const MAX_JOINED_TASKS = 1_000;

/** Paths of the stories or the plan. */
type Places = Pick<RunOptions, 'storyFile' | 'planDir'>;

/** {@link Places}, with what has to be planned before the first iteration. */
export type Work = Places & Pick<RunOptions, 'prepare'>;

/** What has to be planned before the first iteration, as requested on the command line. */
export function preparationOf({ prd, tasks }: RunFlags): Preparation | undefined {
  if (tasks !== undefined) {
    return { kind: 'tasks', tasks };
  }
  return prd ? { kind: 'plan' } : undefined;
}

/** The path named on the command line, or the one where a run finds its stories. */
export async function placesOf(
  files: RunFiles,
  { flags, task }: StartRequest,
  prepare: Preparation | undefined,
): Promise<Places> {
  const { cwd, file, github, planDir } = flags;
  if (planDir !== undefined) {
    return { planDir };
  }
  if (file !== undefined) {
    return { storyFile: namedSource(cwd, file) };
  }
  if (github !== undefined) {
    return { storyFile: path.join(files.workspace, MIRROR_FILE) };
  }
  if (prepare !== undefined) {
    // New stories must not replace those that a person keeps elsewhere.
    return { storyFile: path.join(files.workspace, OWN_STORY_FILE) };
  }
  const storyFile =
    (await missingFileOf(files, flags, task)) ??
    (await findStoryFile(files.workspace)) ??
    // What its last agent claimed may still have to be judged.
    (task?.trim() ? undefined : await finishedFile(files));
  return storyFile === undefined ? {} : { storyFile };
}

/**
 * The story file of the run that this start continues, if it is gone: the agent that was killed with its loop may have
 * moved it, and another list of the folder is other work. The loop brings it back.
 */
async function missingFileOf(
  files: RunFiles,
  flags: RunFlags,
  task: string | undefined,
): Promise<string | undefined> {
  const newest = await newestRunId(files);
  const state = newest === undefined ? undefined : await readRunState(files.journalFile(newest));
  const wasCutOff = state?.phase !== 'ended' || state.cutOff.length > 0;
  if (
    state?.storyFile === undefined ||
    !wasCutOff ||
    !continuesLast({ isNew: flags.new === true, task }, state)
  ) {
    return undefined;
  }
  const file = fileBelow(files, state.storyFile);
  return file === undefined || existsSync(file) ? undefined : file;
}

/** Whether the command line names the work, so that nothing has to be searched for. */
export function namesPlace({ file, github, planDir, prd, tasks }: RunFlags): boolean {
  return [file, github, planDir, tasks].some(named => named !== undefined) || prd === true;
}

/**
 * @throws {HumanError} if there is nothing to work on
 * @throws {AllListsDone} if nothing is left to do
 */
export async function requireWork(
  files: RunFiles,
  { flags, task }: StartRequest,
  { planDir, storyFile }: Places,
  prepare: Preparation | undefined,
): Promise<void> {
  if (flags.story !== undefined && storyFile === undefined) {
    throw new HumanError(
      say(
        '--story needs a story file, and none was found in {0}. Name it with --file.',
        files.workspace,
      ),
    );
  }
  if (prepare?.kind === 'plan' && !task?.trim()) {
    throw new UsageError(say('--prd needs a task: ralph-fresh run --prd "your task".'));
  }
  if (
    storyFile === undefined &&
    planDir === undefined &&
    flags.resume === undefined &&
    !task?.trim()
  ) {
    const { choice, finished, found } = await whyNoStoryFile(files);
    if (finished !== undefined) {
      throw new AllListsDone(sentences([found, choice]), finished);
    }
    throw new HumanError(
      choice === undefined
        ? say(
            '{0} Let an agent plan the stories: ralph-fresh plan "your task" --write, or ralph-fresh run --prd "your task"; name a file with --file; or have a task done without stories: ralph-fresh run "your task".',
            found,
          )
        : sentences([found, choice]),
    );
  }
}

/** A continued run keeps its work, unless the command line names something else. */
export function workOf(
  files: RunFiles,
  { flags, task: given }: StartRequest,
  { prepare, ...places }: Work,
  chosen: ChosenRun,
): Pick<RunOptions, 'storyFile' | 'planDir' | 'task'> {
  const earlier = chosen.earlier?.state;
  const task =
    given ??
    (prepare?.kind === 'tasks'
      ? shorten(titlesOf(prepare.tasks).join('; '), MAX_JOINED_TASKS)
      : undefined);
  const ofTask = task === undefined ? {} : { task };
  if (earlier === undefined) {
    return { ...places, ...ofTask };
  }
  const earlierTask = earlier.task === '' ? {} : { task: earlier.task };
  if (namesPlace(flags)) {
    return { ...places, ...earlierTask, ...ofTask };
  }
  const { planDir, storyFile } = earlier;
  return {
    storyFile: storyFile === undefined ? undefined : fileOfRun(files, storyFile, '--file <path>'),
    planDir: planDir === undefined ? undefined : fileOfRun(files, planDir, '--plan-dir <dir>'),
    ...earlierTask,
    ...ofTask,
  };
}
