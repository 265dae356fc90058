import { realpathSync } from 'node:fs';
import path from 'node:path';
import { type Command, Option } from 'commander';
import packageJson from '../../package.json' with { type: 'json' };
import { dryRun } from '../orchestrator/dryRun.ts';
import { HumanError } from '../orchestrator/humanError.ts';
import { runLoop } from '../orchestrator/loop.ts';
import { titlesOf } from '../orchestrator/planner/taskStories.ts';
import {
  type ChosenRun,
  chooseRun,
  fileOfRun,
  MAX_RECORDED_TASK,
  OtherWorkError,
  pendingPreparation,
  requireSameTerms,
} from '../orchestrator/resume.ts';
import { launchRun } from '../orchestrator/run/launch.ts';
import { isRunId, newestRunId, RunFiles } from '../orchestrator/run/runFiles.ts';
import type { RunState } from '../orchestrator/run/runState.ts';
import type { Preparation, RunOptions } from '../orchestrator/runContext.ts';
import { say } from '../orchestrator/say.ts';
import {
  agentOf,
  configOf,
  fallbackAgentOf,
  givenSettings,
  recalledSettings,
  rememberedSettings,
} from '../orchestrator/settings/settings.ts';
import {
  DEFAULT_SETTINGS,
  type GivenSettings,
  type Settings,
} from '../orchestrator/settings/settingTable.ts';
import { StopSwitch } from '../orchestrator/stopSwitch.ts';
import { findStoryFile } from '../orchestrator/stories/storyFile.ts';
import { shorten } from '../orchestrator/text.ts';
import { UsageError } from '../orchestrator/usageError.ts';
import { ON_LAST_WINDOW, type OnLastWindow } from '../orchestrator/windows.ts';
import { english, iterationCount, outcomeSentence, runEnd } from '../presentation/sentences.ts';
import { cwdOption } from './arguments.ts';
import { askBranch, canAskBranch } from './branchQuestion.ts';
import { EXIT_FAILURE } from './exitCodes.ts';
import { readRun } from './loopEnd.ts';
import { takesOneText } from './oneText.ts';
import { forPeople } from './people.ts';
import { eventPrinter, print } from './print.ts';
import { addSettingFlags, givenFlags, settingsOf } from './settingFlags.ts';
import { keepHeapSmall } from './smallHeap.ts';
import { whyNoStoryFile } from './storyFiles.ts';

/** What a run is started with, besides its settings. */
interface RunFlags {
  readonly cwd: string;
  readonly file?: string;
  readonly prd?: true;
  readonly tasks?: readonly string[];
  readonly story?: readonly string[];
  readonly onLastWindow?: OnLastWindow;
  readonly resume?: string | true;
  readonly new?: true;
  readonly dryRun?: true;
  readonly detach?: true;
  readonly quiet?: true;
  readonly runId?: string;
  readonly planDir?: string;
}

/** The pure loop's own default, in place of the one for stories. */
export const PLAN_DEFAULTS = { maxIterations: 15 } as const satisfies GivenSettings;
/** Given to the detached loop in another form, or not meant for it. */
const NOT_PASSED_ON = ['cwd', 'detach', 'quiet', 'runId'];
/** Where stories that are made for a run are written, unless a file is named. */
export const OWN_STORY_FILE = path.join('.omc', 'prd.json');
/** Longest task that is made of the titles of `--tasks`, in UTF-16 units. */
const MAX_JOINED_TASKS = 1_000;

/** `ralph-fresh run`: the loop in this terminal, or detached. */
export function addRunCommand(program: Command): void {
  const command = takesOneText(forPeople(program.command('run')))
    .description('start the loop here; Ctrl-C ends it, and a later run goes on')
    .argument('[task]', 'what to do, when there are no stories; else background for every agent')
    .addOption(cwdOption())
    .option('--file <path>', 'story file; else prd.json in .omc/ and the other usual places')
    .addOption(new Option('--prd', 'plan the task into stories first').conflicts('tasks'))
    .addOption(new Option('--tasks <list>', 'one story for each: "a|b|c"').argParser(taskList))
    .addOption(
      new Option('--story <id>', 'work on this story alone; may be given several times')
        .argParser(storyIds)
        .conflicts(['prd', 'tasks']),
    );
  addStartFlags(command)
    .addOption(new Option('--run-id <id>').hideHelp())
    .addOption(new Option('--on-last-window <action>').choices(ON_LAST_WINDOW).hideHelp())
    .addOption(new Option('--plan-dir <dir>').argParser(dir => path.resolve(dir)).hideHelp());
  addSettingFlags(command).action(async (task: string | undefined, flags: RunFlags) => {
    process.exitCode = await startRun({ task, flags, command });
  });
}

/** How to start, the same for each command that starts a run. */
export function addStartFlags(command: Command): Command {
  return command
    .addOption(
      new Option('--resume [runId]', 'go on with the last run, whatever it ended with').conflicts(
        'new',
      ),
    )
    .option('--new', 'do not go on with an unfinished run')
    .addOption(
      new Option('--dry-run', 'print what would run and the first prompt; start nothing').conflicts(
        'detach',
      ),
    )
    .option('--detach', 'start in the background and return; it outlives this terminal')
    .option('--quiet', 'print nothing but errors');
}

/** A start as the command line asks for it. */
export interface StartRequest {
  readonly task: string | undefined;
  readonly flags: RunFlags;
  /** The command that was called, for the settings it was given. */
  readonly command: Command;
}

/** Starts the loop here or detached. @returns the exit code */
export async function startRun(request: StartRequest): Promise<number> {
  const { command, flags } = request;
  const files = new RunFiles(flags.cwd);
  requireRunIds(flags);
  const flagged = settingsOf(command);
  const given = (recalled: GivenSettings) =>
    givenSettings({
      flags: flagged,
      recalled,
      workspace: files.workspace,
      env: process.env,
      platform: process.platform,
    });
  // A mistake in a file is told at once, by a detached start too.
  await given({});
  const named = preparationOf(flags);
  const places = await placesOf(files, flags, named);
  await requireWork(files, request, places, named);
  if (flags.detach) {
    return detach(files, request);
  }
  const chosen = await choose(files, request, { ...places, ...(named && { prepare: named }) });
  const earlier = chosen.earlier?.state;
  const prepare = named ?? (earlier && pendingPreparation(earlier));
  requireWholeTask(request, named, earlier);
  // A run that goes on has the flags it was started with, unless it is told otherwise.
  const recalled = earlier === undefined ? {} : recalledSettings(earlier.settings ?? {});
  const remembered = { ...recalled, ...flagged };
  const settings = settingsFor(
    await given({ ...recalled, ...iterationsOf(chosen) }),
    earlier?.planDir ?? places.planDir,
  );
  if (chosen.earlier !== undefined) {
    requireSameTerms(chosen.earlier, settings, { given: flagged, remembered });
  }
  const stop = new StopSwitch();
  const fallbackAgent = await fallbackAgentOf(settings, {
    env: process.env,
    workspace: files.workspace,
  });
  const options: RunOptions = {
    files,
    // The one who launched this loop waits for that id, unless an earlier run goes on.
    runId: chosen.resume ? chosen.runId : (flags.runId ?? chosen.runId),
    resume: chosen.resume,
    agent: agentOf(settings),
    ...(fallbackAgent && { fallbackAgent }),
    config: configOf(settings),
    ...workOf(files, request, { ...places, ...(named && { prepare: named }) }, chosen),
    ...(prepare && { prepare }),
    ...(flags.story && { onlyStories: flags.story }),
    ...(flags.onLastWindow && { onLastWindow: flags.onLastWindow, ...windowGrace(process.env) }),
    apiKey: settings.apiKey,
    settings: rememberedSettings(remembered),
    env: process.env,
    version: packageJson.version,
    stop,
    ...(canAskBranch(flags) ? { askBranch } : {}),
    ...(flags.quiet ? {} : { onEvent: eventPrinter({ earlier }) }),
  };
  if (flags.dryRun) {
    const told = await dryRun(
      options,
      earlier,
      ({ detail, outcome }, state) =>
        outcomeSentence({ ...runEnd(state, outcome), detail }, english).text,
    );
    print(told.trimEnd());
    return 0;
  }
  return loopHere(options, stop, flags);
}

async function choose(
  files: RunFiles,
  { command, flags, task }: StartRequest,
  work: Work,
): Promise<ChosenRun> {
  const { maxIterations } = settingsOf(command);
  try {
    return await chooseRun(files, {
      ...work,
      namesPlace: namesPlace(flags),
      ...(flags.resume === undefined ? {} : { resume: flags.resume }),
      isNew: flags.new === true,
      ...(task === undefined ? {} : { task }),
      ...(flags.story && { onlyStories: flags.story }),
      ...(maxIterations === undefined ? {} : { maxIterations }),
    });
  } catch (error) {
    throw error instanceof OtherWorkError ? new UsageError(error.message) : error;
  }
}

/** A journal holds the beginning of a task, and a plan of that alone would be another plan. */
function requireWholeTask(
  { task }: StartRequest,
  named: Preparation | undefined,
  earlier: RunState | undefined,
): void {
  if (
    earlier !== undefined &&
    named === undefined &&
    pendingPreparation(earlier)?.kind === 'plan' &&
    task === undefined &&
    earlier.task.length >= MAX_RECORDED_TASK
  ) {
    throw new HumanError(
      say(
        'The run was cut off while its task was planned, and the journal holds only the beginning of that task. Give the whole task again: ralph-fresh run --prd "your task".',
      ),
    );
  }
}

/** The loop in this process; a signal ends it, a second one at once. */
async function loopHere(options: RunOptions, stop: StopSwitch, flags: RunFlags): Promise<number> {
  let letHeapGrow: (() => void) | undefined;
  let interrupts = 0;
  const onSignal = () => {
    interrupts += 1;
    stop.request(interrupts === 1 ? 'end' : 'kill', 'signal');
  };
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
  for (const signal of signals) {
    process.on(signal, onSignal);
  }
  try {
    const state = await runLoop({
      ...options,
      onEvent: event => {
        if (event.type === 'agent.started') {
          letHeapGrow ??= keepHeapSmall();
        }
        options.onEvent?.(event);
      },
    });
    if (state === undefined) {
      tellNothingToDo(flags);
      return 0;
    }
    return state.exitCode ?? EXIT_FAILURE;
  } finally {
    letHeapGrow?.();
    for (const signal of signals) {
      process.off(signal, onSignal);
    }
  }
}

function tellNothingToDo({ quiet, story }: RunFlags): void {
  if (!quiet) {
    const what = story === undefined ? 'All stories' : shorten(story.join(', '), 200);
    print(
      `${what} complete, nothing to do. Add a story, or have one done again: ralph-fresh untick ID.`,
    );
  }
}

async function detach(files: RunFiles, { command, flags, task }: StartRequest): Promise<number> {
  const last = await newestRunId(files);
  const before = last === undefined ? undefined : await readRun(files, last);
  const runId = await launchRun({
    files,
    program: realpathSync(process.argv[1] ?? ''),
    args: [
      ...givenFlags(command, NOT_PASSED_ON),
      ...(flags.planDir === undefined || isGiven(command, 'planDir')
        ? []
        : [`--plan-dir=${flags.planDir}`]),
      // Behind this no text is taken for an option.
      ...(task === undefined ? [] : ['--', task]),
    ],
    env: process.env,
  });
  if (runId === undefined) {
    tellNothingToDo(flags);
  } else if (!flags.quiet) {
    const begun =
      before?.runId === runId
        ? `Run ${runId} goes on after ${iterationCount(before.iteration, english)}.`
        : `Started run ${runId}.`;
    print(`${begun} Watch it with "ralph-fresh status --watch", end it with "ralph-fresh stop".`);
  }
  return 0;
}

/** Where the stories or the plan are. */
type Places = Pick<RunOptions, 'storyFile' | 'planDir'>;

type Work = Places & Pick<RunOptions, 'prepare'>;

async function placesOf(
  files: RunFiles,
  { cwd, file, planDir }: RunFlags,
  prepare: Preparation | undefined,
): Promise<Places> {
  if (planDir !== undefined) {
    return { planDir };
  }
  if (file !== undefined) {
    return { storyFile: path.resolve(cwd, file) };
  }
  if (prepare !== undefined) {
    // New stories do not go over those that a person keeps elsewhere.
    return { storyFile: path.join(files.workspace, OWN_STORY_FILE) };
  }
  const storyFile = await findStoryFile(files.workspace);
  return storyFile === undefined ? {} : { storyFile };
}

/** Whether the command line names what is to be worked on, and nobody has to look for it. */
function namesPlace({ file, planDir, prd, tasks }: RunFlags): boolean {
  return file !== undefined || planDir !== undefined || prd === true || tasks !== undefined;
}

/** A run that goes on works at what it worked at, unless the command line names something else. */
function workOf(
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
    ...(storyFile === undefined ? {} : { storyFile: fileOfRun(files, storyFile, '--file <path>') }),
    ...(planDir === undefined ? {} : { planDir: fileOfRun(files, planDir, '--plan-dir <dir>') }),
    ...earlierTask,
    ...ofTask,
  };
}

function settingsFor(given: GivenSettings, planDir: string | undefined): Settings {
  return {
    ...DEFAULT_SETTINGS,
    ...(planDir === undefined ? {} : PLAN_DEFAULTS),
    ...given,
  };
}

/** A run that goes on keeps its number of iterations, whatever the files say. */
function iterationsOf({ earlier }: ChosenRun): GivenSettings {
  const maxIterations = earlier?.state.maxIterations ?? 0;
  return maxIterations > 0 ? { maxIterations } : {};
}

function preparationOf({ prd, tasks }: RunFlags): Preparation | undefined {
  if (tasks !== undefined) {
    return { kind: 'tasks', tasks };
  }
  return prd ? { kind: 'plan' } : undefined;
}

function requireRunIds({ resume, runId }: RunFlags): void {
  if (runId !== undefined && !isRunId(runId)) {
    throw new HumanError(say('"{0}" is not a run\'s id. Leave --run-id out.', runId));
  }
  if (typeof resume === 'string' && !isRunId(resume)) {
    throw new UsageError(
      say(
        '"{0}" is not a run\'s id. Leave it out for the last run; a task stands before --resume.',
        resume,
      ),
    );
  }
}

async function requireWork(
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
    throw new UsageError(
      say('--prd plans a task, and none was given: ralph-fresh run --prd "your task".'),
    );
  }
  if (
    storyFile === undefined &&
    planDir === undefined &&
    flags.resume === undefined &&
    !task?.trim()
  ) {
    const { choice, found } = await whyNoStoryFile(files);
    throw new HumanError(
      choice === undefined
        ? say(
            '{0} Let an agent plan the stories: ralph-fresh plan "your task" --write, or ralph-fresh run --prd "your task"; name a file with --file; or have a task done without stories: ralph-fresh run "your task".',
            found,
          )
        : `${found} ${choice}`,
    );
  }
}

/** `a|b|c`; given again it adds to them. */
function taskList(text: string, before: readonly string[] = []): readonly string[] {
  const tasks = text
    .split('|')
    .map(task => task.trim())
    .filter(task => task !== '');
  if (tasks.length === 0) {
    throw new UsageError(say('Name at least one task: --tasks "first task|second task".'));
  }
  return [...before, ...tasks];
}

/** A flag's value, with those that were given before; each once. */
function storyIds(text: string, before: readonly string[] = []): readonly string[] {
  const id = text.trim();
  if (id === '') {
    throw new UsageError(say('Name a story by its id: --story US-003.'));
  }
  return before.includes(id) ? before : [...before, id];
}

/** Tests cannot wait a minute for a window that does not come back. */
function windowGrace(env: NodeJS.ProcessEnv): Pick<RunOptions, 'windowGraceMs'> {
  const seconds = Number(env['RALPH_FRESH_WINDOW_GRACE_SECONDS']);
  return seconds > 0 && seconds < 60 ? { windowGraceMs: seconds * 1_000 } : {};
}

function isGiven(command: Command, key: string): boolean {
  return command.getOptionValueSource(key) === 'cli';
}
