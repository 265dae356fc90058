/** The icon next to a state's words. The page defines its look. */
export type Glyph =
  | 'running'
  | 'done'
  | 'progress'
  | 'noProgress'
  | 'failed'
  | 'blocked'
  | 'needsYou'
  | 'stopped'
  | 'waiting'
  | 'interrupted';

export interface ShownStory {
  readonly id: string;
  readonly title: string;
}
