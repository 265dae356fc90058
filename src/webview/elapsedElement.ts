import { html, LitElement, type PropertyValues } from 'lit';
import type { ProgressStrings } from '../views/progress/protocol.ts';
import { durationWords } from './words.ts';

const SECOND_MS = 1_000;

/**
 * `<ralph-elapsed>`: the time since a moment in the past, or until one in the future. It redraws only itself, once a
 * second.
 */
export class ElapsedElement extends LitElement {
  static override properties = {
    since: { attribute: false },
    until: { attribute: false },
    clockOffset: { attribute: false },
    strings: { attribute: false },
  };

  /** ISO time by the extension's clock. */
  declare since: string | undefined;
  /** ISO time of a future moment; shown instead of `since`. */
  declare until: string | undefined;
  /** Difference between the extension's clock and this page's, in ms. */
  declare clockOffset: number;
  declare strings: ProgressStrings | undefined;
  private timer: number | undefined;

  constructor() {
    super();
    this.clockOffset = 0;
  }

  override connectedCallback(): void {
    super.connectedCallback();
    this.requestUpdate();
  }

  override disconnectedCallback(): void {
    super.disconnectedCallback();
    clearTimeout(this.timer);
  }

  protected override createRenderRoot(): HTMLElement {
    return this;
  }

  protected override render(): unknown {
    return this.strings ? html`${durationWords(this.shownMs(), this.strings)}` : undefined;
  }

  protected override updated(_changed: PropertyValues): void {
    clearTimeout(this.timer);
    if (this.isConnected) {
      // Until the next full second, so that none is shown twice or skipped.
      const part = this.shownMs() % SECOND_MS;
      const rest = this.until === undefined ? SECOND_MS - part : part + 1;
      this.timer = setTimeout(() => this.requestUpdate(), rest);
    }
  }

  private shownMs(): number {
    const now = Date.now() + this.clockOffset;
    const ms =
      this.until === undefined ? now - Date.parse(this.since ?? '') : Date.parse(this.until) - now;
    // An invalid time, or a clock that was set back.
    return Number.isFinite(ms) && ms > 0 ? ms : 0;
  }
}

customElements.define('ralph-elapsed', ElapsedElement);
