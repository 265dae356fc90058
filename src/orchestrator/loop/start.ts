import { existsSync } from 'node:fs';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import { shorten } from '../../base/text.ts';
import { UsageError } from '../../base/usageError.ts';
import { changedFilesBut, checkOutBranch, isOnOtherBranch } from '../git/branch.ts';
import { asHumanError, type GitRepository } from '../git/git.ts';
import { type PromptTemplate, readPromptTemplate } from '../iteration/prompt/promptTemplate.ts';
import { foldRun } from '../journal/foldRun.ts';
import { readDecisions } from '../journal/journal.ts';
import { INITIAL_RUN_STATE } from '../journal/runState.ts';
import { readSnapshot, type Snapshot } from '../places/snapshot.ts';
import { isPlannedFor } from '../planner/plannedTask.ts';
import type { Ground } from '../preconditions/precondition.ts';
import { requirePreconditions } from '../preconditions/preconditions.ts';
import { canBeLimited } from '../preconditions/reviewer.ts';
import { promptTemplateOf } from '../preconditions/template.ts';
import { modeOf, progressFileOf, taskOf } from '../run/runWork.ts';
import { doneIds, openDependencies } from '../stories/select.ts';
import type { Story, StoryList } from '../stories/story.ts';
import { newestRunId } from '../workspace/runFiles.ts';
import { isAllDone } from './isAllDone.ts';
import type { RunOptions } from './runOptions.ts';

/** What a run starts from. */
export interface Start {
  readonly snapshot: Snapshot;
  /** The person's own prompt, when there is one. */
  readonly template: PromptTemplate | undefined;
  /** What the run is to warn of, as sentences. */
  readonly warnings: readonly string[];
}

/**
 * Looks whether a run can start at all, before the journal exists. Changes nothing.
 * @param known.root the answer of `git.root()`, where it was asked for already
 * @param known.before the stories as they were before the iteration that was cut off, when there is one to go on with
 * @throws {HumanError} naming what must be mended
 */
export async function readyToStart(
  options: RunOptions,
  git: GitRepository,
  { root, before }: { root?: Promise<string | undefined>; before?: StoryList } = {},
): Promise<Start> {
  const { files } = options;
  const snapshot = await readSnapshot(options.storyFile, git, before && { stories: before });
  const warnings = await requirePreconditions(groundOf(options, snapshot, root));
  const template = await readPromptTemplate(promptTemplateOf(files.workspace));
  requireSomethingToDo(options, snapshot);
  await requireCleanForPlan(options, snapshot);
  return { snapshot, template, warnings };
}

function groundOf(
  options: RunOptions,
  { stories }: Snapshot,
  root: Promise<string | undefined> | undefined,
): Ground {
  const { agent, askBranch, config, env, files, prepare } = options;
  const { branch, reviewer } = config;
  return {
    files,
    env,
    settings: { agent: agent.id, branch, reviewer },
    ...(stories && { stories }),
    progressFile: progressFileOf(options),
    isPrepared: prepare !== undefined,
    canAsk: askBranch !== undefined,
    ...(root && { root }),
  };
}

/** @throws {HumanError} when there are no stories and no task */
function requireSomethingToDo(options: RunOptions, snapshot: Snapshot): void {
  const { agent, planDir, prepare, storyFile, task } = options;
  if (prepare?.kind === 'plan' && !canBeLimited(agent.id)) {
    throw new HumanError(
      say(
        'The planner works with reading tools only, and the agent {0} cannot be limited to them. Use --agent claude or sdk, or leave --prd out.',
        agent.id,
      ),
    );
  }
  if (prepare !== undefined) {
    if (prepare.kind === 'plan' && !task?.trim()) {
      throw new HumanError(
        say(
          'There is no task to plan. Say what is to be built: ralph-fresh run --prd "your task".',
        ),
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
  // With earlier stories at hand a broken file is a matter of the guard: its agent died while it wrote it.
  if (snapshot.storyFileProblem !== undefined && snapshot.stories === undefined) {
    // Of a file that is not there the problem names the place itself.
    throw new HumanError(
      existsSync(storyFile)
        ? say('{0}: {1}', storyFile, snapshot.storyFileProblem)
        : snapshot.storyFileProblem,
    );
  }
  if (snapshot.stories?.stories.length === 0) {
    throw new HumanError(
      say(
        '{0} holds no stories yet. Add at least one (docs/story-files.md has an example).',
        storyFile,
      ),
    );
  }
  if (options.onlyStories !== undefined && options.resume !== true) {
    requireChosen(options.onlyStories, snapshot.stories?.stories ?? []);
  }
}

/**
 * @throws {UsageError} when a chosen story is not in the file
 * @throws {HumanError} when one waits for another that is not chosen
 */
function requireChosen(chosen: readonly string[], stories: readonly Story[]): void {
  const ids = new Set(stories.map(({ id }) => id));
  const unknown = chosen.filter(id => !ids.has(id));
  if (unknown.length > 0) {
    throw new UsageError(
      say(
        'There is no story {0} in the story file. "ralph-fresh stories" lists them.',
        shorten(unknown.join(', '), 200),
      ),
    );
  }
  // A chosen one that is open is done before those that wait for it.
  const counted = new Set([...doneIds(stories), ...chosen]);
  for (const story of stories.filter(({ id, done }) => !done && chosen.includes(id))) {
    const missing = openDependencies(story, counted);
    if (missing.length > 0) {
      throw new HumanError(
        say(
          '{0} waits for {1}. Run that first, or name it too: {2}.',
          shorten(story.id, 80),
          shorten(missing.join(', '), 200),
          shorten(missing.map(id => `--story ${id}`).join(' '), 200),
        ),
      );
    }
  }
}

/** Before anybody pays for a plan, whose branch could not be checked out then. */
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

/** What is written when the stories of a run are made. */
function writtenFilesOf(options: RunOptions): string[] {
  const { storyFile } = options;
  return storyFile === undefined ? [] : [storyFile, progressFileOf(options)];
}

/**
 * Whether a new run would end before its first iteration, all its stories being done. Where the story file names another
 * branch, that branch's file has the word.
 * @throws {HumanError} when git cannot tell of the branch
 */
export async function isNothingToDo(options: RunOptions, { stories }: Snapshot): Promise<boolean> {
  const { config, files, onlyStories, prepare, resume } = options;
  // A run that goes on has a claim to check, or an end to record.
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
 * Checks out the branch that the story file names, when the configuration says so. Uncommitted changes are asked
 * about where somebody is there to answer.
 * @returns the options to go on with: a person who chose to stay has chosen so for the whole run
 * @throws {HumanError} when uncommitted changes are in the way
 */
export async function goToBranch(options: RunOptions, snapshot: Snapshot): Promise<RunOptions> {
  const { askBranch, config, files, stop } = options;
  const wanted = snapshot.stories?.branchName ?? '';
  if (config.branch === 'stay' || wanted === '') {
    return options;
  }
  const { branch, kind } = await checkOutBranch(
    files.workspace,
    wanted,
    options.prepare === undefined ? [] : writtenFilesOf(options),
  );
  if (kind !== 'dirty') {
    return options;
  }
  const answer = await askBranch?.({ wanted, current: branch, signal: stop.requestedSignal });
  switch (answer) {
    case 'stay':
      return {
        ...options,
        config: { ...config, branch: 'stay' },
        settings: { ...options.settings, branch: 'stay' },
      };
    case 'takeAlong':
      await checkOutBranch(files.workspace, wanted, 'all');
      return options;
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
