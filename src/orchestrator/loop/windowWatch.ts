import { type Disposable, Emitter } from '../../base/emitter.ts';
import { isRunning } from '../process/processIdentity.ts';
import {
  areClosed,
  noWindows,
  type OpenWindow,
  type Windows,
  withHello,
  withoutWindows,
} from '../workspace/openWindows.ts';

/** How long a window may be closed for a reload, in ms. */
export const WINDOW_GRACE_MS = 60_000;
/** Interval between two checks of the windows' processes, in ms; not longer than the grace period. */
const LOOK_MS = 5_000;

/** Reports when the last window that shows the run is closed and does not come back. */
export class WindowWatch implements Disposable {
  private readonly graceMs: number;
  private windows: Windows;
  private readonly timer: NodeJS.Timeout;
  private readonly closedEmitter = new Emitter<void>();
  /** Fired once. */
  readonly onDidClose = this.closedEmitter.event;

  /** @param graceMs how long there may be no window, in ms */
  constructor(graceMs: number) {
    this.graceMs = graceMs;
    // The window that started the run has the usual time for its first hello, however short the grace period is.
    this.windows = noWindows(Date.now() + Math.max(0, WINDOW_GRACE_MS - graceMs));
    this.timer = setInterval(() => void this.look(), Math.min(LOOK_MS, Math.max(1, graceMs)));
    // The timer must not keep the loop alive.
    this.timer.unref();
  }

  hello(window: OpenWindow): void {
    this.windows = withHello(this.windows, window);
  }

  goodbye(id: string): void {
    this.windows = withoutWindows(this.windows, new Set([id]), Date.now());
  }

  dispose(): void {
    clearInterval(this.timer);
    this.closedEmitter.dispose();
  }

  /** A window that crashed does not say goodbye. */
  private async look(): Promise<void> {
    const dead = new Set<string>();
    for (const { id, process } of this.windows.open) {
      if (process !== undefined && !(await isRunning(process))) {
        dead.add(id);
      }
    }
    const now = Date.now();
    if (dead.size > 0) {
      this.windows = withoutWindows(this.windows, dead, now);
    }
    if (areClosed(this.windows, now, this.graceMs)) {
      clearInterval(this.timer);
      this.closedEmitter.fire();
    }
  }
}
