import type { Disposable } from '../../orchestrator/emitter.ts';
import { ContextKeyValue } from '../contextKey.ts';
import { ContextKey } from '../contributions.ts';

/** In ms. VS Code makes the steps after its command is over, and waits up to five seconds for its experiments first. */
const DELAYS = [500, 1_500, 3_000, 6_000];

/** Has the walkthrough tick the steps that were fulfilled before it was opened. */
export class WalkthroughTicks implements Disposable {
  private readonly seen = new ContextKeyValue<boolean>(ContextKey.walkthroughSeen);
  private timers: NodeJS.Timeout[] = [];

  /** The steps are there: one of their buttons was used. */
  give(): void {
    this.seen.set(true);
    this.seen.set(false);
  }

  /** Nobody tells when the steps are there. */
  giveOnceShown(): void {
    this.dispose();
    this.timers = DELAYS.map(delay => setTimeout(() => this.give(), delay));
  }

  dispose(): void {
    this.timers.forEach(clearTimeout);
    this.timers = [];
  }
}
