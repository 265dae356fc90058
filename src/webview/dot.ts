import { html } from 'lit';

/** Stands between two facts of a line: a dot to be seen, a pause to be heard. */
export const dot = html`<span class="dot"><span class="only-heard">,</span></span>`;
