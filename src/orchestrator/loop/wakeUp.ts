/** Lets one waiter continue when something has happened, also if that was before it waited. */
export class WakeUp {
  private readonly longestMs: number;
  private wake: (() => void) | undefined;
  private hasChanged = false;

  /** @param longestMs a wait ends after this time in any case */
  constructor(longestMs: number) {
    this.longestMs = longestMs;
  }

  /** Something has happened. */
  call(): void {
    this.hasChanged = true;
    this.wake?.();
  }

  /** Waits until something has happened since the last wait. */
  async wait(): Promise<void> {
    if (!this.hasChanged) {
      await new Promise<void>(resolve => {
        const timer = setTimeout(resolve, this.longestMs);
        this.wake = () => {
          clearTimeout(timer);
          resolve();
        };
      });
    }
    this.wake = undefined;
    this.hasChanged = false;
  }
}
