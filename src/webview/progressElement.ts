import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import type {
  ProgressSnapshot,
  ProgressStrings,
  ShownFact,
  ShownNow,
  ShownRun,
} from '../views/progress/protocol.ts';
import './elapsedElement.ts';
import { glyphIcon } from './glyphs.ts';
import { iterationsTable, storyName } from './iterationsTable.ts';
import { post } from './vsCodeApi.ts';

/** `<ralph-progress>`: the whole page. It draws the newest snapshot and keeps nothing of those before. */
export class ProgressElement extends LitElement {
  static override properties = {
    snapshot: { attribute: false },
    announced: { attribute: false },
  };

  declare protected snapshot: ProgressSnapshot | undefined;
  /** In the live region now. */
  declare protected announced: string;
  /** The extension's clock minus this page's, in ms. */
  private clockOffset: number | undefined;
  private actionHadFocus = false;

  constructor() {
    super();
    this.announced = '';
  }

  show(snapshot: ProgressSnapshot): void {
    // What stands there when the page opens is read as the page; only what changes then is news.
    if (this.snapshot && this.snapshot.announcement !== snapshot.announcement) {
      this.announced = snapshot.announcement;
    }
    // Taken once: with each message's own delay the seconds would jump.
    this.clockOffset ??= snapshot.sentAt - Date.now();
    this.snapshot = snapshot;
  }

  /** In the document itself: the style sheet comes from a file, as the content security policy wants. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(_changed: PropertyValues): void {
    this.actionHadFocus = this.querySelector('.actions :focus') !== null;
  }

  protected override updated(_changed: PropertyValues): void {
    // Start is gone when the run has started: the keyboard stays among the actions, on the last one,
    // which ends nothing.
    if (this.actionHadFocus && this.querySelector('.actions :focus') === null) {
      this.querySelector<HTMLElement>('.actions button:last-of-type')?.focus();
    }
  }

  protected override render(): unknown {
    const { snapshot } = this;
    if (!snapshot) {
      return nothing;
    }
    const { run, strings } = snapshot;
    return html`
      <main>${run ? this.run(run, strings) : empty(strings)}</main>
      <div class="only-heard" role="status">${this.announced}</div>
    `;
  }

  private run(run: ShownRun, strings: ProgressStrings): TemplateResult {
    const { facts, iterations, now, olderIterations } = run;
    const clockOffset = this.clockOffset ?? 0;
    return html`
      ${header(run, strings)}
      ${now ? nowSection(now, strings, clockOffset) : nothing}
      <section aria-labelledby="run-heading">
        <h2 id="run-heading">${strings.run}</h2>
        <dl class="facts">${facts.map(factItem)}</dl>
      </section>
      <section aria-labelledby="iterations-heading">
        <h2 id="iterations-heading">${strings.iterations}</h2>
        ${
          iterations.length === 0
            ? html`<p class="quiet">${strings.noIterations}</p>`
            : iterationsTable(iterations, strings, clockOffset)
        }
        ${olderIterations === undefined ? nothing : html`<p class="quiet">${olderIterations}</p>`}
      </section>
    `;
  }
}

customElements.define('ralph-progress', ProgressElement);

function empty({ emptyTitle, emptyText, start }: ProgressStrings): TemplateResult {
  return html`
    <div class="empty">
      <h1>${emptyTitle}</h1>
      <p>${emptyText}</p>
      <div class="actions">${startButton(start, 'primary')}</div>
    </div>
  `;
}

function header(run: ShownRun, strings: ProgressStrings): TemplateResult {
  const { glyph, quote, sentence, status, stories } = run;
  return html`
    <header>
      <div class="headline">
        <h1>${glyphIcon(glyph)}<span>${status}</span></h1>
        <div class="actions">${actions(run, strings)}</div>
      </div>
      ${quote === undefined ? nothing : html`<blockquote class=${glyph} dir="auto">${quote}</blockquote>`}
      ${sentence === undefined ? nothing : html`<p class="sentence">${sentence}</p>`}
      ${
        stories
          ? html`
            <div class="stories">
              <span id="stories-words">${stories.words}</span>
              <progress
                max=${stories.total}
                .value=${stories.done}
                aria-labelledby="stories-words"
                aria-valuetext=${stories.words}
              ></progress>
            </div>
          `
          : nothing
      }
    </header>
  `;
}

function actions({ active, glyph, stopping }: ShownRun, strings: ProgressStrings): TemplateResult {
  if (!active) {
    // After the work is done, another run is nothing to urge.
    return startButton(strings.start, glyph === 'done' ? 'secondary' : 'primary');
  }
  // Not `disabled` while it stops: that would take the keyboard's place away.
  return html`
    <button
      type="button"
      class="secondary"
      aria-disabled=${stopping ? 'true' : nothing}
      @click=${() => {
        if (!stopping) {
          post({ type: 'stopRun' });
        }
      }}
    >${stopping ? strings.stopping : strings.stop}</button>
    <button
      type="button"
      class="secondary"
      @click=${() => post({ type: 'showTerminal' })}
    >${strings.showTerminal}</button>
  `;
}

function startButton(words: string, rank: 'primary' | 'secondary'): TemplateResult {
  return html`
    <button type="button" class=${rank} @click=${() => post({ type: 'startRun' })}>${words}</button>
  `;
}

function nowSection(
  { activity, since, story, words }: ShownNow,
  strings: ProgressStrings,
  clockOffset: number,
): TemplateResult {
  return html`
    <section aria-labelledby="now-heading">
      <h2 id="now-heading">${strings.now}</h2>
      <div class="now">
        ${story ? html`<p class="now-story">${storyName(story)}</p>` : nothing}
        <p class="now-facts">
          <span>${words}</span>
          ${
            since === undefined
              ? nothing
              : html`<ralph-elapsed .since=${since} .clockOffset=${clockOffset} .strings=${strings}></ralph-elapsed>`
          }
        </p>
        <p class="activity" title=${activity ?? nothing}><bdi>${activity ?? nothing}</bdi></p>
      </div>
    </section>
  `;
}

function factItem({ label, value }: ShownFact): TemplateResult {
  return html`
    <div>
      <dt>${label}</dt>
      <dd>${'at' in value ? timeOfDay(value.at) : html`<bdi>${value.text}</bdi>`}</dd>
    </div>
  `;
}

/** The time, with the date when it was not today. */
function timeOfDay(iso: string): TemplateResult | string {
  const at = new Date(iso);
  if (Number.isNaN(at.getTime())) {
    return '–';
  }
  const today = at.toDateString() === new Date().toDateString();
  const format = new Intl.DateTimeFormat(document.documentElement.lang || undefined, {
    timeStyle: 'short',
    ...(!today && { dateStyle: 'medium' }),
  });
  return html`<time datetime=${iso}>${format.format(at)}</time>`;
}
