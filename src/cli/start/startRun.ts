import packageJson from '../../../package.json' with { type: 'json' };
import { HumanError } from '../../base/humanError.ts';
import { englishOf, say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { UsageError } from '../../base/usageError.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { requireNoLoop } from '../../orchestrator/loop/exclusiveWork.ts';
import { closeRunFoundDead } from '../../orchestrator/loop/recovery.ts';
import {
  type ChosenRun,
  chooseRun,
  OtherWorkError,
  pendingPreparation,
} from '../../orchestrator/loop/resume.ts';
import type { RunOptions } from '../../orchestrator/loop/runOptions.ts';
import { chosenLanes, requireSameTerms } from '../../orchestrator/loop/sameTerms.ts';
import { MAX_RECORDED_TASK } from '../../orchestrator/loop/sameWork.ts';
import type { Preparation } from '../../orchestrator/planner/preparation.ts';
import {
  agentOf,
  configOf,
  fallbackAgentOf,
  givenSettings,
  recalledSettings,
  rememberedSettings,
  unusedProgram,
} from '../../orchestrator/settings/settings.ts';
import { DEFAULT_SETTINGS, type GivenSettings } from '../../orchestrator/settings/settingTable.ts';
import { settingsForStories } from '../../orchestrator/settings/sourceDefaults.ts';
import { allowOutsideLinks } from '../../orchestrator/stories/outsideLinks.ts';
import { chooseOutsiderTexts } from '../../orchestrator/stories/outsiderTexts.ts';
import type { StoryList } from '../../orchestrator/stories/story.ts';
import { beadsDatabase } from '../../orchestrator/trackers/beads/beadsDatabase.ts';
import { BeadsTracker } from '../../orchestrator/trackers/beads/beadsTracker.ts';
import { areIssues, isMirror } from '../../orchestrator/trackers/github/issueStories.ts';
import type { Tracker } from '../../orchestrator/trackers/tracker.ts';
import { readNewestRun } from '../../orchestrator/workspace/runCheckpoint.ts';
import { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import { takeSecrets } from '../../orchestrator/workspace/startSecrets.ts';
import { StopSwitch } from '../../orchestrator/workspace/stopSwitch.ts';
import { runEnd } from '../../presentation/runEnd.ts';
import { outcomeSentence } from '../../presentation/sentences.ts';
import { english } from '../../presentation/translate.ts';
import { agentEnvironment } from '../agentEnvironment.ts';
import { askBranch } from '../branchQuestion.ts';
import { canAsk } from '../canAsk.ts';
import { eventPrinter, print, tell } from '../print.ts';
import { settingsOf } from '../settingFlags.ts';
import { requireRunsStoryFile } from '../storyFileElsewhere.ts';
import { AllListsDone, alsoFound } from '../storyFiles.ts';
import { typedId } from '../typedIds.ts';
import { beginGithub, namedSource, requireCopy, tellNotes } from './githubStart.ts';
import { loopDetached, loopHere } from './loopProcess.ts';
import { requireRunsBranch } from './runsBranch.ts';
import { getsNoTokens } from './runTokens.ts';
import { requireRunIds, type StartRequest } from './startFlags.ts';
import {
  namesPlace,
  placesOf,
  preparationOf,
  requireWork,
  type Work,
  workOf,
} from './startWork.ts';

/** The pure loop's own default, instead of the one for stories. */
export const PLAN_DEFAULTS = { maxIterations: 15 } as const satisfies GivenSettings;

/** Starts the loop here or detached. @returns the exit code */
export async function startRun(request: StartRequest): Promise<number> {
  try {
    return await start(request);
  } catch (error) {
    if (!(error instanceof AllListsDone)) {
      throw error;
    }
    if (!request.flags.quiet) {
      print(error.message);
    }
    return 0;
  }
}

async function start(asking: StartRequest): Promise<number> {
  const { command } = asking;
  if (asking.flags.secretsOnStdin) {
    Object.assign(process.env, await takeSecrets(process.stdin));
  }
  const files = new RunFiles(asking.flags.cwd);
  requireRunIds(asking.flags);
  const flagged = settingsOf(command);
  allowOutsideLinks(flagged.outsideLinks ?? []);
  chooseOutsiderTexts(flagged.githubOutsiders);
  const given = (recalled: GivenSettings) =>
    givenSettings({ flags: flagged, recalled, workspace: files.workspace });
  // A mistake in a file is reported at once, even by a detached start.
  const set = await given({});
  const named = preparationOf(asking.flags);
  const places = await placesOf(files, asking, named);
  const request = await withStoryIds(asking, files, places.storyFile);
  const { flags } = request;
  await requireWork(files, request, places, named);
  const asked = await askedIssues(files, request, set);
  if (!flags.dryRun) {
    // Nothing that the next checks ask for would help while one is active.
    await requireNoLoop(files);
    // Its agent may still be changing what is read next.
    await closeRunFoundDead(files);
  }
  const chosen = await choose(files, request, { ...places, prepare: named });
  const earlier = chosen.earlier?.state;
  if (earlier === undefined && !flags.quiet) {
    await tellCutOff(files);
  }
  if (
    earlier === undefined &&
    !flags.quiet &&
    places.storyFile !== undefined &&
    !namesPlace(flags)
  ) {
    await tellOthers(files, places.storyFile);
  }
  if (earlier !== undefined && !namesPlace(flags)) {
    await requireRunsStoryFile(files);
  }
  const prepare = named ?? (earlier && pendingPreparation(earlier));
  requireWholeTask(request, named, earlier);
  // A continued run keeps the flags it was started with, unless they are given again.
  const recalled =
    earlier === undefined
      ? {}
      : { ...recalledSettings(earlier.settings ?? {}), ...chosenLanes(earlier) };
  const remembered = { ...recalled, ...flagged };
  const { storyFile } = workOf(files, request, places, chosen);
  const chosenSettings = await given({ ...recalled, ...iterationsOf(chosen) });
  const settings =
    (earlier?.planDir ?? places.planDir) === undefined
      ? await settingsForStories(chosenSettings, storyFile)
      : { ...DEFAULT_SETTINGS, ...PLAN_DEFAULTS, ...chosenSettings };
  if (chosen.earlier !== undefined) {
    requireSameTerms(chosen.earlier, settings, { given: flagged, remembered });
    await requireRunsBranch(files, chosen.earlier.state, {
      canSwitch: settings.branch === 'checkout',
      storyFile,
    });
  }
  const work = workOf(files, request, { ...places, prepare: named }, chosen);
  const tracker = asked ?? (await trackerOf(files, work.storyFile, set, flags.dryRun));
  if (flags.detach) {
    return loopDetached(files, request);
  }
  const withoutTokens = await getsNoTokens(files, work.storyFile, {
    earlier,
    isPlanned: prepare !== undefined,
    isQuiet: flags.quiet === true || flags.dryRun === true,
  });
  const env = agentEnvironment(withoutTokens ? 'all' : 'window');
  const stop = new StopSwitch();
  const fallbackAgent = await fallbackAgentOf(settings, {
    env: process.env,
    workspace: files.workspace,
  });
  const options: RunOptions = {
    files,
    // The process that launched this loop waits for that id, unless an earlier run continues.
    runId: chosen.resume ? chosen.runId : (flags.runId ?? chosen.runId),
    resume: chosen.resume,
    agent: agentOf(settings),
    fallbackAgent,
    unusedProgram: unusedProgram(chosenSettings, flagged),
    config: configOf(settings),
    ...work,
    prepare,
    tracker,
    onlyStories: flags.story,
    ...(flags.onLastWindow && { onLastWindow: flags.onLastWindow, ...windowGrace(process.env) }),
    apiKey: settings.apiKey,
    settings: rememberedSettings(remembered),
    env,
    withoutTokens,
    version: packageJson.version,
    stop,
    askBranch: canAsk(flags) ? askBranch : undefined,
    onEvent: flags.quiet ? undefined : eventPrinter({ earlier }),
  };
  if (flags.dryRun) {
    const [{ dryRun }, { nextData }, { nextText }] = await Promise.all([
      import('../../orchestrator/loop/dryRun.ts'),
      import('../../presentation/storyListData.ts'),
      import('../../presentation/storyListText.ts'),
    ]);
    const only = flags.story && new Set(flags.story);
    const noneNext = (list: StoryList) =>
      nextText(nextData(list, { ...(only && { only }) }), list, flags.file);
    const told = await dryRun(options, earlier, ({ kind: _kind, ...end }, state, list) =>
      // Without a run there is none to resume.
      end.outcome === 'noReadyStory' && earlier === undefined && list !== undefined
        ? noneNext(list)
        : outcomeSentence({ ...runEnd(state, end.outcome), ...end }, english).text,
    );
    print(told.trimEnd());
    return 0;
  }
  return loopHere(options, stop, flags);
}

/** The issues that the command line names; a dry run only needs their copy. */
async function askedIssues(
  files: RunFiles,
  { command, flags }: StartRequest,
  settings: GivenSettings,
): Promise<Tracker | undefined> {
  const source = namedSource(flags);
  if (source === undefined) {
    return undefined;
  }
  if (flags.dryRun) {
    await requireCopy(files, source, settingsOf(command).githubUrl);
    return undefined;
  }
  return beginGithub(files, source, settings, true);
}

/** Where the stories of this file really are. */
async function trackerOf(
  files: RunFiles,
  storyFile: string | undefined,
  settings: GivenSettings,
  isDryRun = false,
): Promise<Tracker | undefined> {
  if (isMirror(files.workspace, storyFile)) {
    if (isDryRun) {
      return undefined;
    }
    const tracker = await beginGithub(files, undefined, settings, true);
    if (tracker === undefined) {
      tellNotes([{ code: 'githubNotAsked', detail: NOT_ASKED }]);
    }
    return tracker;
  }
  if (
    storyFile !== undefined &&
    !isDryRun &&
    (await areIssues(files.workspace, storyFile)) === true
  ) {
    tellNotes([{ code: 'githubNotAsked', detail: OTHER_COPY }]);
  }
  return storyFile !== undefined && (await beadsDatabase(storyFile)) !== undefined
    ? new BeadsTracker(storyFile, { env: process.env })
    : undefined;
}

const NOT_ASKED = say(
  'The stories are a copy of issues on GitHub, which is not brought up to date, because you have not asked for it in this folder: ralph-fresh run --github owner/name',
);

const OTHER_COPY = say(
  'The stories are a copy of issues on GitHub, which is not brought up to date, because only .omc/github.json of this folder is: ralph-fresh run --github owner/name',
);

/** With the ids of the stories that are meant by what was typed. */
async function withStoryIds(
  request: StartRequest,
  files: RunFiles,
  storyFile: string | undefined,
): Promise<StartRequest> {
  const { story } = request.flags;
  if (story === undefined || storyFile === undefined) {
    return request;
  }
  const ids = await Promise.all(story.map(typed => typedId(files, typed, [], storyFile)));
  return { ...request, flags: { ...request.flags, story: [...new Set(ids)] } };
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
      resume: flags.resume,
      isNew: flags.new === true,
      task,
      onlyStories: flags.story,
      maxIterations,
    });
  } catch (error) {
    throw error instanceof OtherWorkError ? new UsageError(error.said) : error;
  }
}

/** A list that was chosen among several, unasked, is not always the one that a person means. */
async function tellOthers(files: RunFiles, storyFile: string): Promise<void> {
  const { open = [], slips } = await alsoFound(files, storyFile);
  for (const other of [...slips, open].flat()) {
    tell(englishOf(other));
  }
}

/** Before another run than the last one: what killed agents in places of their own have left there. */
async function tellCutOff(files: RunFiles): Promise<void> {
  const last = await readNewestRun(files);
  const stories = [...(last?.cutOff ?? []), ...(last?.running ?? [])].flatMap(
    ({ lane, storyId }) =>
      lane === undefined || storyId === undefined ? [] : [shorten(storyId, 80)],
  );
  if (last?.isolated && stories.length > 0) {
    tell(
      `This is a new run. The last one ended while agents were working on ${[...new Set(stories)].join(', ')}; to collect what they did, continue it: ralph-fresh run --resume`,
    );
  }
}

/** A journal contains only the start of a long task, and a plan from that alone would be a different plan. */
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
        'The run was interrupted while its task was being planned, and the journal has only the beginning of that task. Give the whole task again: ralph-fresh run --prd "your task".',
      ),
    );
  }
}

/** A continued run keeps its number of iterations, whatever the files say. */
function iterationsOf({ earlier }: ChosenRun): GivenSettings {
  const maxIterations = earlier?.state.maxIterations ?? 0;
  return maxIterations > 0 ? { maxIterations } : {};
}

/** For tests, which cannot wait a minute for a window that does not come back. */
function windowGrace(env: NodeJS.ProcessEnv): Pick<RunOptions, 'windowGraceMs'> {
  const seconds = Number(env['RALPH_FRESH_WINDOW_GRACE_SECONDS']);
  return seconds > 0 && seconds < 60 ? { windowGraceMs: seconds * 1_000 } : {};
}
