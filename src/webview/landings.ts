import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { ShownLanes, ShownQueued, ShownReturned } from '../views/progress/laneProtocol.ts';
import type { ProgressStrings } from '../views/progress/protocol.ts';
import './elapsedElement.ts';
import { glyphIcon } from './glyphs.ts';
import { ofIteration } from './head.ts';
import { moment, storyName } from './pieces.ts';
import { post } from './vsCodeApi.ts';

/** What waits to land, in its order; what came back, and why; and what has landed. */
export function landings(
  { landed, moreQueued, queue, returned }: ShownLanes,
  strings: ProgressStrings,
  clockOffset: number,
): TemplateResult {
  return html`
    ${
      queue.length === 0
        ? html`<p class="quiet">${strings.emptyQueue}</p>`
        : html`
          <ol class="queue">
            ${repeat(
              queue,
              ({ iteration }) => iteration,
              one => queued(one, strings, clockOffset),
            )}
            ${moreQueued === undefined ? nothing : html`<li class="quiet">${moreQueued}</li>`}
          </ol>
        `
    }
    ${
      returned.length === 0
        ? nothing
        : html`
          <h3 id="came-back-heading">${strings.cameBack}</h3>
          <ul class="queue" aria-labelledby="came-back-heading">
            ${repeat(
              returned,
              ({ iteration }) => iteration,
              one => cameBack(one, strings),
            )}
          </ul>
        `
    }
    ${
      landed === undefined
        ? nothing
        : html`
          <h3 id="landed-heading">${landed.words}</h3>
          <ul class="queue" aria-labelledby="landed-heading">
            ${landed.last.map(
              ({ at, story }) => html`
                <li>
                  ${glyphIcon('done')}
                  <div>
                    <p>${storyName(story)}</p>
                    <p class="quiet">${moment(at)}</p>
                  </div>
                </li>
              `,
            )}
          </ul>
        `
    }
  `;
}

function queued(
  { glyph, since, story, words }: ShownQueued,
  strings: ProgressStrings,
  clockOffset: number,
): TemplateResult {
  return html`
    <li>
      ${glyphIcon(glyph)}
      <div>
        <p>${story ? storyName(story) : nothing}</p>
        <p class="quiet" dir="auto">${words}${
          since === undefined
            ? nothing
            : html`, <ralph-elapsed .since=${since} .clockOffset=${clockOffset} .strings=${strings}></ralph-elapsed>`
        }</p>
      </div>
    </li>
  `;
}

function cameBack(
  { hasChanges, iteration, next, reason, story }: ShownReturned,
  strings: ProgressStrings,
): TemplateResult {
  const changes = strings.documents.openIterationChanges;
  return html`
    <li>
      ${glyphIcon('failed')}
      <div>
        <p>${story ? storyName(story) : nothing}</p>
        <p class="quiet" dir="auto">${reason}</p>
        ${next === undefined ? nothing : html`<p class="quiet">${next}</p>`}
        ${
          hasChanges
            ? html`
              <button
                type="button"
                class="link"
                aria-label=${ofIteration(changes, iteration, strings)}
                @click=${() => post({ type: 'openIterationChanges', iteration })}
              >${changes}</button>
            `
            : nothing
        }
      </div>
    </li>
  `;
}
