import { html, nothing, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type {
  ProgressStrings,
  ShownCommit,
  ShownIteration,
  ShownProof,
  ShownTimeline,
} from '../views/progress/protocol.ts';
import { glyphIcon } from './glyphs.ts';
import { ofIteration } from './head.ts';
import { dot, storyName } from './pieces.ts';
import { post } from './vsCodeApi.ts';
import { durationWords, fill } from './words.ts';

/** The iterations, newest first, each with its outcome and its documents. */
export function timeline(
  { iterations, newer, older, words }: ShownTimeline,
  strings: ProgressStrings,
  clockOffset: number,
): TemplateResult {
  if (iterations.length === 0) {
    return html`<p class="quiet">${strings.noIterations}</p>`;
  }
  return html`
    ${words === undefined ? nothing : html`<p class="quiet">${words}</p>`}
    ${newer === undefined ? nothing : pageButton(strings.newer, newer)}
    <ol class="timeline">
      ${repeat(
        iterations,
        // A new one on top moves the others and does not change the focus.
        ({ number }) => number,
        iteration => entry(iteration, strings, clockOffset),
      )}
    </ol>
    ${older === undefined ? nothing : pageButton(strings.older, older)}
  `;
}

function pageButton(words: string, page: number): TemplateResult {
  return html`
    <button type="button" class="link" @click=${() => post({ type: 'showIterations', page })}>${words}</button>
  `;
}

function entry(
  shown: ShownIteration,
  strings: ProgressStrings,
  clockOffset: number,
): TemplateResult {
  const { commits, cost, documents, glyph, moreCommits, number, outcome } = shown;
  const { proofs, reason, story, time, tokens } = shown;
  return html`
    <li>
      <h3>
        ${glyphIcon(glyph)}
        <span class="number" aria-hidden="true">${number}</span>
        <span class="outcome" aria-hidden="true">${outcome}</span>
        <span class="only-heard">${fill(strings.iterationHeading, number, outcome)}</span>
      </h3>
      <p class="took">
        ${time === undefined ? nothing : html`<span>${timeWords(time, strings, clockOffset)}</span>`}
        ${tokens === undefined ? nothing : html`${dot}<span>${tokens}</span>`}
        ${cost === undefined ? nothing : html`${dot}<span>${cost}</span>`}
      </p>
      <div class="came">
        ${story ? html`<p>${storyName(story)}</p>` : nothing}
        ${reason === undefined ? nothing : html`<p class="reason" dir="auto">${reason}</p>`}
        ${
          proofs.length === 0
            ? nothing
            : html`<ul class="proofs">${proofs.map(proof => proofItem(proof, strings))}</ul>`
        }
        ${
          commits.length === 0
            ? nothing
            : html`
              <ul class="commits">
                ${repeat(
                  commits,
                  ({ hash }) => hash,
                  commit => html`<li>${commitButton(commit, strings)}</li>`,
                )}
                ${moreCommits === undefined ? nothing : html`<li class="quiet">${moreCommits}</li>`}
              </ul>
            `
        }
        <p class="documents">
          ${documents.map(
            type => html`
              <button
                type="button"
                class="link"
                aria-label=${ofIteration(strings.documents[type], number, strings)}
                @click=${() => post({ type, iteration: number })}
              >${strings.documents[type]}</button>
            `,
          )}
        </p>
      </div>
    </li>
  `;
}

function timeWords(
  time: NonNullable<ShownIteration['time']>,
  strings: ProgressStrings,
  clockOffset: number,
): unknown {
  return 'ms' in time
    ? durationWords(Math.round(time.ms / 1_000) * 1_000, strings)
    : html`<ralph-elapsed .since=${time.since} .clockOffset=${clockOffset} .strings=${strings}></ralph-elapsed>`;
}

function proofItem(
  { glyph, isCommand, ms, name, verdict }: ShownProof,
  strings: ProgressStrings,
): TemplateResult {
  return html`
    <li>
      ${glyphIcon(glyph)}
      ${isCommand ? html`<code><bdi>${name}</bdi></code>` : html`<span>${name}</span>`}
      <span class="verdict">${verdict}</span>
      ${ms === undefined ? nothing : html`${dot}<span class="quiet">${durationWords(Math.round(ms / 1_000) * 1_000, strings)}</span>`}
    </li>
  `;
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
