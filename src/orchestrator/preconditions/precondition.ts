import { once } from '../../base/once.ts';
import { sentences, type Words } from '../../base/say.ts';
import type { GitFolder, GitRepository, Head } from '../git/git.ts';
import type { UnusedProgram } from '../settings/settings.ts';
import type { Settings } from '../settings/settingTable.ts';
import type { StoryList } from '../stories/story.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** The work and options of a run, as far as they are known before it starts. */
export interface Ground {
  readonly files: RunFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: Pick<
    Settings,
    'agent' | 'branch' | 'flakyChecks' | 'isolate' | 'lanes' | 'reviewer' | 'verify'
  >;
  /**
   * Finds the program of the agent, or of the one that may replace it; absent if none is needed.
   * @returns its path, if it has one of its own
   * @throws {HumanError} if none can be started
   */
  readonly findAgent?: () => Promise<string | undefined>;
  /** The agent's program as the settings name it, if it may be one of the workspace's own files. */
  readonly agentProgram?: string;
  /** A program that the settings name, but do not choose. */
  readonly unusedProgram?: UnusedProgram;
  /** As last read; absent without a readable story file. */
  readonly stories?: StoryList;
  /** Absolute path of the story file, if there is one. */
  readonly storyFile?: string;
  /** Whether the run has stories, of which several can be worked on at once. */
  readonly canHaveLanes?: boolean;
  /** Whether agents work in places of their own. */
  readonly isIsolated?: boolean;
  /** Whether it is the continuation of an earlier run. */
  readonly isContinued?: boolean;
  /** Absolute path of the progress log; absent if the work is not known yet. */
  readonly progressFile?: string;
  /** Whether the stories, with their branch, have yet to be created. */
  readonly isPrepared?: boolean;
  /** Whether somebody can be asked about uncommitted changes. */
  readonly canAsk?: boolean;
  /** What the workspace is to git, asked once for all preconditions. */
  readonly folder: () => Promise<GitFolder>;
  /** HEAD, asked once for all preconditions. */
  readonly head: () => Promise<Head>;
}

/** Whether a precondition is met. */
export type Judgement =
  | { readonly level: 'holds'; readonly message: Words }
  | {
      /** `refuses`: prevents the run. `warns`: the run starts with a warning. */
      readonly level: 'refuses' | 'warns';
      /** One sentence. */
      readonly message: Words;
      /** What to do; absent if the message says it. */
      readonly next?: Words;
    };

/**
 * A condition that must be met before a run starts. `doctor`, `--dry-run` and `run` use the same ones, so that they
 * always agree. Changes nothing.
 */
export interface Precondition {
  /** Stable, for `doctor --only` and `--json`. */
  readonly id: string;
  /** Its result is left out if git cannot read a repository, because `judge` may fail there. */
  readonly needsGit?: true;
  /**
   * @returns `undefined` if it does not concern such a run; several if there are several things to say
   * @throws {HumanError} if it prevents the run
   */
  judge(ground: Ground): Promise<Judgement | readonly Judgement[] | undefined>;
}

/**
 * What all preconditions ask git about.
 * @param known answers that are there already
 */
export function gitGround(
  git: GitRepository,
  known: { readonly folder?: Promise<GitFolder>; readonly head?: Head } = {},
): Pick<Ground, 'folder' | 'head'> {
  const { folder, head } = known;
  return {
    folder: once(() => folder ?? git.folder()),
    head: once(async () => head ?? git.headAndBranch()),
  };
}

/** The finding, with the next step. */
export function sentenceOf(judgement: Judgement): Words {
  return 'next' in judgement && judgement.next !== undefined
    ? sentences([judgement.message, judgement.next])
    : judgement.message;
}
