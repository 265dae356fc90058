import { lstatSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import path from 'node:path';
import { HumanError } from '../../base/humanError.ts';
import { writePlainFile } from '../../base/plainFile.ts';
import { type Message, say, sentences } from '../../base/say.ts';
import type { CallAgent } from '../agents/call/callAgent.ts';
import type { JournalWriter } from '../journal/journal.ts';
import { requirePlainState } from '../workspace/plainState.ts';
import type { RunFiles } from '../workspace/runFiles.ts';
import { askPlanner, MAX_ATTEMPTS } from './askPlanner.ts';
import { placeStories, relative, requireWritablePlace } from './placeStories.ts';
import { checkPlan, planJsonSchema } from './planDraft.ts';
import { plannerPrompt } from './plannerPrompt.ts';

export interface PlanOptions {
  /** The person's task. */
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
      /** Where the previous files are archived, relative to the workspace. */
      readonly archived?: string;
    }
  | { readonly kind: 'cancelled' }
  /** `message` is a sentence for the person. */
  | { readonly kind: 'failed'; readonly message: Message };

/** A plan before it is written. */
export interface StoryDraft {
  /** The whole text of the resulting story file. */
  readonly text: string;
  readonly stories: number;
  readonly attempts: number;
  /** In US dollars, for all attempts. */
  readonly costUsd?: number;
}

export type DraftResult =
  | ({ readonly kind: 'drafted' } & StoryDraft)
  | Exclude<PlanResult, { readonly kind: 'planned' }>;

/** Options for a draft; the story file is only read. */
export interface DraftOptions extends Omit<PlanOptions, 'now'> {
  /** Absolute path of a folder for rejected drafts; default: in the state folder. */
  readonly draftDir?: string;
}

/**
 * Lets a fresh agent plan the task as stories, and writes them to the story file with a new `progress.txt`. Nothing
 * is changed until a plan is valid; replaced files are kept below `.omc/archive`.
 *
 * @throws {HumanError} if the story file cannot be written
 */
export async function planStories(options: PlanOptions): Promise<PlanResult> {
  const { files, storyFile, journal, now } = options;
  const draft = await draftStories(options);
  if (draft.kind !== 'drafted') {
    return draft;
  }
  const { attempts, costUsd, stories, text } = draft;
  const { archived } = await placeStories({ files, storyFile, content: text, now });
  const facts = { stories, attempts, archived };
  journal.append({
    type: 'plan.written',
    storyFile: relative(files, storyFile),
    ...facts,
    costUsd,
  });
  return { kind: 'planned', ...facts };
}

/**
 * Creates a valid draft without writing it. An invalid one is returned to the agent with its problems, twice.
 *
 * @throws {HumanError} if the story file could not be written
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
        refused: problems.length === 0 ? undefined : { problems, ...draft.place },
      }),
    jsonSchema: planJsonSchema(),
    isFixed: true,
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

function refusedMessage(problems: readonly Message[], draftFile: string | undefined): Message {
  const first = sentences(problems.slice(0, 3));
  return draftFile === undefined
    ? say(
        'The planning agent gave no valid plan in {0} tries: {1} Describe the task more clearly, or write the stories yourself.',
        MAX_ATTEMPTS,
        first,
      )
    : say(
        'The planning agent gave no valid plan in {0} tries: {1} The last draft is in {2}. Describe the task more clearly, or write the stories yourself.',
        MAX_ATTEMPTS,
        first,
        draftFile,
      );
}

/** A planning agent's last answer: for the agent that fixes it, and for the person if no agent could. */
class Draft {
  private readonly file: string;
  private readonly files: RunFiles;
  private isWritten = false;

  private constructor(files: RunFiles, dir: string) {
    this.files = files;
    this.file = path.join(dir, 'prd.json');
  }

  /** Makes sure that a draft of an earlier plan is not mistaken for one of this plan. */
  static async clear(files: RunFiles, dir: string): Promise<Draft> {
    requirePlainState(files);
    const draft = new Draft(files, dir);
    if (lstatSync(dir, { throwIfNoEntry: false })?.isSymbolicLink()) {
      throw new HumanError(
        say(
          '{0} is a link, and drafts of plans would be written elsewhere. Remove it, and find out where it came from.',
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
    await writePlainFile(this.file, `${JSON.stringify(value, null, 2)}\n`);
    this.isWritten = true;
  }

  async remove(): Promise<void> {
    await rm(this.file, { force: true });
    this.isWritten = false;
  }
}
