import type { Disposable } from '../base/emitter.ts';

/** Does something once for many calls in a short time: an agent can say hundreds of things a second. */
export class Soon implements Disposable {
  private readonly act: () => void;
  private readonly delayMs: number;
  private timer: NodeJS.Timeout | undefined;

  /** @param delayMs from the first call until it is done */
  constructor(act: () => void, delayMs: number) {
    this.act = act;
    this.delayMs = delayMs;
  }

  call(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      this.act();
    }, this.delayMs);
  }

  /** What was called for and not done yet is not done any more. */
  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
