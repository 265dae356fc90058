import type { Story } from '../../src/orchestrator/stories/story.ts';

/** A story that is open and has no dependencies. */
export function aStory(more: Partial<Story> = {}): Story {
  return {
    id: 'S1',
    title: '',
    description: '',
    criteria: [],
    done: false,
    dependsOn: [],
    position: 0,
    line: 1,
    ...more,
  };
}

/** Stories in the order of their file, named S1, S2, … by default. */
export function storyList(...stories: readonly Partial<Story>[]): Story[] {
  return stories.map((story, position) =>
    aStory({ id: `S${position + 1}`, position, line: position + 1, ...story }),
  );
}
