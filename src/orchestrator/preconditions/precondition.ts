import type { Settings } from '../settings/settingTable.ts';
import type { StoryList } from '../stories/story.ts';
import type { RunFiles } from '../workspace/runFiles.ts';

/** What a run would work on, and with what, as far as that is known before it starts. */
export interface Ground {
  readonly files: RunFiles;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly settings: Pick<Settings, 'agent' | 'branch' | 'reviewer'>;
  /** As last read; absent without a story file, or with one that cannot be read. */
  readonly stories?: StoryList;
  /** Absolute path of the progress log; absent where nobody knows the work yet. */
  readonly progressFile?: string;
  /** Whether the stories are still to be made, with their branch. */
  readonly isPrepared?: boolean;
  /** Whether somebody is there who can be asked about uncommitted changes. */
  readonly canAsk?: boolean;
  /** The answer of `git rev-parse --show-toplevel`, where that was asked for already. */
  readonly root?: Promise<string | undefined>;
}

/** Whether one thing is as a run needs it. */
export type Judgement =
  | { readonly level: 'holds'; readonly message: string }
  | {
      /** `refuses`: no run starts like this. `warns`: it starts, and says so. */
      readonly level: 'refuses' | 'warns';
      /** One sentence. */
      readonly message: string;
      /** What to do; absent where the message tells it. */
      readonly next?: string;
    };

/**
 * One thing that must hold before a run starts. `doctor`, `--dry-run` and `run` ask the same ones, so that they cannot
 * disagree. Changes nothing.
 */
export interface Precondition {
  /** Stable, as `doctor --only` and `--json` name it. */
  readonly id: string;
  /** Asked only in a repository that git can read. */
  readonly needsGit?: true;
  /** @throws {HumanError} with the sentence of a refusal */
  judge(ground: Ground): Promise<Judgement>;
}

/** What was found, with the next step. */
export function sentenceOf(judgement: Judgement): string {
  return 'next' in judgement && judgement.next !== undefined
    ? `${judgement.message} ${judgement.next}`
    : judgement.message;
}
