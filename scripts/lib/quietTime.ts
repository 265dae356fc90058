/** The time since the last sign of activity. The clock stops while the machine sleeps. */
export class QuietTime {
  private readonly limitMs: number;
  private readonly now: () => number;
  private since: number;

  constructor(limitMs: number, now: () => number = () => performance.now()) {
    this.limitMs = limitMs;
    this.now = now;
    this.since = now();
  }

  /** Resets the clock after a sign of activity. */
  end(): void {
    this.since = this.now();
  }

  isTooLong(): boolean {
    return this.now() - this.since > this.limitMs;
  }
}
