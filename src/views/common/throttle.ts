import type { Disposable } from '../../base/emitter.ts';

/** Acts once for many calls within a short time: an agent can emit hundreds of messages a second. */
export class Throttle implements Disposable {
  private readonly act: () => void;
  private readonly delayMs: number;
  private timer: NodeJS.Timeout | undefined;

  /** @param delayMs time from the first call until it acts */
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

  /** Drops a pending call. */
  dispose(): void {
    clearTimeout(this.timer);
    this.timer = undefined;
  }
}
