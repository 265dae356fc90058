import type { Prd } from './sampleFiles.ts';

type Story = Prd['userStories'][number];

/** The story that the prompt asks for, or `undefined` if that is unclear. */
export function storyInPrompt(prompt: string, stories: readonly Story[]): Story | undefined {
  const lines = prompt.split(/\r?\n/);
  const named = lines.filter(line => /next\s*story/i.test(line));
  return (
    // The prompt's own marker takes precedence; a prompt also lists other stories, done and open ones.
    only(stories.filter(story => named.some(line => mentions(line, story.id)))) ??
    only(
      stories.filter(story =>
        lines.some(line => mentions(line, story.id) && line.includes(story.title)),
      ),
    ) ??
    only(stories.filter(story => mentions(prompt, story.id)))
  );
}

function only(stories: readonly Story[]): Story | undefined {
  return stories.length === 1 ? stories[0] : undefined;
}

/** `US-1` is not mentioned by `US-10`. */
function mentions(text: string, id: string): boolean {
  return text.split(/[^\p{L}\p{N}_.-]+/u).some(word => word.replace(/[.-]+$/, '') === id);
}
