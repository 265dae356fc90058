import { Emitter } from '../../base/emitter.ts';
import type { RunEvent, RunEventBody } from './events.ts';
import { applyEvent } from './foldRun.ts';
import { type Journal, newEvent } from './journal.ts';
import { INITIAL_RUN_STATE, type RunState } from './runState.ts';

/** Publishes events without storing them: for a dry run, which leaves no trace, and for calls without a run. */
export class UnstoredJournal implements Journal {
  private readonly appendEmitter = new Emitter<RunEvent>();
  readonly onDidAppend = this.appendEmitter.event;
  private folded: RunState;

  /** @param earlier the state before the first of its events */
  constructor(earlier = INITIAL_RUN_STATE) {
    this.folded = earlier;
  }

  get state(): RunState {
    return this.folded;
  }

  append(body: RunEventBody, iteration?: number): RunEvent {
    const event = newEvent(this.folded.lastSeq + 1, body, iteration);
    this.folded = applyEvent(this.folded, event);
    this.appendEmitter.fire(event);
    return event;
  }

  sync(): void {
    // There is no file.
  }

  async syncInParallel(): Promise<void> {
    this.sync();
  }

  isInPlace(): boolean {
    return true;
  }

  restore(): void {
    // There is no file.
  }
}
