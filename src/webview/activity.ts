import { html, nothing, type TemplateResult } from 'lit';
import type { ProgressStrings, ShownActivity } from '../views/progress/protocol.ts';
import { moment } from './pieces.ts';

/** The last messages and actions, the newest at the bottom. Not a live region: the stream never stops. */
export function activity(
  lines: readonly ShownActivity[],
  strings: ProgressStrings,
): TemplateResult {
  return lines.length === 0
    ? html`<p class="quiet">${strings.noActivity}</p>`
    : html`
      <ol class="activity">
        ${lines.map(
          ({ at, isOpening, kind, storyId, text }) => html`
            <li class=${isOpening ? `${kind} opening` : kind}>
              <span class="at">${at === undefined ? nothing : moment(at, 'medium')}</span>
              <span class="said" dir="auto">${
                storyId === undefined
                  ? nothing
                  : html`<bdi class="of-story">${storyId}</bdi><span class="only-heard">:</span> `
              }${text}</span>
            </li>
          `,
        )}
      </ol>
    `;
}
