import { html, svg, type TemplateResult } from 'lit';
import type { Glyph } from '../views/progress/protocol.ts';

/**
 * Icons of 16 by 16 that differ in shape, not only in color. Drawn here, so that the page needs no font. `hole` parts
 * have the page's color.
 */
const shapes: Readonly<Record<Glyph, TemplateResult>> = {
  running: svg`<circle class="track" cx="8" cy="8" r="6"/><path class="line" d="M8 2a6 6 0 0 1 6 6"/>`,
  done: svg`<circle class="disc" cx="8" cy="8" r="7"/><path class="hole" d="m4.8 8.3 2.2 2.2 4.2-4.6"/>`,
  progress: svg`<circle class="line" cx="8" cy="8" r="6"/><path class="line" d="M8 11V5M5.5 7.3 8 4.8l2.5 2.5"/>`,
  noProgress: svg`<circle class="line" cx="8" cy="8" r="6"/><path class="line" d="M5.3 8h5.4"/>`,
  failed: svg`<circle class="disc" cx="8" cy="8" r="7"/><path class="hole" d="m5.5 5.5 5 5m0-5-5 5"/>`,
  blocked: svg`<circle class="line" cx="8" cy="8" r="6"/><path class="line" d="m3.8 12.2 8.4-8.4"/>`,
  needsYou: svg`<circle class="disc" cx="8" cy="8" r="7"/><path class="hole" d="M8 4.2v4.6"/><circle class="dot" cx="8" cy="11.4" r="1"/>`,
  stopped: svg`<circle class="line" cx="8" cy="8" r="6"/><rect class="fill" x="5.6" y="5.6" width="4.8" height="4.8" rx=".6"/>`,
  waiting: svg`<circle class="line" cx="8" cy="8" r="6"/><path class="line" d="M6.4 5.8v4.4M9.6 5.8v4.4"/>`,
  interrupted: svg`<circle class="line dashed" cx="8" cy="8" r="6"/><path class="line" d="M8 4.8v4M8 11.2v.1"/>`,
};

/** An icon next to words with the same meaning. */
export function glyphIcon(glyph: Glyph): TemplateResult {
  return html`<svg class="glyph ${glyph}" viewBox="0 0 16 16" aria-hidden="true">${shapes[glyph]}</svg>`;
}
