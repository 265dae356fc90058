import { html, nothing, svg, type TemplateResult } from 'lit';
import type { ProgressStrings, ShownMeasures } from '../views/progress/protocol.ts';

const HEIGHT = 20;

/** How well agents were led, compared with earlier runs. */
export function measures(
  { hasEarlier, order, rows }: ShownMeasures,
  strings: ProgressStrings,
): TemplateResult {
  return html`
    <div class="scrolled-measures">
      <table class="measures" aria-label=${strings.measures}>
        <thead>
          <tr>
            <th scope="col"><span class="only-heard">${strings.measureColumn}</span></th>
            <th scope="col">${strings.nowColumn}</th>
            ${hasEarlier ? html`<th scope="col">${strings.beforeColumn}</th>` : nothing}
            <th scope="col">${strings.goalColumn}</th>
            ${hasEarlier ? html`<th scope="col" aria-hidden="true">${strings.trendColumn}</th>` : nothing}
          </tr>
        </thead>
        <tbody>
          ${rows.map(
            ({ before, goal, now, title, trend }) => html`
              <tr>
                <th scope="row">${title}</th>
                <td>${now}</td>
                ${hasEarlier ? html`<td>${before}</td>` : nothing}
                <td class="goal">${goal}</td>
                ${hasEarlier ? html`<td aria-hidden="true">${trend.length === 0 ? nothing : line(trend)}</td>` : nothing}
              </tr>
            `,
          )}
        </tbody>
      </table>
    </div>
    ${order.split('\n').map(text => html`<p class="quiet"><bdi>${text}</bdi></p>`)}
  `;
}

/** Hidden from screen readers: it shows nothing that they need. */
function line(trend: readonly number[]): TemplateResult {
  const last = trend.length - 1;
  const points = trend.map((value, at) => `${at},${(1 - value) * HEIGHT}`).join(' ');
  return html`
    <svg class="trend" viewBox="0 -1 ${last} ${HEIGHT + 2}" preserveAspectRatio="none">
      ${svg`<polyline points=${points} />`}
    </svg>
  `;
}
