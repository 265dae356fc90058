import { html, nothing, svg, type TemplateResult } from 'lit';
import type {
  ProgressStrings,
  ShownChart,
  ShownCharts,
  ShownPoint,
} from '../views/progress/protocol.ts';
import { savedPageState, savePageState } from './vsCodeApi.ts';

/**
 * The drawings are stretched to their container, so they need no measuring: x is the point's number, and y goes down
 * to this value.
 */
const HEIGHT = 100;
/** Share of a bar's width, on each side. */
const GAP = 0.15;

/** Remaining stories, total cost and cost of each iteration, over the same iterations. */
export function charts(shown: ShownCharts, strings: ProgressStrings): TemplateResult {
  const { cost, points, stories, sum } = shown;
  return html`
    <div class="charts">
      ${stories ? figure(stories, points, storiesDrawing(stories, points)) : nothing}
      ${sum ? figure(sum, points, sumDrawing(sum, points), budgetKey(sum, strings)) : nothing}
      ${cost ? figure(cost, points, costDrawing(cost, points), nothing, firstBar(points)) : nothing}
    </div>
    <details
      .open=${savedPageState().isTableOpen || document.body.classList.contains('vscode-using-screen-reader')}
      @toggle=${({ target }: Event) => {
        savePageState({ isTableOpen: (target as HTMLDetailsElement).open });
      }}
    >
      <summary>${strings.showTable}</summary>
      ${table(shown, strings)}
    </details>
  `;
}

function figure(
  { title, topWords, words, zeroWords }: ShownChart,
  points: readonly ShownPoint[],
  drawing: TemplateResult,
  key: unknown = nothing,
  first = points[0],
): TemplateResult {
  const last = points.at(-1);
  return html`
    <figure>
      <figcaption><span>${title}</span>${key}</figcaption>
      <div class="plot">
        <div class="scale" aria-hidden="true"><span>${topWords}</span><span>${zeroWords}</span></div>
        <svg
          role="img"
          aria-label=${words}
          viewBox="0 0 ${points.length - 1} ${HEIGHT}"
          preserveAspectRatio="none"
        >
          <path class="grid" d="M0 0H${points.length - 1}M0 ${HEIGHT / 2}H${points.length - 1}" />
          ${drawing}
          <path class="axis" d="M0 ${HEIGHT}H${points.length - 1}" />
        </svg>
        <div class="scale iterations" aria-hidden="true">
          <span>${first?.label}</span><span>${last?.label}</span>
        </div>
      </div>
      <p class="quiet" aria-hidden="true">${words}</p>
    </figure>
  `;
}

function storiesDrawing(chart: ShownChart, points: readonly ShownPoint[]): TemplateResult {
  // The count is constant until an iteration changes it.
  const steps = points
    .map(({ left = 0 }, x) => (x === 0 ? `M0 ${y(left, chart)}` : `H${x}V${y(left, chart)}`))
    .join('');
  return svg`
    <path class="area" d="${steps}V${HEIGHT}H0Z" />
    <path class="line" d="${steps}" />
  `;
}

function sumDrawing(
  chart: ShownChart & { readonly budget?: number },
  points: readonly ShownPoint[],
): TemplateResult {
  const line = points
    .map(({ sum = 0 }, x) => `${x === 0 ? 'M' : 'L'}${x} ${y(sum, chart)}`)
    .join('');
  const { budget } = chart;
  return svg`
    <path class="area" d="${line}V${HEIGHT}H0Z" />
    <path class="line" d="${line}" />
    ${
      budget === undefined
        ? nothing
        : svg`<path class="budget" d="M0 ${y(budget, chart)}H${points.length - 1}" />`
    }
  `;
}

/** A bar is an iteration, so its drawing starts with the first one, not with the start of the run. */
function firstBar([, first]: readonly ShownPoint[]): ShownPoint | undefined {
  return first;
}

function costDrawing(chart: ShownChart, points: readonly ShownPoint[]): TemplateResult {
  const bars = points
    .slice(1)
    .map(({ cost = 0 }, x) => {
      const top = y(cost, chart);
      return `M${x + GAP} ${HEIGHT}V${top}H${x + 1 - GAP}V${HEIGHT}Z`;
    })
    .join('');
  return svg`<path class="bars" d="${bars}" />`;
}

function budgetKey(
  { budget }: { readonly budget?: number },
  strings: ProgressStrings,
): TemplateResult | typeof nothing {
  return budget === undefined
    ? nothing
    : html`
      <span class="key">
        <svg viewBox="0 0 16 2" aria-hidden="true"><path class="budget" d="M0 1H16" /></svg>
        ${strings.budget}
      </span>
    `;
}

function y(value: number, { top }: ShownChart): number {
  return Math.round((1 - Math.min(1, value / top)) * HEIGHT * 100) / 100;
}

function table({ cost, points, stories }: ShownCharts, strings: ProgressStrings): TemplateResult {
  return html`
    <table aria-label=${strings.charts}>
      <thead>
        <tr>
          <th scope="col">${strings.iterationColumn}</th>
          ${stories ? html`<th scope="col">${strings.leftColumn}</th>` : nothing}
          ${
            cost
              ? html`<th scope="col">${strings.costColumn}</th><th scope="col">${strings.sumColumn}</th>`
              : nothing
          }
        </tr>
      </thead>
      <tbody>
        ${points.map(
          ({ costWords, label, left, sumWords }) => html`
            <tr>
              <th scope="row">${label}</th>
              ${stories ? html`<td>${left ?? nothing}</td>` : nothing}
              ${cost ? html`<td>${costWords ?? nothing}</td><td>${sumWords ?? nothing}</td>` : nothing}
            </tr>
          `,
        )}
      </tbody>
    </table>
  `;
}
