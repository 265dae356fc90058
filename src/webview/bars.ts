import { html, nothing, svg, type TemplateResult } from 'lit';
import type { BarLook, ShownBar } from '../views/progress/laneProtocol.ts';

/** Height of a bar, in pixels. */
const HEIGHT = 22;
/** Widths of the whole chart, in pixels, from which on a label is shown; the style sheet knows the same ones. */
const WIDTHS = [240, 420, 640, 900] as const;
/** Width of a character and of what stands around a label, in pixels, with some room to spare. */
const CHARACTER = 8;
const AROUND = 26;
/** A sign of 12 by 12, at the beginning of a bar. */
const SIGN = 16;

/** Patterns that tell looks apart without color. In the document once, for all charts. */
export const barPatterns = html`
  <svg class="patterns" aria-hidden="true">
    <defs>
      <pattern id="stripes" width="6" height="6" patternUnits="userSpaceOnUse" patternTransform="rotate(45)">
        <path d="M1 0V6" />
      </pattern>
      <pattern id="dots" width="5" height="5" patternUnits="userSpaceOnUse">
        <circle cx="1.5" cy="1.5" r="1" />
      </pattern>
    </defs>
  </svg>
`;

const SIGNS: Readonly<Partial<Record<BarLook, TemplateResult>>> = {
  landed: svg`<path d="m2.5 6.5 2.5 2.5 4.5-5.5"/>`,
  returned: svg`<path d="M5 2 2 5l3 3M2 5h5.5a2.5 2.5 0 0 1 0 5H6"/>`,
  open: svg`<path d="M3 3l6 6M9 3l-6 6"/>`,
  queued: svg`<path d="M4 3v6M8 3v6"/>`,
  working: svg`<path d="M4 2.5 9 6 4 9.5Z"/>`,
};

/**
 * A bar, and the line of what waited after it.
 * @param key distinguishes it from those of all rows
 * @param isReachable the Tab key reaches it
 */
export function barDrawing(
  { at, label, length, limits = [], look, wait = 0, words }: ShownBar,
  key: string,
  isReachable: boolean,
): TemplateResult {
  return svg`
    ${wait > 0 ? svg`<line class="wait" x1="${at + length}%" x2="${at + length + wait}%" y1="12" y2="12" />` : nothing}
    <svg
      class="bar ${look}"
      data-bar=${key}
      role="img"
      aria-label=${words}
      tabindex=${isReachable ? '0' : '-1'}
      x="${at}%"
      y="1"
      width="${Math.max(length, 0.3)}%"
      height=${HEIGHT}
    >
      ${shapes(look)}
      <svg class="sign from-${widthFor(SIGN, length)}" x="4" y="5" width="12" height="12" viewBox="0 0 12 12">${SIGNS[look]}</svg>
      <text class="from-${widthFor(label.length * CHARACTER + AROUND, length)}" x=${SIGNS[look] ? 20 : 7} y="15.5">${label}</text>
    </svg>
    ${limits.map(
      limit =>
        svg`<rect class="limit" x="${limit.at}%" y="1" width="${limit.length}%" height=${HEIGHT} />`,
    )}
  `;
}

/** A small bar for the key. */
export function keySwatch(look: BarLook): TemplateResult {
  return html`
    <svg class="bar key-swatch ${look}" width="22" height="14">
      ${shapes(look)}
      <svg class="sign" x="5" y="1" width="12" height="12" viewBox="0 0 12 12">${SIGNS[look]}</svg>
    </svg>
  `;
}

/** The ground, its pattern, and the edge at the beginning. */
function shapes(look: BarLook): TemplateResult {
  return svg`
    <rect class="ground" x="0.5" y="0.5" width="100%" height="100%" rx="2" />
    ${look === 'limit' ? svg`<rect class="limit" width="100%" height="100%" />` : nothing}
    <rect class="edge" width="3" height="100%" />
    <rect class="frame" x="0.5" y="0.5" width="100%" height="100%" rx="2" />
  `;
}

/** The width of the chart from which on something has room in a bar; 0 if no chart is that wide. */
function widthFor(pixels: number, length: number): number {
  const needed = length === 0 ? Number.POSITIVE_INFINITY : pixels / (length / 100);
  return WIDTHS.find(width => width >= needed) ?? 0;
}
