import { html, type TemplateResult } from 'lit';
import type { ShownStory } from '../views/progress/protocol.ts';

/** Separates two facts in a line: visible as a dot, read as a pause. */
export const dot = html`<span class="dot"><span class="only-heard">,</span></span>`;

/** A story's id and title. Each is isolated, since either may be right-to-left text. */
export function storyName({ id, title }: ShownStory): TemplateResult {
  return html`<span class="story-name"><bdi class="story-id">${id}</bdi> <bdi>${title}</bdi></span>`;
}

/** A time in the user's time zone, with the date if it is not today. */
export function moment(
  iso: string,
  timeStyle: 'short' | 'medium' = 'short',
): TemplateResult | string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) {
    return '–';
  }
  const today = at.toDateString() === new Date().toDateString();
  return html`<time datetime=${iso}>${format(timeStyle, !today).format(at)}</time>`;
}

const formats = new Map<string, Intl.DateTimeFormat>();

/** Created once: a page has hundreds of times, and creating a format is slow. */
function format(timeStyle: 'short' | 'medium', withDate: boolean): Intl.DateTimeFormat {
  const key = `${timeStyle} ${withDate}`;
  const known = formats.get(key);
  if (known) {
    return known;
  }
  const made = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    timeStyle,
    dateStyle: withDate ? 'medium' : undefined,
  });
  formats.set(key, made);
  return made;
}
