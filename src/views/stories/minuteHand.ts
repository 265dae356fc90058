import type { Disposable } from '../../base/emitter.ts';
import { minutesSince } from '../../presentation/workWords.ts';
import type { StoryNode } from './storyTree.ts';

const MINUTE_MS = 60_000;

/** Draws those lines anew whose minutes have advanced, and only while somebody can see them. */
export class MinuteHand implements Disposable {
  private readonly lines: () => readonly StoryNode[];
  private readonly redraw: (lines: readonly StoryNode[]) => void;
  private timer: NodeJS.Timeout | undefined;
  /** When the minutes were drawn, in ms since the epoch. */
  private drawnAt = Date.now();

  /** @param lines all visible lines; those of agents in lanes have minutes */
  constructor(lines: () => readonly StoryNode[], redraw: (lines: readonly StoryNode[]) => void) {
    this.lines = lines;
    this.redraw = redraw;
  }

  /** The lines have changed, or can be seen now, or cannot be seen any more. */
  follow(isVisible: boolean): void {
    clearTimeout(this.timer);
    this.timer = undefined;
    const beginnings = isVisible ? this.lines().flatMap(sinceOf) : [];
    if (beginnings.length === 0) {
      return;
    }
    const now = Date.now();
    this.draw(now);
    const waits = beginnings.map(since => MINUTE_MS - positive((now - since) % MINUTE_MS));
    this.timer = setTimeout(() => this.follow(true), Math.min(...waits));
  }

  dispose(): void {
    clearTimeout(this.timer);
  }

  private draw(now: number): void {
    const aged = this.lines().filter(line => {
      const { state } = line;
      const since = state.kind === 'running' ? state.agent?.since : undefined;
      return since !== undefined && minutesSince(since, now) !== minutesSince(since, this.drawnAt);
    });
    this.drawnAt = now;
    if (aged.length > 0) {
      this.redraw(aged);
    }
  }
}

function sinceOf({ state }: StoryNode): number[] {
  const since = state.kind === 'running' ? Date.parse(state.agent?.since ?? '') : Number.NaN;
  return Number.isNaN(since) ? [] : [since];
}

/** A clock that was set back leads to a negative remainder. */
function positive(remainder: number): number {
  return remainder < 0 ? remainder + MINUTE_MS : remainder;
}
