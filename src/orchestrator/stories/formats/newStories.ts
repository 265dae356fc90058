import type { CallChoice, Story, StoryFileHeading } from '../story.ts';

/** Stories that are to be written as a file. */
export interface NewStoryFile extends StoryFileHeading {
  readonly stories: readonly (Pick<
    Story,
    | 'id'
    | 'title'
    | 'description'
    | 'criteria'
    | 'done'
    | 'priority'
    | 'dependsOn'
    | 'epic'
    | keyof CallChoice
  > &
    Partial<Pick<Story, 'status' | 'parked' | 'discoveredFrom'>>)[];
}
