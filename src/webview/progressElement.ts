import { html, LitElement, nothing, type PropertyValues, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type {
  ProgressSnapshot,
  ProgressStrings,
  ShownFact,
  ShownRun,
  SnapshotMessage,
} from '../views/progress/protocol.ts';
import { activity } from './activity.ts';
import { charts } from './charts.ts';
import { actionButtons, folderChoice, head } from './head.ts';
import { landings } from './landings.ts';
import './lanesElement.ts';
import { measures } from './measures.ts';
import { moment } from './pieces.ts';
import { timeline } from './timeline.ts';
import { xray } from './xray.ts';

/** Kept, so that a user who missed them finds the last ones at the end of the page. */
const MAX_ANNOUNCED = 5;
const TRIM_AFTER_MS = 2_000;
/** A screen reader may skip an announcement that is immediately followed by another one. */
const COLLECT_MS = 1_000;

/** Sentences that arrived together; in one paragraph, since a screen reader may otherwise start with the second. */
interface Announced {
  readonly news: readonly string[];
}

/** `<ralph-progress>`: the whole page. It draws the newest snapshot and keeps nothing of earlier ones. */
export class ProgressElement extends LitElement {
  static override properties = {
    shown: { attribute: false },
    announced: { attribute: false },
  };

  declare protected shown: SnapshotMessage | undefined;
  /** Now in the live region, the newest last. */
  declare protected announced: readonly Announced[];
  /** The extension's clock minus this page's, in ms. */
  private clockOffset: number | undefined;
  private actionHadFocus = false;
  /** Not announced yet. */
  private pendingNews: string[] = [];
  private newsTimer: number | undefined;
  private trimTimer: number | undefined;

  constructor() {
    super();
    this.announced = [];
  }

  show(message: SnapshotMessage): void {
    const { snapshot } = message;
    // The initial content is read as the page; only later changes are announced.
    if (this.shown) {
      const news = newsOf(this.shown.snapshot.announcements, snapshot);
      this.pendingNews.push(...news);
      if (this.pendingNews.length > 0) {
        this.newsTimer ??= setTimeout(() => this.announce(), COLLECT_MS);
      }
    }
    // Computed once: with each message's own delay, the seconds would jump.
    this.clockOffset ??= snapshot.sentAt - Date.now();
    this.shown = message;
  }

  private announce(): void {
    this.newsTimer = undefined;
    this.announced = [...this.announced, { news: this.pendingNews }];
    this.pendingNews = [];
    clearTimeout(this.trimTimer);
    // Delayed: if the first one is removed when the last is added, all of them are read out.
    this.trimTimer = setTimeout(() => {
      this.announced = this.announced.slice(-MAX_ANNOUNCED);
    }, TRIM_AFTER_MS);
  }

  /** Renders into the document itself: the style sheet is a file, as the content security policy requires. */
  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(_changed: PropertyValues): void {
    this.actionHadFocus = this.querySelector('.actions :focus, .answer :focus') !== null;
  }

  protected override updated(_changed: PropertyValues): void {
    // The start button disappears when the run has started. The focus remains among the actions, on the last one,
    // which ends nothing.
    if (this.actionHadFocus && this.querySelector('.actions :focus, .answer :focus') === null) {
      this.querySelector<HTMLElement>('.headline .actions button:last-of-type')?.focus();
    }
  }

  protected override render(): unknown {
    if (!this.shown) {
      return nothing;
    }
    const { snapshot, strings } = this.shown;
    return html`
      <main>${this.content(snapshot, strings)}</main>
      <div class="only-heard" role="log" aria-label=${strings.announced}>
        ${repeat(
          this.announced,
          one => one,
          ({ news }) =>
            html`<p>${news.map((text, at) => [at === 0 ? nothing : html`<br>`, text])}</p>`,
        )}
      </div>
    `;
  }

  private content({ folders, run }: ProgressSnapshot, strings: ProgressStrings): TemplateResult {
    return html`
      ${folders ? folderChoice(folders, strings) : nothing}
      ${run ? sections(run, strings, this.clockOffset ?? 0) : empty(strings)}
    `;
  }
}

customElements.define('ralph-progress', ProgressElement);

/**
 * New sentences. If one was only removed, such as a withdrawn request, the last sentence, which is still valid; but between
 * two iterations it is the end of the previous one, which was announced before.
 */
function newsOf(
  before: readonly string[],
  { announcements: after, areRemovalsSilent }: ProgressSnapshot,
): readonly string[] {
  const news = after.filter(text => !before.includes(text));
  const isGone = before.some(text => !after.includes(text));
  return news.length === 0 && isGone && !areRemovalsSilent ? after.slice(-1) : news;
}

function empty(strings: ProgressStrings): TemplateResult {
  return html`
    <div class="empty">
      <h1>${strings.emptyTitle}</h1>
      <p>${strings.emptyText}</p>
      ${actionButtons([{ action: 'startRun', label: strings.start, primary: true }], strings)}
    </div>
  `;
}

function sections(run: ShownRun, strings: ProgressStrings, clockOffset: number): TemplateResult {
  const { charts: shownCharts, lanes, measures: shownMeasures, prompt } = run;
  return html`
    ${head(run, strings, clockOffset)}
    ${
      lanes
        ? html`
          <div class="lane-columns">
            ${section(
              'lanes',
              strings.lanes,
              html`<ralph-lanes .lanes=${lanes} .clockOffset=${clockOffset} .strings=${strings}></ralph-lanes>`,
            )}
            ${section('landings', strings.queue, landings(lanes, strings, clockOffset))}
          </div>
        `
        : nothing
    }
    <div class="columns">
      ${section('activity', strings.activity, activity(run.activity, strings))}
      <div class="aside">
        ${section(
          'charts',
          strings.charts,
          shownCharts
            ? charts(shownCharts, strings)
            : html`<p class="quiet">${strings.noCharts}</p>`,
        )}
        ${
          prompt
            ? section(
                'prompt',
                prompt.later === undefined ? strings.prompt : strings.pastPrompt,
                xray(prompt, strings),
              )
            : nothing
        }
        ${
          shownMeasures
            ? section('measures', strings.measures, measures(shownMeasures, strings))
            : nothing
        }
        ${section('run', strings.run, html`<dl class="facts">${run.facts.map(factItem)}</dl>`)}
      </div>
      ${section('timeline', strings.timeline, timeline(run.timeline, strings, clockOffset))}
    </div>
  `;
}

function section(name: string, heading: string, content: unknown): TemplateResult {
  const id = `${name}-heading`;
  return html`
    <section class="of-${name}" aria-labelledby=${id}>
      <h2 id=${id}>${heading}</h2>
      ${content}
    </section>
  `;
}

function factItem({ label, value }: ShownFact): TemplateResult {
  return html`
    <div>
      <dt>${label}</dt>
      <dd>${'at' in value ? moment(value.at) : html`<bdi>${value.text}</bdi>`}</dd>
    </div>
  `;
}
