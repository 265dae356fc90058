import type { Edit } from 'jsonc-parser';
import type { NewStory } from '../edit/newStory.ts';
import type { Side } from '../edit/workOrder.ts';
import type {
  Story,
  StoryFileHeading,
  StoryFormatName,
  StoryList,
  StoryProblem,
} from '../story.ts';
import type { Span } from './jsonOutline.ts';
import type { TextLines } from './textLines.ts';

/** The result of an adapter for a text. */
export interface StoryText {
  readonly heading: StoryFileHeading & Pick<StoryList, 'isIssueCopy'>;
  /** In file order, with ascending positions. */
  readonly stories: readonly Story[];
  /** Problems that hide no story. */
  readonly problems: readonly StoryProblem[];
  /** See `StoryList`. */
  readonly hasPhases?: true;
  /**
   * The stories of lists that have their turns one after the other, in this order; those of all but one are put aside
   * above. Here, a story is put aside only if the file itself puts it aside.
   */
  readonly lists?: readonly (readonly Story[])[];
  /**
   * The edits that mark one of these stories, which has the other status, as done or not done.
   *
   * @throws HumanError if no small edit can do this.
   */
  readonly edits: (story: Story, done: boolean) => readonly Edit[];
  /** Where the text of the story at a position is: all that `edits` may change. Empty if there is no such story. */
  readonly spanOf: (position: number) => Span;
  /**
   * The id of the next story that is added, if the file numbers its stories, has no ids, or only those of its tool;
   * otherwise a story keeps that of its report.
   */
  readonly nextId?: (story: NewStory) => string | undefined;
  /** The edits that add a story where new ones belong, mostly behind all others; absent if there is no place for one. */
  readonly add?: (story: NewStory) => readonly Edit[];
  /**
   * The text in which one of these stories has its turn directly before or after another one: with new priorities
   * if the file has them, otherwise with the story's own text at another position.
   *
   * @throws HumanError if the file cannot represent this.
   */
  readonly move: (story: Story, target: Story, side: Side) => string;
  /** Absent if the format has no place for the commits of a story. */
  readonly commits?: StoryCommits;
  /** Absent if problems of the format can only be told by their lines. */
  readonly parts?: StoryParts;
}

/** Where the parts of stories are that a problem is about, and how each is changed alone. */
export interface StoryParts {
  /** A field of the story at a position; without a key, what says whether it is done. */
  readonly field: (position: number, key?: string) => StoryPart | undefined;
  /** What the story itself says that it waits for. What it waits for with its group has no place. */
  readonly dependencies: (position: number) => readonly DependencyPart[];
  /** What says that a story is not done, if no other story of the file says it. */
  readonly openWord: string;
}

/** A part of a story in the text. The result of an edit must be read again: anchors and rare syntax may spread it. */
export interface StoryPart {
  /** The value. */
  readonly span: Span;
  /** The value with its key. */
  readonly whole: Span;
  /** The edit that writes another value in the way of the file; absent if nobody but its tool may choose it. */
  readonly write?: (value: string) => Edit;
  /** Absent if the part cannot be taken out with certainty. */
  readonly removal?: Edit;
  /** The edit that keeps the value under another key, and gives this one an empty list. */
  readonly setAside?: (key: string) => Edit;
}

/** One dependency of a story. */
export interface DependencyPart extends StoryPart {
  /** The id of the story, or another name of it. */
  readonly id: string;
}

/** The commits that did a story, listed in the file. */
export interface StoryCommits {
  /** Those of the story at a position; `undefined` if it has no list of commits. */
  readonly of: (position: number) => readonly string[] | undefined;
  /** The edits that add hashes to that list; none if it has no list, or no small edit can do this. */
  readonly edits: (position: number, hashes: readonly string[]) => readonly Edit[];
}

/** One task source: parses its texts into the story model, and knows how to write a tick. */
export interface StoryFormat {
  readonly name: StoryFormatName;
  /** Parses a text without byte order mark. Pure; never throws. A problem means that the text cannot be used. */
  readonly read: (text: string, lines: TextLines) => StoryText | StoryProblem;
}

/** Whether a format could read the text; otherwise the result is the problem. */
export function isStoryText(result: StoryText | StoryProblem): result is StoryText {
  return 'stories' in result;
}

/** Keeps unique ids; the others become `undefined`. */
export function uniqueIds(ids: readonly (string | undefined)[]): (string | undefined)[] {
  const counts = new Map<string | undefined, number>();
  for (const id of ids) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return ids.map(id => (counts.get(id) === 1 ? id : undefined));
}
