import { lstatSync } from 'node:fs';
import { mkdir, readFile, rm } from 'node:fs/promises';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { answerJson } from '../calls/agentAnswer.ts';
import type { CallAgent } from '../calls/callAgent.ts';
import { HumanError } from '../humanError.ts';
import { amount } from '../numbers.ts';
import type { JournalWriter } from '../run/journal.ts';
import { requirePlainState } from '../run/plainFile.ts';
import type { RunFiles } from '../run/runFiles.ts';
import { say } from '../say.ts';
import type { StoryList } from '../stories/story.ts';
import { readStoryFile } from '../stories/storyFile.ts';
import { shorten } from '../text.ts';
import { placeStories, relative, requireWritablePlace } from './placeStories.ts';
import { checkPlan, planJsonSchema } from './planDraft.ts';
import { plannerPrompt } from './plannerPrompt.ts';

/** The first draft and two repairs. */
const MAX_ATTEMPTS = 3;
/** A planning agent reads. The loop alone writes the story file, once the plan is valid. */
const READING_TOOLS: readonly string[] = ['Read', 'Glob', 'Grep'];
/** Longest title of a task's story, in UTF-16 units. */
const MAX_TITLE = 200;

export interface PlanOptions {
  /** What the person asked for. */
  readonly task: string;
  readonly files: RunFiles;
  /** Absolute path of the JSON file to write, usually `.omc/prd.json`. */
  readonly storyFile: string;
  readonly call: CallAgent;
  readonly journal: Pick<JournalWriter, 'append'>;
  readonly now: Date;
}

export type PlanResult =
  | {
      readonly kind: 'planned';
      readonly stories: number;
      readonly attempts: number;
      /** Where the files that were there before are kept, relative to the workspace. */
      readonly archived?: string;
    }
  | { readonly kind: 'cancelled' }
  /** `message` is a sentence for the person. */
  | { readonly kind: 'failed'; readonly message: string };

/** A plan before it is written. */
export interface StoryDraft {
  /** The whole text of the story file it would be. */
  readonly text: string;
  readonly stories: number;
  readonly attempts: number;
  /** In US dollars, of all tries. */
  readonly costUsd?: number;
}

export type DraftResult =
  | ({ readonly kind: 'drafted' } & StoryDraft)
  | Exclude<PlanResult, { readonly kind: 'planned' }>;

/** What a draft is made with; the story file is only looked at. */
export interface DraftOptions extends Omit<PlanOptions, 'now'> {
  /** Absolute path of a folder for drafts that were refused; the state's own by default. */
  readonly draftDir?: string;
}

/**
 * Lets a fresh agent plan the task as stories, and puts them into the story file with a new `progress.txt`. Until a
 * plan is valid nothing is touched; what it replaces is kept below `.omc/archive`.
 *
 * @throws {HumanError} when the story file cannot be written there
 */
export async function planStories(options: PlanOptions): Promise<PlanResult> {
  const { files, storyFile, journal, now } = options;
  const draft = await draftStories(options);
  if (draft.kind !== 'drafted') {
    return draft;
  }
  const { attempts, costUsd, stories, text } = draft;
  const { archived } = await placeStories({ files, storyFile, content: text, now });
  const facts = { stories, attempts, ...(archived === undefined ? {} : { archived }) };
  journal.append({
    type: 'plan.written',
    storyFile: relative(files, storyFile),
    ...facts,
    ...(costUsd === undefined ? {} : { costUsd }),
  });
  return { kind: 'planned', ...facts };
}

/**
 * The same without writing it: a draft that is valid. One that is not goes back with its problems, twice.
 *
 * @throws {HumanError} when the story file could not be written there
 */
export async function draftStories(options: DraftOptions): Promise<DraftResult> {
  const { task, files, storyFile, call, journal } = options;
  await requireWritablePlace(files, storyFile);
  const draft = await Draft.clear(files, options.draftDir ?? path.join(files.stateDir, 'plan'));
  let problems: readonly string[] = [];
  let costUsd: number | undefined;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt += 1) {
    const answer = await call({
      name: `plan-${attempt}`,
      prompt: plannerPrompt({
        task,
        storyFile: relative(files, storyFile),
        ...(attempt === 1 ? {} : { refused: { problems, ...draft.place } }),
      }),
      tools: READING_TOOLS,
      allowedTools: READING_TOOLS,
      jsonSchema: planJsonSchema(),
    });
    costUsd = sum(costUsd, answer.costUsd);
    if (answer.cancelled) {
      return { kind: 'cancelled' };
    }
    if (answer.error) {
      return {
        kind: 'failed',
        message: say('The planning agent failed: {0}', answer.error.message),
      };
    }
    const found = answerJson(answer);
    if (found.problem === undefined) {
      await draft.write(found.value);
    }
    const plan =
      found.problem === undefined ? checkPlan(found.value, task) : { problems: [found.problem] };
    if (plan.problems === undefined) {
      await draft.remove();
      return {
        kind: 'drafted',
        text: plan.text,
        stories: plan.stories,
        attempts: attempt,
        ...(costUsd === undefined ? {} : { costUsd }),
      };
    }
    journal.append({ type: 'plan.refused', attempt, problems: [...plan.problems] });
    // Without a draft of its own, the one before it is still the one to mend.
    problems = found.problem === undefined ? plan.problems : [...plan.problems, ...problems];
  }
  return { kind: 'failed', message: refusedMessage(problems, draft.place.draftFile) };
}

function refusedMessage(problems: readonly string[], draftFile: string | undefined): string {
  const first = problems.slice(0, 3).join(' ');
  return draftFile === undefined
    ? say(
        'The planning agent gave no valid plan in {0} tries: {1} Say the task more clearly, or write the stories yourself.',
        MAX_ATTEMPTS,
        first,
      )
    : say(
        'The planning agent gave no valid plan in {0} tries: {1} The last draft is in {2}. Say the task more clearly, or write the stories yourself.',
        MAX_ATTEMPTS,
        first,
        draftFile,
      );
}

/** What a planning agent answered last: for the agent that mends it, and for the person when none could. */
class Draft {
  private readonly file: string;
  private readonly files: RunFiles;
  private isWritten = false;

  private constructor(files: RunFiles, dir: string) {
    this.files = files;
    this.file = path.join(dir, 'prd.json');
  }

  /** Makes sure that no draft of an earlier plan is taken for this one's. */
  static async clear(files: RunFiles, dir: string): Promise<Draft> {
    requirePlainState(files);
    const draft = new Draft(files, dir);
    if (lstatSync(dir, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new HumanError(
        say(
          '{0} is a link, and drafts of plans would land elsewhere. Remove it, and look where it came from.',
          dir,
        ),
      );
    }
    await draft.remove();
    return draft;
  }

  get place(): { draftFile?: string } {
    return this.isWritten ? { draftFile: relative(this.files, this.file) } : {};
  }

  async write(value: unknown): Promise<void> {
    await mkdir(path.dirname(this.file), { recursive: true });
    await writeFileAtomic(this.file, `${JSON.stringify(value, null, 2)}\n`);
    this.isWritten = true;
  }

  async remove(): Promise<void> {
    await rm(this.file, { force: true });
    this.isWritten = false;
  }
}

function sum(total: number | undefined, costUsd: number | undefined): number | undefined {
  return costUsd === undefined ? total : (total ?? 0) + amount(costUsd);
}

/** The task that a story file was planned for, word for word; `undefined` when it was not planned by us. Pure. */
export function plannedTaskOf(text: string): string | undefined {
  let root: unknown;
  try {
    root = JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch {
    // No plan of ours is broken JSON; whoever reads the stories tells what is wrong.
    return undefined;
  }
  return typeof root === 'object' &&
    root !== null &&
    'originalTask' in root &&
    typeof root.originalTask === 'string'
    ? root.originalTask
    : undefined;
}

/**
 * Whether a story file holds the plan of this very task, with stories that are still to be done.
 * @param stories what was read from it, when it could be read
 */
export async function isPlannedFor(
  task: string,
  storyFile: string,
  stories: Pick<StoryList, 'stories'> | undefined,
): Promise<boolean> {
  if (stories === undefined || stories.stories.every(({ done }) => done)) {
    return false;
  }
  return plannedTaskOf(await readFile(storyFile, 'utf8')) === task;
}

export interface TaskStoriesOptions {
  /** One story each; the first line is its title. */
  readonly tasks: readonly string[];
  /** What they are for, when the person said so. */
  readonly task?: string;
  readonly files: RunFiles;
  /** Absolute path of the JSON file to write, usually `.omc/prd.json`. */
  readonly storyFile: string;
  readonly now: Date;
}

/**
 * Writes a story file with one story for each task. A file that already holds exactly these titles in this order is
 * left as it is, so that the same command goes on with them; any other is kept below `.omc/archive`.
 *
 * @returns how many stories there are, whether they were there already, and the archive's folder
 * @throws {HumanError} for tasks that are empty or the same, or when the file cannot be written
 */
export async function writeTaskStories(
  options: TaskStoriesOptions,
): Promise<{ stories: number; archived?: string; reused: boolean }> {
  const { tasks, task, files, storyFile, now } = options;
  const titles = titlesOf(tasks);
  const stories = titles.length;
  await requireWritablePlace(files, storyFile);
  if (await holdsTitles(storyFile, titles)) {
    return { stories, reused: true };
  }
  const prd = {
    project: path.basename(files.workspace),
    ...(task === undefined ? {} : { description: task }),
    userStories: tasks.map((text, index) => taskStory(text.trim(), titles[index] ?? '', index)),
  };
  const content = `${JSON.stringify(prd, null, 2)}\n`;
  const placed = await placeStories({ files, storyFile, content, now });
  return { stories, ...placed, reused: false };
}

function taskStory(text: string, title: string, index: number): object {
  return {
    id: `US-${String(index + 1).padStart(3, '0')}`,
    title,
    ...(text === title ? {} : { description: text }),
    acceptanceCriteria: [
      `Everything that this task asks for is done: ${title}`,
      "What was done is covered by tests where the project has tests, and all of the project's tests pass",
    ],
    priority: index + 1,
    passes: false,
  };
}

/**
 * The titles of the stories that stand for tasks.
 * @throws {HumanError} for tasks that are empty or the same
 */
export function titlesOf(tasks: readonly string[]): string[] {
  if (tasks.length === 0) {
    throw new HumanError(
      say('There are no tasks: name at least one, as in --tasks "first|second".'),
    );
  }
  const numbers = new Map<string, number>();
  return tasks.map((task, index) => {
    const number = index + 1;
    const title = shorten(task.trim().split(/[\r\n]/, 1)[0] ?? '', MAX_TITLE);
    if (title === '') {
      throw new HumanError(
        say('Task {0} of {1} is empty: give it words, or leave it out.', number, tasks.length),
      );
    }
    const same = numbers.get(title);
    if (same !== undefined) {
      throw new HumanError(
        say(
          'Tasks {0} and {1} are both called "{2}": leave one out, or tell them apart.',
          same,
          number,
          shorten(title, 80),
        ),
      );
    }
    numbers.set(title, number);
    return title;
  });
}

/** Whether a story file holds exactly these titles in this order. */
export async function holdsTitles(storyFile: string, titles: readonly string[]): Promise<boolean> {
  let file: Awaited<ReturnType<typeof readStoryFile>>;
  try {
    file = await readStoryFile(storyFile);
  } catch (error) {
    if (error instanceof HumanError) {
      // There is none yet.
      return false;
    }
    throw error;
  }
  return (
    file.kind === 'stories' &&
    file.stories.length === titles.length &&
    file.stories.every(({ title }, index) => title === titles[index])
  );
}
