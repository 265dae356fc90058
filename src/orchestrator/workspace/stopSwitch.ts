import { Emitter } from '../../base/emitter.ts';
import type { StopMode, StopSource } from '../journal/eventCodes.ts';

const STRENGTH: Readonly<Record<StopMode, number>> = { afterIteration: 1, end: 2, kill: 3 };

/** What was asked for, and by whom. */
export interface StopRequest {
  readonly mode: StopMode;
  readonly by: StopSource;
  /** The name of the signal that it came by. */
  readonly signal?: string;
}

/** The one place where all ways to stop a run meet. A stronger request replaces a weaker one, never back. */
export class StopSwitch {
  private current: StopMode | undefined;
  private readonly requestEmitter = new Emitter<StopRequest>();
  /** Asked for more than was asked before. */
  readonly onDidRequest = this.requestEmitter.event;
  private readonly requestController = new AbortController();
  private readonly endController = new AbortController();
  private readonly killController = new AbortController();
  /** Aborted as soon as a stop of any kind is asked for. */
  readonly requestedSignal: AbortSignal = this.requestController.signal;
  /** Aborted when the agent is to be ended. */
  readonly endSignal: AbortSignal = this.endController.signal;
  /** Aborted when the agent is to be ended with SIGKILL. */
  readonly killSignal: AbortSignal = this.killController.signal;

  get requested(): boolean {
    return this.current !== undefined;
  }

  request(mode: StopMode, by: StopSource, signal?: string): void {
    if (this.current !== undefined && STRENGTH[mode] <= STRENGTH[this.current]) {
      return;
    }
    this.current = mode;
    this.requestController.abort();
    if (mode !== 'afterIteration') {
      this.endController.abort();
    }
    if (mode === 'kill') {
      this.killController.abort();
    }
    // Told last: should a listener fail (the journal's disk is full), the agent is being ended all the same.
    this.requestEmitter.fire({ mode, by, ...(signal !== undefined && { signal }) });
  }
}
