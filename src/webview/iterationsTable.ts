import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type {
  ProgressStrings,
  ShownCommit,
  ShownIteration,
  ShownStory,
} from '../views/progress/protocol.ts';
import { durationWords } from './duration.ts';
import { fill } from './fill.ts';
import { glyphIcon } from './glyphs.ts';
import { post } from './vsCodeApi.ts';

/**
 * The table of iterations. Its roles are said again in attributes, since a browser forgets them where
 * the style sheet lays a row out as a block, which it does on narrow pages.
 */
export function iterationsTable(
  iterations: readonly ShownIteration[],
  strings: ProgressStrings,
  clockOffset: number,
): TemplateResult {
  return html`
    <table role="table" aria-labelledby="iterations-heading">
      <thead role="rowgroup">
        <tr role="row">
          <th scope="col" role="columnheader" class="number" aria-label=${strings.iterationColumn}>#</th>
          <th scope="col" role="columnheader" class="outcome">${strings.outcomeColumn}</th>
          <th scope="col" role="columnheader" class="story">${strings.storyColumn}</th>
          <th scope="col" role="columnheader" class="commits">${strings.commitsColumn}</th>
          <th scope="col" role="columnheader" class="time">${strings.timeColumn}</th>
          <th scope="col" role="columnheader" class="cost">${strings.costColumn}</th>
        </tr>
      </thead>
      <tbody role="rowgroup">
        ${repeat(
          iterations,
          // A new row on top moves the others and leaves the focus where it is.
          ({ number }) => number,
          iteration => row(iteration, strings, clockOffset),
        )}
      </tbody>
    </table>
  `;
}

function row(
  { number, glyph, outcome, reason, story, time, cost, commits, moreCommits }: ShownIteration,
  strings: ProgressStrings,
  clockOffset: number,
): TemplateResult {
  return html`
    <tr role="row">
      <th scope="row" role="rowheader" class="number">${number}</th>
      <td role="cell" class="outcome">
        <span class="state">${glyphIcon(glyph)}<span>${outcome}</span></span>
      </td>
      <td role="cell" class="story">
        ${story ? storyName(story) : nothing}
        ${reason === undefined ? nothing : html`<p class="reason" dir="auto">${reason}</p>`}
      </td>
      <td role="cell" class="commits">
        ${
          commits.length === 0
            ? nothing
            : html`
              <ul>
                ${repeat(
                  commits,
                  ({ hash }) => hash,
                  commit => html`<li>${commitButton(commit, strings)}</li>`,
                )}
                ${moreCommits === undefined ? nothing : html`<li class="more">${moreCommits}</li>`}
              </ul>
            `
        }
      </td>
      <td role="cell" class="time">${timeCell(time, strings, clockOffset)}</td>
      <td role="cell" class="cost">${cost ?? nothing}</td>
    </tr>
  `;
}

function timeCell(
  time: ShownIteration['time'],
  strings: ProgressStrings,
  clockOffset: number,
): unknown {
  if (time === undefined) {
    return nothing;
  }
  return 'ms' in time
    ? durationWords(Math.round(time.ms / 1_000) * 1_000, strings)
    : html`<ralph-elapsed .since=${time.since} .clockOffset=${clockOffset} .strings=${strings}></ralph-elapsed>`;
}

/** A story's id and title. Each is isolated, since either may be written from right to left. */
export function storyName({ id, title }: ShownStory): TemplateResult {
  return html`<span class="story-name"><bdi class="story-id">${id}</bdi> <bdi>${title}</bdi></span>`;
}

function commitButton(
  { hash, shortHash, subject }: ShownCommit,
  strings: ProgressStrings,
): TemplateResult {
  return html`
    <button
      type="button"
      class="commit"
      title=${subject}
      aria-label=${fill(strings.openCommit, shortHash, subject)}
      @click=${() => post({ type: 'openCommit', hash })}
    ><span class="commit-words"><span class="hash">${shortHash}</span> <bdi>${subject}</bdi></span></button>
  `;
}
