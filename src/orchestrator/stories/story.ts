/**
 * The story model: what every task source is read into, whatever its format and dialect. `docs/story-files.md`
 * describes them.
 */

/**
 * Kinds of story files: `prd` is JSON in any dialect, `plan` a Markdown file with checkboxes, `specsIndex` one that
 * lists specifications, `beads` the JSON lines of the issue tracker Beads, `orchestration` YAML with phases and tasks.
 */
export type StoryFormatName = 'prd' | 'plan' | 'specsIndex' | 'beads' | 'orchestration';

/** One acceptance criterion; `done` only where the file tells it apart from the story's own state. */
export interface Criterion {
  readonly text: string;
  readonly done?: boolean;
}

/** One story as its file tells it. Runtime facts (running, failed, …) are in the run's state, not here. */
export interface Story {
  /** As text; `#n` (1-based) for the n-th entry when the file gives none. */
  readonly id: string;
  /** One line; falls back to the first line of the description, then to the id. */
  readonly title: string;
  readonly description: string;
  readonly criteria: readonly Criterion[];
  readonly done: boolean;
  /** The file's own status word, when it has one (`in_progress`, `blocked`, …). */
  readonly status?: string;
  /** Lower runs first; `undefined` runs after all numbered ones, in file order. */
  readonly priority?: number;
  /** Ids of stories that must be done before this one may run. */
  readonly dependsOn: readonly string[];
  /** Group the file puts the story in (epic, phase, category), when it has one. */
  readonly epic?: string;
  /** The file has put it aside, as deleted, deferred or no work at all: it counts, but is never next. */
  readonly parked?: true;
  /** 0-based position in the file. */
  readonly position: number;
  /** 1-based line of the story's first character in the file. */
  readonly line: number;
}

/** Something wrong with a story file, told with its place and the way to mend it. */
export interface StoryProblem {
  /** Stable code, for quick fixes and translations. */
  readonly code:
    | 'invalidJson'
    | 'invalidYaml'
    | 'noStories'
    | 'unreadable'
    | 'duplicateId'
    | 'unknownDependency'
    | 'circularDependency'
    /** A code fence or comment that hides the checkboxes after it, because nothing ends it. */
    | 'unclosedBlock';
  /** English sentence that names the mend. */
  readonly message: string;
  /** 1-based; 1 when the problem has no narrower place. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** What it is about, for those who mend it. */
  readonly subject?: ProblemSubject;
}

/** The story that a problem belongs to. */
export interface ProblemSubject {
  /** 0-based in the list. */
  readonly position: number;
  /**
   * Of an unknown dependency the ids that nobody has; of a circle its ids, each waiting for the next one, beginning
   * with the story's own.
   */
  readonly ids: readonly string[];
}

/** What a file says about itself, besides its stories; empty where it says nothing. */
export interface StoryFileHeading {
  readonly project: string;
  readonly branchName: string;
  readonly description: string;
}

/** A story file that could be read, perhaps with problems that do not hide its stories. */
export interface StoryList extends StoryFileHeading {
  readonly kind: 'stories';
  readonly format: StoryFormatName;
  readonly path: string;
  readonly stories: readonly Story[];
  readonly problems: readonly StoryProblem[];
  /** SHA-256 of the bytes that were read, hex. */
  readonly hash: string;
}

/** A story file that exists but cannot be used; never shown as an empty list. */
export interface InvalidStoryFile {
  readonly kind: 'invalid';
  readonly format: StoryFormatName;
  readonly path: string;
  readonly problems: readonly [StoryProblem, ...StoryProblem[]];
  readonly hash: string;
}

export type StoryFile = StoryList | InvalidStoryFile;
