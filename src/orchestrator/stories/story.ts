import type { Message } from '../../base/say.ts';
/**
 * The story model for all task sources, whatever their format and dialect. `docs/story-files.md` describes them.
 */

/**
 * Kinds of story files: `prd` is JSON in any dialect, `plan` a Markdown file with checkboxes, `specsIndex` one that
 * lists specifications, `beads` the JSON lines of the issue tracker Beads, `orchestration` YAML with phases and tasks,
 * `taskMaster` the tasks and subtasks of Task Master, `ralphOrchestrator` the JSON lines of ralph-orchestrator,
 * `backlog` a folder of Backlog.md,
 * `bmad` the sprint status of BMAD, `tasks` the JSON lines of our own task graph.
 */
export type StoryFormatName =
  | 'prd'
  | 'plan'
  | 'specsIndex'
  | 'beads'
  | 'orchestration'
  | 'taskMaster'
  | 'ralphOrchestrator'
  | 'backlog'
  | 'bmad'
  | 'tasks';

/** One acceptance criterion; `done` only if the file stores it separately from the story's own status. */
export interface Criterion {
  readonly text: string;
  readonly done?: boolean;
}

/** What a story chooses for the call of its agent; what it leaves open, the settings of the run decide. */
export interface CallChoice {
  readonly model?: string;
  readonly effort?: string;
  readonly maxTurns?: number;
}

/** One story of a file. Runtime information (running, failed, …) is in the run's state, not here. */
export interface Story extends CallChoice {
  /** As text; `#n` (1-based) for the n-th entry if it has none. */
  readonly id: string;
  /** One line; falls back to the first line of the description, then to the id. */
  readonly title: string;
  readonly description: string;
  /** What was written down about the work, apart from what it is: agents may change it. */
  readonly notes?: string;
  readonly criteria: readonly Criterion[];
  readonly done: boolean;
  /** The file's own status word, if it has one (`in_progress`, `blocked`, …). */
  readonly status?: string;
  /** Lower runs first; `undefined` runs after all numbered ones, in file order. */
  readonly priority?: number;
  /** Ids of stories that must be done before this one may run. */
  readonly dependsOn: readonly string[];
  /** How the file writes those of them that no story has, by id; absent for one that is written as its id. */
  readonly asWritten?: ReadonlyMap<string, string>;
  /** The story's group in the file (epic, phase, category), if it has one. */
  readonly epic?: string;
  /** The file marks it as deleted, deferred or not work: it counts, but is never next. */
  readonly parked?: true;
  /**
   * Its turn comes after the tasks of this tag of Task Master: until then it is `parked`, but a run that is told to work
   * on it does.
   */
  readonly afterTag?: string;
  /** The story during which an agent found this work. */
  readonly discoveredFrom?: string;
  /** 0-based position in the file. */
  readonly position: number;
  /** The name of a file that describes the story, next to the story file or in its `story_location`, if there is one. */
  readonly details?: string;
  /** If the source is a folder: the story's own file, from there, with forward slashes. */
  readonly file?: string;
  /** 1-based line of the story's first character in the file. */
  readonly line: number;
}

/**
 * The description without its first line, if that is the title again.
 * @param shown the title as it is shown; if that is shortened, all of the description is left
 */
export function descriptionBelow(
  { description, title }: Pick<Story, 'description' | 'title'>,
  shown = title,
): string {
  const text = description.trim();
  if (shown !== title) {
    return text;
  }
  const [first = '', ...rest] = text.split(/\r\n|\r|\n/);
  return (first.trim() === title.trim() ? rest.join('\n') : text).trim();
}

/** A problem of a story file, with its position and the way to fix it. */
export interface StoryProblem {
  /** Stable code, for quick fixes and translations. */
  readonly code:
    | 'invalidJson'
    | 'invalidYaml'
    | 'noStories'
    | 'unreadable'
    | 'duplicateId'
    /** A number so large that it is read as another one, so that the story has no id of its own. */
    | 'inexactId'
    | 'unknownDependency'
    /** A story names an epic that the list of epics does not have, or an epic lists an id that no story has. */
    | 'unknownEpic'
    | 'circularDependency'
    /** A code fence or comment that hides the checkboxes after it because it is not closed. */
    | 'unclosedBlock'
    /** An item of the list that is not written as a story, so that it is not read. */
    | 'notAStory'
    /** The status alone says whether a story is done, and its word is not known. */
    | 'unknownStatus'
    /** A key that says whether a story is done is not read, because it is misspelled. */
    | 'misspelledStatus'
    /** A key that says what a story waits for is not read, because it has another name. */
    | 'misspelledDependency'
    /** A story waits for something that is not written as an id, so that it is not read. */
    | 'unreadDependency'
    /** A key with the priority or the title of a story is not read, because it is misspelled. */
    | 'misspelledKey'
    /** A priority is a word or value without an order, so that the story comes after all others. */
    | 'priorityNotNumber'
    /** An object in JSON has a key twice, so that only the last one counts. */
    | 'repeatedKey'
    /** A story chooses its model, effort or number of turns in a way that is not accepted. */
    | 'storySetting'
    /** A task has something else in the place of its commits. */
    | 'notHashes';
  /** A sentence that names the fix. */
  readonly message: Message;
  /** It is about its line, and not about the whole file, also if that is the first one. */
  readonly isPlaced?: true;
  /** It may be intended. */
  readonly severity?: 'info';
  /** If the source is a folder: the file, from there, with forward slashes. */
  readonly file?: string;
  /** 1-based; 1 if the problem applies to the whole file. */
  readonly line: number;
  /** 1-based. */
  readonly column: number;
  /** The affected story, for fixes. */
  readonly subject?: ProblemSubject;
}

/** The story of a problem. */
export interface ProblemSubject {
  /** 0-based in the list. */
  readonly position: number;
  /**
   * For an unknown dependency, the ids that do not exist; for a cycle its ids, each depending on the next one,
   * starting with the story's own; for a value that is not accepted, its key.
   */
  readonly ids: readonly string[];
}

/** The metadata of a file; empty if there is none. */
export interface StoryFileHeading {
  readonly project: string;
  readonly branchName: string;
  readonly description: string;
}

/** A story file that could be read, possibly with problems that do not hide its stories. */
export interface StoryList extends StoryFileHeading {
  readonly kind: 'stories';
  readonly format: StoryFormatName;
  readonly path: string;
  readonly stories: readonly Story[];
  readonly problems: readonly StoryProblem[];
  /** For an orchestration: its tasks are in phases, and the file is not a plain list such as that of ralphy. */
  readonly hasPhases?: true;
  /** Its stories are a copy of issues on GitHub, whatever its name is. */
  readonly isIssueCopy?: true;
  /** SHA-256 of the file's bytes, hex. */
  readonly hash: string;
}

/** A story file that exists but cannot be used; never displayed as an empty list. */
export interface InvalidStoryFile {
  readonly kind: 'invalid';
  readonly format: StoryFormatName;
  readonly path: string;
  readonly problems: readonly [StoryProblem, ...StoryProblem[]];
  readonly hash: string;
}

export type StoryFile = StoryList | InvalidStoryFile;
