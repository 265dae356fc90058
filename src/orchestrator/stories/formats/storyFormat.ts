import type { Edit } from 'jsonc-parser';
import type { Side } from '../edit/workOrder.ts';
import type { Story, StoryFileHeading, StoryFormatName, StoryProblem } from '../story.ts';
import type { TextLines } from './textLines.ts';

/** What an adapter makes of a text. */
export interface StoryText {
  readonly heading: StoryFileHeading;
  /** In file order, with rising positions. */
  readonly stories: readonly Story[];
  /** Those that hide no story. */
  readonly problems: readonly StoryProblem[];
  /**
   * The edits of the text that set one of these stories, which is not so yet, done or not done.
   *
   * @throws HumanError when no small edit can.
   */
  readonly edits: (story: Story, done: boolean) => readonly Edit[];
  /**
   * The text in which one of these stories has its turn directly before or after another one: with new priorities
   * where the file has them, else with the story's own text at another place.
   *
   * @throws HumanError when the file cannot say so.
   */
  readonly move: (story: Story, target: Story, side: Side) => string;
}

/** One task source: reads its texts into the story model, and knows where in the text a tick belongs. */
export interface StoryFormat {
  readonly name: StoryFormatName;
  /** Reads a text without byte order mark. Pure; never throws. A problem means that the text cannot be used. */
  readonly read: (text: string, lines: TextLines) => StoryText | StoryProblem;
}

/** Tells what a format has read from the problem that kept it from reading. */
export function isStoryText(result: StoryText | StoryProblem): result is StoryText {
  return 'stories' in result;
}

/** The id of a story that its file gives none: its place in the list. */
export function numberId(position: number): string {
  return `#${position + 1}`;
}

/** Keeps ids that only one story has; the others become `undefined`. */
export function uniqueIds(ids: readonly (string | undefined)[]): (string | undefined)[] {
  const counts = new Map<string | undefined, number>();
  for (const id of ids) {
    counts.set(id, (counts.get(id) ?? 0) + 1);
  }
  return ids.map(id => (counts.get(id) === 1 ? id : undefined));
}
