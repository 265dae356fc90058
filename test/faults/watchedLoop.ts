import { setTimeout as delay } from 'node:timers/promises';
import type { RunEvent } from '../../src/orchestrator/journal/events.ts';
import type { Finished, RunningCli } from '../support/ralph.ts';
import { type FaultWorkspace, kill } from './faultWorkspace.ts';
import { JournalTail } from './journalTail.ts';
import { Violation } from './violation.ts';

const LOOK_MS = 2;
/** In ms: far longer than any wait takes in a run without errors. */
export const NEVER_MS = 120_000;

/** The loop that is being killed and started again, and what its journal says. */
export class WatchedLoop {
  private readonly workspace: FaultWorkspace;
  private readonly onEvent: (event: RunEvent) => void;
  private readonly tail: JournalTail;
  private loop: RunningCli | undefined;
  private end: Finished | undefined;

  /** @param onEvent called for each event of the journal, in order */
  constructor(workspace: FaultWorkspace, onEvent: (event: RunEvent) => void) {
    this.workspace = workspace;
    this.onEvent = onEvent;
    this.tail = new JournalTail(workspace.files);
  }

  /** Absent after a kill, until the next start. */
  get current(): RunningCli | undefined {
    return this.loop;
  }

  /** How the current loop has ended; absent while it runs. */
  get finished(): Finished | undefined {
    return this.end;
  }

  start(): void {
    this.follow(this.workspace.start());
  }

  /** This loop is the current one from now on. */
  follow(loop: RunningCli): void {
    this.end = undefined;
    this.loop = loop;
    void loop.finished.then(finished => {
      if (this.loop === loop) {
        this.end = finished;
      }
    });
  }

  /** The current loop has been ended from outside. */
  forget(): void {
    this.loop = undefined;
  }

  /** @returns whether it was killed; otherwise, it had just ended */
  async kill(): Promise<boolean> {
    if (this.loop === undefined) {
      return false;
    }
    kill(this.loop.pid);
    const { signal } = await this.loop.finished;
    return signal === 'SIGKILL';
  }

  /** Waits for a condition, or for the end of the loop. */
  async until(what: string, isThere: (events: RunEvent[]) => boolean): Promise<void> {
    await this.poll(what, events => isThere(events) || this.end !== undefined);
  }

  /** Waits for a condition, whether or not the loop ends. @throws {Violation} if nothing happens for very long */
  async poll(what: string, isThere: (events: RunEvent[]) => boolean): Promise<void> {
    for (let end = Date.now() + NEVER_MS; ; ) {
      const events = this.look();
      if (isThere(events)) {
        return;
      }
      if (events.length > 0) {
        end = Date.now() + NEVER_MS;
      }
      if (Date.now() > end) {
        throw new Violation(`this never came: ${what}`);
      }
      await delay(LOOK_MS);
    }
  }

  /** Reads the journal now. @returns the new events */
  look(): RunEvent[] {
    const events = this.tail.readNew();
    for (const event of events) {
      this.onEvent(event);
    }
    return events;
  }
}
