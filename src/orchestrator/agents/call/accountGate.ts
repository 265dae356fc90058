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
  private readonly rejected = new Set<number>();
  private rejections = 0;
  /** Calls that began when more were allowed: their next rejection says nothing about the new number. */
  private pardoned = new Set<number>();

  /** Number of agents that may work at once. @param wanted what the person wants */
  lanes(wanted: number): number {
    return Math.min(wanted, this.most ?? wanted);
  }

  /**
   * A call was rejected, and is repeated after a while.
   * @param kind of the error
   * @param call the iteration whose call it is
   * @param atWork iterations whose agents work now
   * @returns how many may work from now on, if they are fewer
   */
  reject(kind: string, call: number, atWork: Iterable<number>): number | undefined {
    if (!TOO_MANY.has(kind) || this.pardoned.delete(call)) {
      return undefined;
    }
    this.rejections += 1;
    this.rejected.add(call);
    if (this.rejections < PATIENCE) {
      return undefined;
    }
    // A reviewer's call counts, too, although no agent works for its iteration.
    const calls = new Set([...atWork, call]);
    const before = Math.min(this.most ?? calls.size, calls.size);
    this.pardoned = new Set([...calls].filter(other => !this.rejected.has(other)));
    this.forgetRejections();
    if (before < 2) {
      return undefined;
    }
    this.most = Math.floor(before / 2);
    return this.most;
  }

  /** A call has ended well. @param wanted what the person wants */
  pass(wanted: number): void {
    this.forgetRejections();
    this.most = this.most === undefined || this.most + 1 >= wanted ? undefined : this.most + 1;
  }

  private forgetRejections(): void {
    this.rejections = 0;
    this.rejected.clear();
  }
}
