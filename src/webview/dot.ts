import { html } from 'lit';

/** Separates two facts in a line: visible as a dot, read as a pause. */
export const dot = html`<span class="dot"><span class="only-heard">,</span></span>`;
