import { Emitter } from '../../base/emitter.ts';
import { withoutUndefined } from '../../base/withoutUndefined.ts';
import type { RunEvent, RunEventBody } from './events.ts';
import type { Journal } from './journal.ts';

/** Publishes events without storing them: for a dry run, which leaves no trace, and for calls without a run. */
export class UnstoredJournal implements Journal {
  private readonly appendEmitter = new Emitter<RunEvent>();
  readonly onDidAppend = this.appendEmitter.event;
  private seq: number;

  /** @param seq number of the last event so far */
  constructor(seq = 0) {
    this.seq = seq;
  }

  append(body: RunEventBody): RunEvent {
    this.seq += 1;
    const event = {
      seq: this.seq,
      at: new Date().toISOString(),
      ...withoutUndefined(body),
    } as RunEvent;
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
