import { html, type TemplateResult } from 'lit';
import type { ShownStory } from '../views/progress/protocol.ts';

/** A story's id and title. Each is isolated, since either may be right-to-left text. */
export function storyName({ id, title }: ShownStory): TemplateResult {
  return html`<span class="story-name"><bdi class="story-id">${id}</bdi> <bdi>${title}</bdi></span>`;
}
