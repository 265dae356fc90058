import { Emitter } from '../../base/emitter.ts';
import type { StopMode, StopSource } from '../journal/eventCodes.ts';

const STRENGTH: Readonly<Record<StopMode, number>> = { afterIteration: 1, end: 2, kill: 3 };

/** Whether a stop that was requested makes another one needless. */
export function isStopEnough(requested: StopMode | undefined, mode: StopMode): boolean {
  return requested !== undefined && STRENGTH[mode] <= STRENGTH[requested];
}

/** A request to stop, and who made it. */
export interface StopRequest {
  readonly mode: StopMode;
  readonly by: StopSource;
  /** The name of the signal, if it came by one. */
  readonly signal?: string;
}

/** Collects all requests to stop a run. A stronger request replaces a weaker one, but not the other way round. */
export class StopSwitch {
  private current: StopRequest | undefined;
  private readonly requestEmitter = new Emitter<StopRequest>();
  /** Fired if a request is stronger than the previous ones. */
  readonly onDidRequest = this.requestEmitter.event;
  private readonly requestController = new AbortController();
  private readonly endController = new AbortController();
  private readonly killController = new AbortController();
  /** Aborted as soon as any kind of stop is requested. */
  readonly requestedSignal: AbortSignal = this.requestController.signal;
  /** Aborted when the agent must be ended. */
  readonly endSignal: AbortSignal = this.endController.signal;
  /** Aborted when the agent must be ended with SIGKILL. */
  readonly killSignal: AbortSignal = this.killController.signal;

  /** The strongest request so far. */
  get strongest(): StopRequest | undefined {
    return this.current;
  }

  get requested(): boolean {
    return this.current !== undefined;
  }

  request(mode: StopMode, by: StopSource, signal?: string): void {
    if (isStopEnough(this.current?.mode, mode)) {
      return;
    }
    this.current = { mode, by, signal };
    this.requestController.abort();
    if (mode !== 'afterIteration') {
      this.endController.abort();
    }
    if (mode === 'kill') {
      this.killController.abort();
    }
    // Fired last: if a listener fails (the journal's disk is full), the agent is already being ended.
    this.requestEmitter.fire(this.current);
  }
}
