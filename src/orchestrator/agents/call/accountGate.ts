/** Rejections of the account one after the other, without a call that ended well, before fewer agents work. */
const PATIENCE = 2;
/** Kinds of errors that say that the account gets too many requests at once. */
const TOO_MANY: ReadonlySet<string> = new Set(['rateLimit', 'overloaded']);

/**
 * How many agents one account bears at once. If it rejects requests again and again, half as many agents start; each
 * call that ends well lets one more work, up to the number that the person wants.
 */
export class AccountGate {
  private most: number | undefined;
  private rejections = 0;

  /** Number of agents that may work at once. @param wanted what the person wants */
  lanes(wanted: number): number {
    return Math.min(wanted, this.most ?? wanted);
  }

  /**
   * A call was rejected, and is repeated after a while.
   * @param kind of the error
   * @param atWork agents that work now
   * @returns how many may work from now on, if they are fewer
   */
  rejected(kind: string, atWork: number): number | undefined {
    if (!TOO_MANY.has(kind)) {
      return undefined;
    }
    this.rejections += 1;
    if (this.rejections < PATIENCE) {
      return undefined;
    }
    this.rejections = 0;
    const before = Math.min(this.most ?? atWork, Math.max(1, atWork));
    const most = Math.max(1, Math.floor(before / 2));
    const isFewer = most < (this.most ?? atWork);
    this.most = most;
    return isFewer ? most : undefined;
  }

  /** A call has ended well. @param wanted what the person wants */
  passed(wanted: number): void {
    this.rejections = 0;
    this.most = this.most === undefined || this.most + 1 >= wanted ? undefined : this.most + 1;
  }
}
