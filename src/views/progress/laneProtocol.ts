import type { Glyph, ShownStory } from './protocolParts.ts';

/** Several agents at once: who works on what, what waits to land, what has landed, and what came back. */
export interface ShownLanes {
  /** How many may work at once; absent if the run is over. */
  readonly count?: {
    readonly words: string;
    readonly isLeast: boolean;
    readonly isMost: boolean;
  };
  /** Why fewer agents work than they could, for all of them. */
  readonly account: readonly ShownAccountNote[];
  /** In the order of their numbers. */
  readonly lanes: readonly ShownLane[];
  /** When their work was checked and landed; absent before the first time. */
  readonly landings?: readonly ShownBar[];
  /** The times that the bars show; absent before the first agent. */
  readonly axis?: {
    /** ISO times. */
    readonly from: string;
    readonly to: string;
    /** The whole chart in one sentence. */
    readonly words: string;
    /** The looks that occur. */
    readonly key: readonly ShownBarKey[];
  };
  /** The same as the bars, as rows of a table; the newest first. */
  readonly table: readonly ShownLaneWork[];
  /** Says how many more rows there are. */
  readonly moreRows?: string;
  readonly queue: readonly ShownQueued[];
  /** Says how many more wait. */
  readonly moreQueued?: string;
  /** Stories whose work did not land and that are not done since, the newest first. */
  readonly returned: readonly ShownReturned[];
  readonly landed?: {
    readonly words: string;
    /** The newest first. */
    readonly last: readonly { readonly story: ShownStory; readonly at: string }[];
  };
}

export interface ShownAccountNote {
  readonly words: string;
  /** ISO time at which a usage limit ends. */
  readonly until?: string;
}

export interface ShownLane {
  readonly lane: number;
  readonly name: string;
  /** What it does now; absent if the run is over. */
  readonly now?: {
    readonly glyph: Glyph;
    readonly story?: ShownStory;
    readonly words: string;
    /** ISO time. */
    readonly since?: string;
  };
  /** Pauses it, or lets it continue; absent if it can do neither. */
  readonly toggle?: { readonly paused: boolean; readonly label: string };
  readonly bars: readonly ShownBar[];
}

/** How bars look: by a pattern and a sign, not only by their color. */
export type BarLook =
  | 'working'
  | 'queued'
  | 'landed'
  | 'returned'
  | 'open'
  | 'limit'
  | 'checks'
  | 'several';

export interface ShownBarKey {
  readonly look: BarLook;
  readonly words: string;
}

/** Something that took time; all positions and lengths are percentages of the axis. */
export interface ShownBar {
  /** Distinguishes it from the others of its row: later ones have higher numbers. Of several as one, that of the first. */
  readonly id: number;
  readonly look: BarLook;
  readonly at: number;
  readonly length: number;
  /** Parts of it in which the agent waited for a usage limit. */
  readonly limits?: readonly { readonly at: number; readonly length: number }[];
  /** For how long its work waited after that. */
  readonly wait?: number;
  /** Written on it if there is room. */
  readonly label: string;
  /** Everything about it. */
  readonly words: string;
}

export interface ShownLaneWork {
  readonly iteration: number;
  readonly lane: string;
  readonly story: string;
  /** ISO time. */
  readonly since: string;
  readonly worked: string;
  readonly waited: string;
  readonly result: string;
}

export interface ShownQueued {
  readonly iteration: number;
  readonly glyph: Glyph;
  readonly story?: ShownStory;
  readonly words: string;
  /** ISO time; absent if the run is over. */
  readonly since?: string;
}

export interface ShownReturned {
  readonly iteration: number;
  readonly story?: ShownStory;
  readonly reason: string;
  /** What happens with the story now. */
  readonly next?: string;
  /** The changes that did not land can be opened. */
  readonly hasChanges: boolean;
}
