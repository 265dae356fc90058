import { existsSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { type Message, say, type Words } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { changedFilesBut, checkOutBranch, isOnOtherBranch } from '../git/branch.ts';
import type { GitFolder, GitRepository } from '../git/git.ts';
import { asHumanError } from '../git/gitErrors.ts';
import { type PromptTemplate, readPromptTemplate } from '../iteration/prompt/promptTemplate.ts';
import { foldRun } from '../journal/foldRun.ts';
import { readDecisions } from '../journal/journal.ts';
import { INITIAL_RUN_STATE, type RunState } from '../journal/runState.ts';
import type { Snapshot } from '../places/snapshot.ts';
import { isPlannedFor } from '../planner/plannedTask.ts';
import { type Ground, gitGround } from '../preconditions/precondition.ts';
import { requirePreconditions } from '../preconditions/preconditions.ts';
import { canBeLimited } from '../preconditions/reviewer.ts';
import { promptTemplateOf } from '../preconditions/template.ts';
import { unread } from '../preconditions/unread.ts';
import { modeOf, progressFileOf, taskOf } from '../run/runWork.ts';
import { problemOfFile } from '../stories/storyFile.ts';
import { unknownWords, waitsForUnknown } from '../stories/unknownNeeds.ts';
import { newestRunId } from '../workspace/runIds.ts';
import { requireChosen } from './chosenStories.ts';
import { isAllDone } from './isAllDone.ts';
import { isIsolated } from './isolation.ts';
import type { RunOptions } from './runOptions.ts';

/** The prerequisites of a run. */
export interface Start {
  /** The person's own prompt, if there is one. */
  readonly template: PromptTemplate | undefined;
  /** Warnings for the run, as sentences. */
  readonly warnings: readonly Words[];
}

/**
 * Checks whether a run can start at all, before the journal exists. Changes nothing.
 * @param snapshot the files as they are
 * @param known.folder the answer of `git.folder()`, if it has been asked for
 * @param known.earlier the run to continue with
 * @throws {HumanError} naming what must be fixed
 */
export async function readyToStart(
  options: RunOptions,
  git: GitRepository,
  snapshot: Snapshot,
  {
    folder,
    earlier,
  }: {
    readonly folder?: Promise<GitFolder>;
    readonly earlier?: RunState | undefined;
  },
): Promise<Start> {
  const { files } = options;
  const only = earlier?.onlyStories ?? options.onlyStories;
  const warnings = await requirePreconditions(
    groundOf(options, snapshot, { folder, git, earlier }),
    // Who chooses stories knows that no agent works on the rest of the file.
    id => id !== unread.id || only === undefined,
  );
  const template = await readPromptTemplate(promptTemplateOf(files.workspace));
  requireSomethingToDo(options, snapshot);
  await requireCleanForPlan(options, snapshot);
  const unknown = options.prepare === undefined ? unknownNeeds(snapshot, only) : [];
  return { template, warnings: [...warnings, ...unknown] };
}

/** Stories that wait for one that the file does not have: a run of many hours would end without them. */
function unknownNeeds(
  { stories }: Snapshot,
  only: readonly string[] | undefined,
): readonly Message[] {
  const [first, ...others] =
    stories === undefined
      ? []
      : waitsForUnknown(stories.stories, stories.problems, only && new Set(only));
  if (stories === undefined || first === undefined) {
    return [];
  }
  const words = unknownWords(first, stories.path);
  return [
    others.length === 0
      ? words
      : say('{0} More of these: {1} ("ralph-fresh stories" lists them).', words, others.length),
  ];
}

function groundOf(
  options: RunOptions,
  { branch: current, head, stories }: Snapshot,
  known: {
    readonly git: GitRepository;
    readonly folder: Promise<GitFolder> | undefined;
    readonly earlier: RunState | undefined;
  },
): Ground {
  const { agent, askBranch, config, env, files, prepare, storyFile, unusedProgram } = options;
  const { branch, flakyChecks, isolate, lanes, reviewer, verify } = config;
  const isOpen =
    prepare !== undefined ||
    storyFile === undefined ||
    stories?.stories.some(({ done }) => !done) === true;
  return {
    files,
    env,
    // Where all is done, no agent is needed; what is wrong with the stories is said first.
    findAgent: isOpen ? () => findAgent(options) : undefined,
    agentProgram: agent.program,
    unusedProgram,
    settings: { agent: agent.id, branch, flakyChecks, isolate, lanes, reviewer, verify },
    stories,
    progressFile: progressFileOf(options),
    isPrepared: prepare !== undefined,
    canAsk: askBranch !== undefined,
    storyFile,
    canHaveLanes: modeOf(options) === 'stories',
    isIsolated: isIsolated(options, known.earlier),
    isContinued: known.earlier !== undefined,
    ...gitGround(known.git, {
      folder: known.folder,
      head: current === undefined ? undefined : { head, branch: current },
    }),
  };
}

async function findAgent({
  agent,
  env,
  fallbackAgent,
  files: { workspace: cwd },
}: RunOptions): Promise<string | undefined> {
  try {
    return await agent.find?.({ cwd, env });
  } catch (error) {
    if (fallbackAgent === undefined) {
      throw error;
    }
    return fallbackAgent.find?.({ cwd, env });
  }
}

/** @throws {HumanError} if there are neither stories nor a task */
function requireSomethingToDo(options: RunOptions, snapshot: Snapshot): void {
  const { agent, planDir, prepare, storyFile, task } = options;
  // The demo agent only plays back its plan.
  if (prepare?.kind === 'plan' && agent.id !== 'demo' && !canBeLimited(agent.id)) {
    throw new HumanError(
      say(
        'The planner uses read-only tools, and the agent {0} cannot be limited to them. Use --agent claude or sdk, or leave out --prd.',
        agent.id,
      ),
    );
  }
  if (prepare !== undefined) {
    if (prepare.kind === 'plan' && !task?.trim()) {
      throw new HumanError(
        say('There is no task to plan. Say what to build: ralph-fresh run --prd "your task".'),
      );
    }
    return;
  }
  if (planDir !== undefined) {
    const plan = path.join(planDir, 'plan.md');
    if (!existsSync(plan)) {
      throw new HumanError(
        say(
          'There is no {0}. Write the plan there, with what must be done and how it is checked.',
          plan,
        ),
      );
    }
    return;
  }
  if (storyFile === undefined) {
    if (!task?.trim()) {
      throw new HumanError(
        say('There is no prd.json and no task. Write stories to .omc/prd.json or name the task.'),
      );
    }
    return;
  }
  // If earlier stories are known, the guard handles a broken file: its agent died while writing it.
  if (snapshot.storyFileProblem !== undefined && snapshot.stories === undefined) {
    throw new HumanError(problemOfFile(storyFile, snapshot.storyFileProblem));
  }
  if (snapshot.stories?.stories.length === 0) {
    throw new HumanError(
      say(
        '{0} contains no stories yet. Add at least one (docs/story-files.md has an example).',
        storyFile,
      ),
    );
  }
  if (
    options.onlyStories !== undefined &&
    options.resume !== true &&
    snapshot.stories !== undefined
  ) {
    requireChosen(options.onlyStories, snapshot.stories);
  }
}

/** Checked before anybody pays for a plan, because its branch could not be checked out then. */
async function requireCleanForPlan(options: RunOptions, snapshot: Snapshot): Promise<void> {
  const { config, files, prepare, storyFile } = options;
  if (prepare?.kind !== 'plan' || config.branch === 'stay' || storyFile === undefined) {
    return;
  }
  if (await isPlannedFor(taskOf(options, snapshot), storyFile, snapshot.stories)) {
    return;
  }
  const changed = await changedFilesBut(files.workspace, writtenFilesOf(options)).catch(error => {
    throw asHumanError(error);
  });
  const [first] = changed;
  if (first !== undefined) {
    const more = changed.length - 1;
    const named = shorten(first, 200);
    throw new HumanError(
      say(
        'A plan names the branch to work on, but there are uncommitted changes in {0}. Commit or stash them, or work here with --branch stay.',
        more > 0 ? say('{0} and {1} more', named, more) : named,
      ),
    );
  }
}

/** The files that are written when the stories of a run are created. */
function writtenFilesOf(options: RunOptions): string[] {
  const { storyFile } = options;
  return storyFile === undefined ? [] : [storyFile, progressFileOf(options)];
}

/**
 * Whether a new run would end before its first iteration because all its stories are done. If the story file names
 * another branch, that branch's version of the file counts.
 * @throws {HumanError} if git cannot read the branch
 */
export async function isNothingToDo(options: RunOptions, { stories }: Snapshot): Promise<boolean> {
  const { config, files, onlyStories, prepare, resume } = options;
  // A continued run has a claim to check, or an end to record.
  if (resume || prepare !== undefined || modeOf(options) !== 'stories') {
    return false;
  }
  if (!isAllDone(stories, INITIAL_RUN_STATE, onlyStories)) {
    return false;
  }
  const newest = await newestRunId(files);
  const last = newest === undefined ? [] : await readDecisions(files.journalFile(newest));
  if (!isAllDone(stories, foldRun(last), onlyStories)) {
    return false;
  }
  const wanted = stories?.branchName ?? '';
  return (
    config.branch === 'stay' || wanted === '' || !(await isOnOtherBranch(files.workspace, wanted))
  );
}

/**
 * Checks out the branch named in the story file, if the configuration says so. If there are uncommitted changes and
 * somebody is there to answer, they are asked.
 * @returns the options to continue with, since the decision to stay applies to the whole run, and whether HEAD was moved
 * @throws {HumanError} if uncommitted changes prevent the checkout
 */
export async function goToBranch(
  options: RunOptions,
  snapshot: Snapshot,
): Promise<{ readonly options: RunOptions; readonly isMoved: boolean }> {
  const { askBranch, config, files, stop } = options;
  const wanted = snapshot.stories?.branchName ?? '';
  if (config.branch === 'stay' || wanted === '') {
    return { options, isMoved: false };
  }
  const { branch, kind } = await checkOutBranch(
    files.workspace,
    wanted,
    options.prepare === undefined ? [] : writtenFilesOf(options),
  );
  if (kind !== 'dirty') {
    return { options, isMoved: kind !== 'unchanged' };
  }
  const answer = await askBranch?.({ wanted, current: branch, signal: stop.requestedSignal });
  switch (answer) {
    case 'stay':
      return {
        options: {
          ...options,
          config: { ...config, branch: 'stay' },
          settings: { ...options.settings, branch: 'stay' },
        },
        isMoved: false,
      };
    case 'takeAlong':
      await checkOutBranch(files.workspace, wanted, 'all');
      return { options, isMoved: true };
    case 'cancel':
    case undefined:
      throw new HumanError(
        say(
          'The story file asks for the branch {0}, but there are uncommitted changes on {1}. Commit or stash them, or work here with --branch stay.',
          wanted,
          branch || say('a detached HEAD'),
        ),
      );
  }
}
