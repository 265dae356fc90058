import type { StoryFileHeading } from '../story.ts';

/** What stories can be written as: a `prd.json`, an orchestration, a Markdown plan, or Ralph's own task graph. */
export const TARGETS = ['prd', 'yaml', 'plan', 'tasks'] as const;
export type Target = (typeof TARGETS)[number];

/** What a story has in one file and would not have in the other. */
export type LostFact =
  | 'id'
  | 'title'
  | 'description'
  | 'criteria'
  /** They become lines of the description. */
  | 'criteriaAsText'
  | 'criteriaStates'
  | 'done'
  | 'status'
  | 'parked'
  | 'priority'
  | 'dependsOn'
  | 'epic'
  /** They have none, and would have a group of their own: a plan has no other end of an epic. */
  | 'otherEpic'
  | 'model'
  | 'effort'
  | 'maxTurns'
  | 'discoveredFrom'
  /** The way to the file that describes the story. */
  | 'details'
  /** Kiro's mark of a task that need not be done. */
  | 'optional'
  /** They stand indented below other items of a plan, which says whose parts they are. */
  | 'nesting'
  /** Sections of the story's own file, besides its description and criteria. */
  | 'sections'
  /** Keys that no story has here. */
  | 'keys';

/** A loss of a conversion. Data only. */
export type Loss =
  | {
      readonly kind: 'story';
      readonly fact: LostFact;
      readonly storyIds: readonly string[];
      /** For `keys` and `sections`, which ones. */
      readonly names?: readonly string[];
    }
  | { readonly kind: 'heading'; readonly fact: keyof StoryFileHeading }
  /** Stories would have their turns in another order. */
  | { readonly kind: 'order' }
  /** Keys of the file that belong to no story. */
  | { readonly kind: 'fileKeys'; readonly names: readonly string[] }
  /** Files of a folder that are no stories, and the names of its folders with others. */
  | { readonly kind: 'files'; readonly names: readonly string[] }
  /** Keys that an object has again below, with another value. */
  | { readonly kind: 'repeatedKeys'; readonly lines: readonly number[] }
  /** Documents next to the list: agents would not be led to them any more. */
  | { readonly kind: 'documents'; readonly names: readonly string[] }
  /** Lines that belong to no story: comments, paragraphs. */
  | { readonly kind: 'lines'; readonly count: number }
  /** Items of the list that are not read as stories. */
  | {
      readonly kind: 'notRead';
      readonly lines: readonly number[];
      /** If the source is a folder: the file of each line, from there. */
      readonly files?: readonly string[];
    };

/** Stories as the text of another format. */
export interface Conversion {
  readonly text: string;
  readonly stories: number;
  /** Empty: the new file says all that the old one says. */
  readonly losses: readonly Loss[];
}
