import type { Words } from '../../base/say.ts';

/** A story that is done and proven, and the commits that did it, oldest first. */
export interface DoneStory {
  readonly id: string;
  readonly commits: readonly string[];
  /** This run has worked on it, or somebody has ticked it meanwhile. */
  readonly isOfRun: boolean;
}

/** What is certain about the stories between two iterations. */
export interface SettledStories {
  readonly done: readonly DoneStory[];
  /** Ids of the others that an agent has worked on in this run: they are not done. */
  readonly open: readonly string[];
  /** The branch with the commits; absent on a detached HEAD. */
  readonly branch?: string;
}

/** Something that a person should know; the run continues. */
export interface TrackerNote {
  /** One of the codes of `warning` in docs/journal.md. */
  readonly code: string;
  readonly detail: Words;
}

/** Where the stories of a file really are, if the file is only a copy. */
export interface Tracker {
  /**
   * Brings the file up to date and says there what is done here. What fails is tried again the next time.
   * @param settled absent: nothing is certain, so nothing is said
   * @param signal ends it early; what is not said then is said the next time
   * @returns problems, each one once
   */
  sync(settled: SettledStories | undefined, signal?: AbortSignal): Promise<readonly TrackerNote[]>;
}
