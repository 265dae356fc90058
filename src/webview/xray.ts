import { html, nothing, svg, type TemplateResult } from 'lit';
import type { ProgressStrings, ShownPrompt, ShownSection } from '../views/progress/protocol.ts';
import { ofIteration } from './head.ts';
import { post } from './vsCodeApi.ts';
import { fill } from './words.ts';

/** Number of colors that the sections use in turn; the style sheet defines them. */
const COLOURS = 6;
/** The bar is stretched to its container. */
const WIDTH = 1_000;

/** The composition of a prompt: a bar, and a list whose lines open the sections. */
export function xray(
  { earlier, iteration, later, named, sections, words }: ShownPrompt,
  strings: ProgressStrings,
): TemplateResult {
  return html`
    <p class="quiet">${words}</p>
    ${sections.length === 0 ? nothing : bar(sections)}
    <ul class="sections">
      ${sections.map((section, index) => sectionLine(section, index, iteration, strings))}
    </ul>
    ${named === undefined ? nothing : html`<p class="quiet"><bdi>${named}</bdi></p>`}
    <p class="documents">
      <button
        type="button"
        class="link"
        aria-label=${ofIteration(strings.openPrompt, iteration, strings)}
        @click=${() => post({ type: 'openPrompt', iteration })}
      >${strings.openPrompt}</button>
      <button
        type="button"
        class="link"
        @click=${() => post({ type: 'showNextPrompt' })}
      >${strings.showNextPrompt}</button>
      ${
        earlier === undefined && later === undefined
          ? nothing
          : [
              turn(strings.earlierPrompt, earlier, strings),
              turn(strings.laterPrompt, later, strings),
            ]
      }
    </p>
  `;
}

/** Leads to another prompt. At the end it stays, so that it keeps the focus. */
function turn(
  label: string,
  iteration: number | undefined,
  strings: ProgressStrings,
): TemplateResult {
  return html`
    <button
      type="button"
      class="link"
      aria-disabled=${iteration === undefined ? 'true' : nothing}
      aria-label=${iteration === undefined ? label : ofIteration(label, iteration, strings)}
      @click=${() => {
        if (iteration !== undefined) {
          post({ type: 'showPrompt', iteration });
        }
      }}
    >${label}</button>
  `;
}

/** Hidden from screen readers, since the list contains everything in words. */
function bar(sections: readonly ShownSection[]): TemplateResult {
  const total = Math.max(
    1,
    sections.reduce((sum, { tokens }) => sum + tokens, 0),
  );
  let x = 0;
  const parts = sections.map(({ tokens }, index) => {
    const width = (tokens / total) * WIDTH;
    const part = svg`<rect class="part colour-${index % COLOURS}" x=${x} y="0" width=${width} height="10" />`;
    x += width;
    return part;
  });
  return html`
    <svg class="stack" viewBox="0 0 ${WIDTH} 10" preserveAspectRatio="none" aria-hidden="true">${parts}</svg>
  `;
}

function sectionLine(
  { budget, share, title, tokenWords }: ShownSection,
  index: number,
  iteration: number,
  strings: ProgressStrings,
): TemplateResult {
  return html`
    <li>
      <button
        type="button"
        @click=${() => post({ type: 'openPromptSection', iteration, section: index })}
      >
        <span class="only-heard">${fill(strings.openSection, title, tokenWords, share)}</span>
        <svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">
          <rect class="part colour-${index % COLOURS}" width="10" height="10" rx="2" />
        </svg>
        <span class="section-title" aria-hidden="true"><bdi>${title}</bdi></span>
        <span class="section-budget" aria-hidden="true">${budget ?? nothing}</span>
        <span class="section-tokens" aria-hidden="true">${tokenWords}</span>
        <span class="section-share" aria-hidden="true">${share}</span>
      </button>
    </li>
  `;
}
