import { lstatSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import path from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { HumanError } from '../../base/humanError.ts';
import { say } from '../../base/say.ts';
import type { CallAgent } from '../agents/call/callAgent.ts';
import type { JournalWriter } from '../journal/journal.ts';
import { requirePlainState } from '../workspace/plainState.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { askPlanner, MAX_ATTEMPTS } from './askPlanner.ts';
import { placeStories, relative, requireWritablePlace } from './placeStories.ts';
import { checkPlan, planJsonSchema } from './planDraft.ts';
import { plannerPrompt } from './plannerPrompt.ts';

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
  const { task, files, storyFile } = options;
  await requireWritablePlace(files, storyFile);
  const draft = await Draft.clear(files, options.draftDir ?? path.join(files.stateDir, 'plan'));
  const answer = await askPlanner(options, {
    prompt: problems =>
      plannerPrompt({
        task,
        storyFile: relative(files, storyFile),
        ...(problems.length === 0 ? {} : { refused: { problems, ...draft.place } }),
      }),
    jsonSchema: planJsonSchema(),
    isMended: true,
    async check(found) {
      await draft.write(found);
      const plan = checkPlan(found, task);
      return plan.problems === undefined ? { value: plan } : plan;
    },
  });
  switch (answer.kind) {
    case 'answered': {
      await draft.remove();
      const { value, kind: _, ...facts } = answer;
      return { kind: 'drafted', text: value.text, stories: value.stories, ...facts };
    }
    case 'refused':
      return { kind: 'failed', message: refusedMessage(answer.problems, draft.place.draftFile) };
    default:
      return answer;
  }
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
