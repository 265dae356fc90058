import { html, LitElement, nothing, svg, type TemplateResult } from 'lit';
import { repeat } from 'lit/directives/repeat.js';
import type { ShownBar, ShownLane, ShownLanes } from '../views/progress/laneProtocol.ts';
import type { ProgressStrings } from '../views/progress/protocol.ts';
import { barDrawing, barPatterns, keySwatch } from './bars.ts';
import './elapsedElement.ts';
import { glyphIcon } from './glyphs.ts';
import { continuesAt } from './head.ts';
import { moment, storyName } from './pieces.ts';
import { post, savedPageState, savePageState } from './vsCodeApi.ts';

/** The times of a shorter chart have seconds. */
const SHORT_MS = 10 * 60_000;

/** How the arrow keys move between bars: along a row, or to another row. */
const MOVES: Readonly<Record<string, readonly [along: number, across: number]>> = {
  ArrowRight: [1, 0],
  ArrowLeft: [-1, 0],
  ArrowDown: [0, 1],
  ArrowUp: [0, -1],
};

/**
 * `<ralph-lanes>`: a row for each lane, with what it does now and what it has done over time. All bars together are one
 * stop of the Tab key; the arrow keys move between them. The words of a bar appear below.
 */
export class LanesElement extends LitElement {
  static override properties = {
    lanes: { attribute: false },
    strings: { attribute: false },
    clockOffset: { attribute: false },
    pointed: { state: true },
    selected: { state: true },
  };

  declare lanes: ShownLanes | undefined;
  declare strings: ProgressStrings | undefined;
  declare clockOffset: number;
  /** Key of the bar below the pointer. */
  declare protected pointed: string | undefined;
  /** Key of the bar that had the focus last. */
  declare protected selected: string | undefined;
  /** A bar had the focus before the update. */
  private barHadFocus = false;

  constructor() {
    super();
    this.clockOffset = 0;
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override willUpdate(): void {
    this.barHadFocus = this.querySelector('[data-bar]:focus') !== null;
    this.selected = this.selected && keyNow(rowsOf(this.lanes), this.selected);
  }

  protected override updated(): void {
    // As the chart grows, bars become one with those before them, and their elements disappear with the focus.
    if (this.barHadFocus && this.querySelector('[data-bar]:focus') === null) {
      this.querySelector<SVGElement>(`[data-bar="${this.selected}"]`)?.focus();
    }
  }

  protected override render(): unknown {
    const { lanes: shown, strings } = this;
    if (!shown || !strings) {
      return nothing;
    }
    const { account, axis, count, landings, lanes } = shown;
    return html`
      ${count ? this.count(count, strings) : nothing}
      ${account.map(
        ({ until, words }) => html`
          <p class="account">
            ${glyphIcon('waiting')}
            <span>${words}${until === undefined ? nothing : html` ${continuesAt(until, strings, this.clockOffset)}`}</span>
          </p>
        `,
      )}
      ${barPatterns}
      <div
        class="lanes ${count ? '' : 'over'}"
        role="group"
        aria-label=${axis?.words ?? strings.lanes}
        @keydown=${(event: KeyboardEvent) => this.move(event)}
        @focusin=${({ target }: Event) => this.select(keyOf(target))}
        @pointerover=${({ target }: Event) => {
          this.pointed = keyOf(target);
        }}
        @pointerleave=${() => {
          this.pointed = undefined;
        }}
      >
        ${repeat(
          lanes,
          ({ lane }) => lane,
          lane => this.row(lane, strings),
        )}
        ${landings ? this.landingRow(landings, strings) : nothing}
        ${
          axis === undefined
            ? nothing
            : html`
              <div class="lane axis" aria-hidden="true">
                <span class="lane-times">${[axis.from, axis.to].map(at => html`<span>${moment(at, precision(axis))}</span>`)}</span>
              </div>
            `
        }
      </div>
      ${
        axis === undefined
          ? nothing
          : html`
            <p class="bar-words" aria-hidden="true" dir="auto">${this.words() ?? strings.lanesHelp}</p>
            <ul class="bar-key" aria-hidden="true">
              ${axis.key.map(({ look, words }) => html`<li>${keySwatch(look)}${words}</li>`)}
            </ul>
            ${table(shown, strings)}
          `
      }
    `;
  }

  private count(
    { isLeast, isMost, words }: NonNullable<ShownLanes['count']>,
    strings: ProgressStrings,
  ): TemplateResult {
    const button = (type: 'moreLanes' | 'fewerLanes', sign: string, isEnd: boolean) => html`
      <button
        type="button"
        class="secondary"
        aria-label=${strings[type]}
        title=${strings[type]}
        aria-disabled=${isEnd ? 'true' : nothing}
        @click=${() => {
          // Not the attribute, which would remove the keyboard focus.
          if (!isEnd) {
            post({ type });
          }
        }}
      >${sign}</button>
    `;
    return html`
      <div class="lane-count actions" role="group" aria-label=${strings.lanesCount}>
        ${button('fewerLanes', '−', isLeast)}
        <span>${words}</span>
        ${button('moreLanes', '+', isMost)}
      </div>
    `;
  }

  private row(
    { bars, lane, name, now, toggle }: ShownLane,
    strings: ProgressStrings,
  ): TemplateResult {
    return html`
      <div class="lane" role="group" aria-label=${name}>
        <span class="lane-number" aria-hidden="true">${lane}</span>
        ${
          now === undefined
            ? nothing
            : html`
              <span class="lane-now">
                ${glyphIcon(now.glyph)}
                <span class="lane-words">
                  ${now.story ? storyName(now.story) : nothing}
                  <span class="quiet">${now.words}${
                    now.since === undefined
                      ? nothing
                      : html`, <ralph-elapsed .since=${now.since} .clockOffset=${this.clockOffset} .strings=${strings}></ralph-elapsed>`
                  }</span>
                </span>
              </span>
            `
        }
        ${
          toggle === undefined
            ? nothing
            : html`
              <button
                type="button"
                class="toggle"
                aria-label=${toggle.label}
                title=${toggle.label}
                @click=${() => post({ type: toggle.paused ? 'resumeLane' : 'pauseLane', lane })}
              >${toggleIcon(toggle.paused)}</button>
            `
        }
        ${this.bars(`${lane}`, bars)}
      </div>
    `;
  }

  private landingRow(bars: readonly ShownBar[], strings: ProgressStrings): TemplateResult {
    return html`
      <div class="lane of-landings" role="group" aria-label=${strings.landings}>
        <span class="lane-number landing" aria-hidden="true">${strings.landing}</span>
        ${this.bars('landings', bars)}
      </div>
    `;
  }

  private bars(row: string, bars: readonly ShownBar[]): TemplateResult {
    const only = this.reachable();
    return html`
      <svg class="bars" role="presentation">
        ${repeat(
          bars,
          ({ id }) => id,
          bar => {
            const key = `${row}/${bar.id}`;
            return barDrawing(bar, key, key === only);
          },
        )}
      </svg>
    `;
  }

  /** Key of the bar that the Tab key reaches. */
  private reachable(): string | undefined {
    const keys = rowsOf(this.lanes)
      .flat()
      .map(([key]) => key);
    return this.selected !== undefined && keys.includes(this.selected) ? this.selected : keys[0];
  }

  private words(): string | undefined {
    const all = new Map(rowsOf(this.lanes).flat());
    return all.get(this.pointed ?? '')?.words ?? all.get(this.selected ?? '')?.words;
  }

  private select(key: string | undefined): void {
    if (key !== undefined) {
      this.selected = key;
    }
  }

  private move(event: KeyboardEvent): void {
    const [along, across] = MOVES[event.key] ?? [0, 0];
    const key = keyOf(event.target);
    const rows = rowsOf(this.lanes).filter(({ length }) => length > 0);
    const row = rows.findIndex(bars => bars.some(([other]) => other === key));
    const column = rows[row]?.findIndex(([other]) => other === key) ?? -1;
    if (key === undefined || column === -1 || (along === 0 && across === 0)) {
      return;
    }
    event.preventDefault();
    const from = rows[row]?.[column]?.[1];
    const next =
      across === 0 ? rows[row]?.[column + along] : from && nearest(rows[row + across] ?? [], from);
    if (next !== undefined) {
      this.querySelector<SVGElement>(`[data-bar="${next[0]}"]`)?.focus();
    }
  }
}

customElements.define('ralph-lanes', LanesElement);

/** With seconds, if both ends might have the same minute. */
function precision({ from, to }: NonNullable<ShownLanes['axis']>): 'short' | 'medium' {
  return Date.parse(to) - Date.parse(from) < SHORT_MS ? 'medium' : 'short';
}

type KeyedBar = readonly [key: string, bar: ShownBar];

function rowsOf(shown: ShownLanes | undefined): readonly (readonly KeyedBar[])[] {
  const keyed = (row: string, bars: readonly ShownBar[]) =>
    bars.map((bar): KeyedBar => [`${row}/${bar.id}`, bar]);
  return shown === undefined
    ? []
    : [
        ...shown.lanes.map(({ bars, lane }) => keyed(`${lane}`, bars)),
        keyed('landings', shown.landings ?? []),
      ];
}

/** The key of the bar that now contains the one with this key; the same as long as that one exists. */
function keyNow(rows: readonly (readonly KeyedBar[])[], key: string): string {
  const [row, id] = key.split('/');
  const bars = rows.flat().filter(([other]) => other.split('/')[0] === row);
  // One that contains several has the number of the first of them.
  const [now = key] = bars.findLast(([, bar]) => bar.id <= Number(id)) ?? [];
  return now;
}

/** The bar of another row that is closest in time. */
function nearest(row: readonly KeyedBar[], { at, length }: ShownBar): KeyedBar | undefined {
  const middle = at + length / 2;
  const distance = ([, bar]: KeyedBar) =>
    Math.max(0, bar.at - middle, middle - (bar.at + bar.length));
  return row.toSorted((a, b) => distance(a) - distance(b))[0];
}

function keyOf(target: EventTarget | null): string | undefined {
  const bar = target instanceof Element ? target.closest<SVGElement>('[data-bar]') : null;
  return bar?.dataset['bar'];
}

function toggleIcon(paused: boolean): TemplateResult {
  const shape = paused
    ? svg`<path d="M5 3.5v9l7.5-4.5Z"/>`
    : svg`<path d="M4.5 3.5h2v9h-2ZM9.5 3.5h2v9h-2Z"/>`;
  return html`<svg viewBox="0 0 16 16" aria-hidden="true">${shape}</svg>`;
}

function table({ moreRows, table: rows }: ShownLanes, strings: ProgressStrings): TemplateResult {
  const { beganColumn, laneColumn, resultColumn, storyColumn, waitedColumn, workedColumn } =
    strings;
  const columns = [storyColumn, laneColumn, beganColumn, workedColumn, waitedColumn, resultColumn];
  return html`
    <details
      .open=${savedPageState().isLaneTableOpen || document.body.classList.contains('vscode-using-screen-reader')}
      @toggle=${({ target }: Event) => {
        savePageState({ isLaneTableOpen: (target as HTMLDetailsElement).open });
      }}
    >
      <summary>${strings.showTable}</summary>
      <div class="scrolled" tabindex="0" role="group" aria-label=${strings.lanes}>
        <table aria-label=${strings.lanes}>
          <thead>
            <tr>${columns.map(column => html`<th scope="col">${column}</th>`)}</tr>
          </thead>
          <tbody>
            ${repeat(
              rows,
              ({ iteration }) => iteration,
              ({ lane, result, since, story, waited, worked }) => html`
                <tr>
                  <th scope="row"><bdi>${story}</bdi></th>
                  <td>${lane}</td>
                  <td>${moment(since)}</td>
                  <td>${worked}</td>
                  <td>${waited}</td>
                  <td>${result}</td>
                </tr>
              `,
            )}
          </tbody>
        </table>
      </div>
      ${moreRows === undefined ? nothing : html`<p class="quiet">${moreRows}</p>`}
    </details>
  `;
}
