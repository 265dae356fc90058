import type { Command } from 'commander';
import { HumanError } from '../base/humanError.ts';
import { englishOf } from '../base/say.ts';
import { shellWord } from '../base/shellWord.ts';
import { shorten } from '../base/text.ts';
import type { SeenRun } from '../orchestrator/journal/runStanding.ts';
import {
  INITIAL_RUN_STATE,
  openQuestions,
  type RunState,
} from '../orchestrator/journal/runState.ts';
import { comeLast } from '../orchestrator/loop/policy.ts';
import { proposeVerifyCommands } from '../orchestrator/proof/checks/verifyProposals.ts';
import { leftAlone } from '../orchestrator/run/storiesLeft.ts';
import { DEFAULT_CONFIG } from '../orchestrator/settings/config.ts';
import { closedTaskOf, closedTasks } from '../orchestrator/stories/asideReason.ts';
import { readStoryProblems } from '../orchestrator/stories/diagnosis/readProblems.ts';
import { isParkedWord } from '../orchestrator/stories/formats/prdKeys.ts';
import type { NextStoryOptions } from '../orchestrator/stories/select.ts';
import type { Story, StoryFile, StoryList } from '../orchestrator/stories/story.ts';
import { readStoryFileOrThrow } from '../orchestrator/stories/storyFile.ts';
import { readFoundWork } from '../orchestrator/workspace/foundWork.ts';
import { runsAbout } from '../orchestrator/workspace/history.ts';
import { isItsLoopRunning, livingRun } from '../orchestrator/workspace/livingRun.ts';
import { RunFiles } from '../orchestrator/workspace/runFiles.ts';
import { nextFound, type StoryListData, storyListData } from '../presentation/storyListData.ts';
import { fileFlags, nextText, storyListText } from '../presentation/storyListText.ts';
import { runsOnFile } from '../presentation/storyState.ts';
import { cwdOption, type Flags } from './arguments.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { forPeople } from './people.ts';
import { print, printJson, tell } from './print.ts';
import { filesForTicks } from './runs.ts';
import {
  AllListsDone,
  fileOption,
  findStory,
  requireReadable,
  requireStoryFile,
} from './storyFiles.ts';

/** Of an id in a message, in UTF-16 units. */
const MAX_ID = 80;
/** Maximum number of ids in a message. */
const MAX_NAMED = 8;

/** Printed as data where no list is used, so that a program need not parse text meant for people. */
const NO_LIST: Omit<StoryListData, 'source' | 'format'> & {
  readonly source: string | null;
  readonly format: null;
} = { source: null, format: null, stories: [], problems: [], moreProblems: 0, discovered: [] };

/** `ralph-fresh stories`, `next`, `tick`, `untick`. */
export function addStoryCommands(program: Command): void {
  program
    .command('stories')
    .description('list the stories and their states')
    .addOption(cwdOption())
    .addOption(fileOption())
    .option('--json', 'as data: source, format, stories, problems (docs/json-output.md)')
    .action(async (flags: Flags) => {
      process.exitCode = await stories(flags);
    });
  program
    .command('next')
    .description('show the story that the next iteration would work on')
    .addOption(cwdOption())
    .addOption(fileOption())
    .option('--json', 'as data: its id, or why there is none')
    .action(next);
  for (const done of [true, false]) {
    forPeople(program.command(done ? 'tick' : 'untick'))
      .description(
        done
          ? 'mark a story as done in its file'
          : 'mark a story as not done, to have it done again',
      )
      .argument('<id>', 'id of the story')
      .addOption(cwdOption())
      .addOption(fileOption())
      .action((id: string, flags: Flags) => tick(id, done, flags));
  }
}

async function stories({ cwd, file: named, json }: Flags): Promise<number> {
  const files = new RunFiles(cwd);
  let list: StoryFile;
  let problems: StoryListData['problems'];
  let moreProblems: number;
  try {
    const read = await readStoryProblems(await requireStoryFile(files, named));
    list = read.file;
    moreProblems = read.more;
    problems = read.problems.map(({ code, file, line, message, severity }) => ({
      ...{ message: englishOf(message), line, code, severity },
      file,
    }));
  } catch (error) {
    if (error instanceof AllListsDone) {
      if (json) {
        printJson({ ...NO_LIST, allDone: true, files: error.files });
      } else {
        print(error.message);
      }
      return 0;
    }
    if (json && error instanceof HumanError) {
      const problems = [{ message: error.message, line: 0 }];
      printJson({ ...NO_LIST, source: named ?? null, problems });
      return EXIT_FAILURE;
    }
    throw error;
  }
  const data = storyListData(json ? list : requireReadable(list), {
    ...runsOnFile(
      list.path,
      files.workspace,
      await runsOf(files, list.kind === 'stories' ? list.stories.map(({ id }) => id) : []),
    ),
    discoveries: await readFoundWork(files),
    problems,
    moreProblems,
  });
  if (json) {
    printJson(data);
  } else {
    const isClaimed = data.stories.some(({ state }) => state === 'claimed');
    const [found] = isClaimed ? await proposeVerifyCommands(files.workspace) : [];
    print(storyListText(data, { check: found?.command, file: named }));
  }
  return list.kind === 'stories' ? 0 : EXIT_FAILURE;
}

async function next({ cwd, file: named, json }: Flags): Promise<void> {
  const files = new RunFiles(cwd);
  let file: string;
  try {
    file = await requireStoryFile(files, named);
  } catch (error) {
    if (!(error instanceof AllListsDone)) {
      throw error;
    }
    if (json) {
      printJson({ id: null, reason: 'allDone', files: error.files });
    } else {
      print(error.message);
    }
    return;
  }
  const list = requireReadable(await readStoryFileOrThrow(file));
  const runs = runsOnFile(list.path, files.workspace, await runsOf(files));
  const { alive, state } = runs.run;
  const working =
    alive && state.isolated ? state.running.flatMap(({ storyId }) => storyId ?? []) : [];
  const { data, story } = nextFound(list, turnsOf(list, runs), working, runs.run);
  if (json) {
    printJson(data);
  } else {
    print(nextText(data, story === undefined ? list : { stories: [story] }, named));
  }
}

async function tick(typed: string, done: boolean, { cwd, file: named }: Flags): Promise<void> {
  // It brings most of the code that this file needs, and the brief commands do without it.
  const { tickStory } = await import('../orchestrator/loop/tickStory.ts');
  const here = new RunFiles(cwd);
  const { file, story } = await findStory(here, typed, named);
  const files = await filesForTicks(here, file);
  const { id } = story;
  const words = done ? 'done' : 'not done';
  const about = nextText({ id }, { stories: [story] });
  const onWritten = () => print(`Marked as ${words}: ${about}`);
  const access = { mayRun: true, env: process.env };
  if (!(await tickStory(files, file, { id }, done, { onWritten, access }))) {
    print(`Already ${words}: ${about}`);
  } else if ((await livingRun(files)) === undefined) {
    await warnOfOtherBranch(files, file, { done, id }, fileFlags(named));
  }
  if (!done) {
    const why = whyNotWorkedOn(
      requireReadable(await readStoryFileOrThrow(file)),
      id,
      fileFlags(named),
    );
    if (why !== undefined) {
      print(why);
    }
    return;
  }
  const left = leftOf(requireReadable(await readStoryFileOrThrow(file)), id, fileFlags(named));
  if (left !== undefined) {
    print(left);
  }
}

async function warnOfOtherBranch(
  files: RunFiles,
  file: string,
  mark: Pick<Story, 'done' | 'id'>,
  flags: string,
): Promise<void> {
  // Loaded on demand: most marks need no git.
  const { markElsewhere } = await import('../orchestrator/workspace/landedElsewhere.ts');
  const found = await markElsewhere(files, file, mark);
  if (found !== undefined) {
    const undo = `ralph-fresh ${mark.done ? 'untick' : 'tick'}${flags} ${shellWord(mark.id)}`;
    tell(
      `This mark may get lost, or be a conflict, when you go to the branch that has the work. To make it there instead, first take it back: ${undo}. ${found.way.message}`,
    );
  }
}

/** What no agent works on because a task is done, as in Task Master; `undefined` if that is nothing. */
function leftOf(list: StoryList, id: string, flags: string): string | undefined {
  const taskOf = closedTasks(list);
  const left = list.stories.filter(story => !story.done && taskOf(story)?.id === id);
  if (left.length === 0) {
    return undefined;
  }
  const named = left.slice(0, MAX_NAMED).map(story => {
    const status = story.status === undefined ? '' : ` (${shorten(story.status, MAX_ID)})`;
    return `${shorten(story.id, MAX_ID)}${status}`;
  });
  const more = left.length - named.length;
  const all = more > 0 ? `${named.join(', ')} and ${more} more` : named.join(', ');
  const isStopped = left.some(({ status = '' }) => !isParkedWord(status));
  return [
    `No agent works on what is not done below ${shorten(id, MAX_ID)}: ${all}.`,
    ...(isStopped
      ? [`Mark it as done, too, or take this back: ralph-fresh untick${flags} ${shellWord(id)}`]
      : []),
  ].join(' ');
}

/** Why a reopened story will not be worked on; `undefined` if it will. */
function whyNotWorkedOn(list: StoryList, id: string, flags: string): string | undefined {
  const story = list.stories.find(one => one.id === id);
  if (story === undefined || story.done || story.parked !== true) {
    return undefined;
  }
  const name = shorten(id, MAX_ID);
  const task = closedTaskOf(list, story);
  if (story.afterTag !== undefined) {
    return `${name} is set back. Its turn comes after the tasks of the tag ${shorten(story.afterTag, MAX_ID)}; to have it done before them, run: ralph-fresh run${flags} --story ${shellWord(id)}`;
  }
  if (task === undefined) {
    return `${name} is set back, but it is put aside in the story file, so no agent works on it.`;
  }
  return task.done
    ? `${name} is set back, but its task ${shorten(task.id, MAX_ID)} is done, so no agent works on it. Also run: ralph-fresh untick${flags} ${shellWord(task.id)}`
    : `${name} is set back, but its task ${shorten(task.id, MAX_ID)} is put aside (${shorten(task.status ?? '', MAX_ID)}), so no agent works on it. Reopen that task in the story file.`;
}

/** Runs according to their journals, the newest last. */
interface Runs {
  readonly run: SeenRun;
  readonly states: readonly RunState[];
}

/** @param storyIds what runs before the newest one are read for */
async function runsOf(files: RunFiles, storyIds?: readonly string[]): Promise<Runs> {
  const states = await runsAbout(files, storyIds);
  const state = states.at(-1) ?? INITIAL_RUN_STATE;
  return { run: { state, alive: await isItsLoopRunning(state) }, states };
}

/**
 * Which stories a living run passes over, and which it puts last. If none is alive, the next run retries failed and
 * blocked stories; only a person's skip still counts.
 */
function turnsOf(
  { stories }: StoryList,
  { run: { alive, state } }: Pick<Runs, 'run'>,
): NextStoryOptions {
  if (alive) {
    // With lanes, the others continue while one story waits for a person.
    const asking = state.isolated
      ? openQuestions(state).flatMap(({ storyId }) => storyId ?? [])
      : [];
    return {
      skip: new Set([...leftAlone({ config: DEFAULT_CONFIG, state, stories }), ...asking]),
      last: comeLast(state),
      only: state.onlyStories && new Set(state.onlyStories),
    };
  }
  return {
    skip: new Set(
      [...state.storyRecords].flatMap(([id, { skipped }]) => (skipped === 'person' ? [id] : [])),
    ),
  };
}
