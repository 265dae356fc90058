import { html, nothing, type TemplateResult } from 'lit';
import { keyed } from 'lit/directives/keyed.js';
import { repeat } from 'lit/directives/repeat.js';
import type {
  ProgressStrings,
  ShownAction,
  ShownFolder,
  ShownMeter,
  ShownNow,
  ShownRun,
} from '../views/progress/protocol.ts';
import './answerElement.ts';
import './elapsedElement.ts';
import { glyphIcon } from './glyphs.ts';
import { dot, moment, storyName } from './pieces.ts';
import { post } from './vsCodeApi.ts';
import { fill } from './words.ts';

/** The current activity, the progress, and the buttons that fit. */
export function head(run: ShownRun, strings: ProgressStrings, clockOffset: number): TemplateResult {
  const { actions, cost, glyph, id, now, question, quote, sentence, status, stories, until } = run;
  return html`
    <div class="head">
      <div class="headline">
        <h1>${glyphIcon(glyph)}<span>${status}</span></h1>
        ${actionButtons(actions, strings)}
      </div>
      ${now ? nowLines(now, strings, clockOffset) : nothing}
      ${quote === undefined ? nothing : html`<blockquote class=${glyph} dir="auto">${quote}</blockquote>`}
      ${sentence === undefined ? nothing : html`<p class="sentence">${sentence}</p>`}
      ${until === undefined ? nothing : html`<p class="sentence">${continuesAt(until, strings, clockOffset)}</p>`}
      ${
        question
          ? html`<ralph-answer .question=${question} .strings=${strings}></ralph-answer>`
          : nothing
      }
      <div class="meters">${
        // New elements for another run, whose values must not grow out of those of this one.
        keyed(
          id,
          html`
            ${stories ? meter(stories, 'stories') : nothing}
            ${stories && cost ? html`<span class="only-heard">,</span>` : nothing}
            ${cost ? meter(cost, 'cost') : nothing}
          `,
        )
      }</div>
    </div>
  `;
}

/** The choice of the window's folder that the page shows. */
export function folderChoice(
  folders: readonly ShownFolder[],
  strings: ProgressStrings,
): TemplateResult {
  return html`
    <label class="folder-choice">
      <span>${strings.folder}</span>
      <select
        @change=${({ target }: Event) => {
          post({ type: 'chooseFolder', folder: (target as HTMLSelectElement).value });
        }}
      >
        ${folders.map(
          ({ id, name, active }) => html`<option value=${id} .selected=${active}>${name}</option>`,
        )}
      </select>
    </label>
  `;
}

/** The available actions, as buttons. A pending one cannot be pressed again. */
export function actionButtons(
  actions: readonly ShownAction[],
  strings: ProgressStrings,
): TemplateResult {
  return html`
    <div class="actions" role="group" aria-label=${strings.actions}>
      ${repeat(
        actions,
        ({ action }) => action,
        ({ action, label, pending, primary }) => html`
          <button
            type="button"
            class=${primary ? 'primary' : 'secondary'}
            aria-disabled=${pending ? 'true' : nothing}
            @click=${() => {
              // Not the attribute `disabled`, which would remove the keyboard focus.
              if (!pending) {
                post({ type: action });
              }
            }}
          >${label}</button>
        `,
      )}
    </div>
  `;
}

function nowLines(
  { since, step, story, words }: ShownNow,
  strings: ProgressStrings,
  clockOffset: number,
): TemplateResult {
  return html`
    <div class="now">
      ${story ? html`<p class="now-story">${storyName(story)}</p>` : nothing}
      <p class="now-facts">
        <span>${words}</span>
        ${step === undefined ? nothing : html`${dot}<span>${step}</span>`}
        ${since === undefined ? nothing : html`${dot}<ralph-elapsed .since=${since} .clockOffset=${clockOffset} .strings=${strings}></ralph-elapsed>`}
      </p>
    </div>
  `;
}

/** The sentence has placeholders for the time and for the remaining duration, in the language's own order. */
export function continuesAt(
  until: string,
  strings: ProgressStrings,
  clockOffset: number,
): unknown[] {
  return strings.continuesIn.split(/(\{[01]\})/).map(part => {
    if (part === '{0}') {
      return moment(until);
    }
    return part === '{1}'
      ? html`<ralph-elapsed .until=${until} .clockOffset=${clockOffset} .strings=${strings}></ralph-elapsed>`
      : part;
  });
}

/** Hidden from screen readers, since the words contain everything. */
function meter({ max, value, words }: ShownMeter, name: string): TemplateResult {
  return html`
    <div class="meter ${name}">
      <span>${words}</span>
      ${
        max === undefined
          ? nothing
          : html`
            <meter
              min="0"
              max=${max}
              .value=${Math.min(value, max)}
              high=${name === 'cost' ? max * 0.8 : nothing}
              optimum=${name === 'cost' ? 0 : nothing}
              aria-hidden="true"
            ></meter>
          `
      }
    </div>
  `;
}

/** Accessible name of a button that exists in many rows. */
export function ofIteration(words: string, iteration: number, strings: ProgressStrings): string {
  return fill(strings.ofIteration, words, iteration);
}
