import path from 'node:path';
import { type Message, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import type { RunState } from '../journal/runState.ts';
import { plannedTaskOf } from '../planner/plannedTask.ts';
import { holdsTitles, titlesOf } from '../planner/taskStories.ts';
import { relativePath } from '../run/runWork.ts';
import { readStoryBytes, readStoryList } from '../stories/storyFile.ts';
import { KeptStories } from '../workspace/keptStories.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import type { RunChoice } from './runChoice.ts';

/** Maximum length of a task in the journal, in UTF-16 units. */
export const MAX_RECORDED_TASK = 4_000;

export function isSameTask({ task }: RunChoice, state: RunState): boolean {
  const given = task?.trim() ?? '';
  return given === '' || given.slice(0, MAX_RECORDED_TASK) === state.task;
}

/**
 * Compares the run's work with the requested one.
 * @returns the message if it differs; `undefined` if it is the same
 */
export async function otherWork(
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
