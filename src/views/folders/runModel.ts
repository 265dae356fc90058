import { EventEmitter } from 'vscode';
import { Emitter } from '../../base/emitter.ts';
import { isChatter } from '../../orchestrator/journal/chatter.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import type { RunState } from '../../orchestrator/journal/runState.ts';
import { RunHistory } from '../../orchestrator/workspace/history.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import { RunWatcher, type WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { Owner } from '../common/disposableStore.ts';

/**
 * Maximum number of events kept for views that open later; above it, agents' older messages and tool calls are
 * dropped.
 */
const MAX_EVENTS = 20_000;

/** Keeps what happened, and the newer half of the agents' messages. */
function withoutOldChatter(events: readonly RunEvent[]): RunEvent[] {
  const old = events.length - MAX_EVENTS / 2;
  return events.filter((event, index) => index >= old || !isChatter(event));
}

/** A folder's newest run, shared by all views. */
export class RunModel extends Owner {
  private readonly changeEmitter = this.own(new EventEmitter<WatchedRun>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly eventsEmitter = this.own(new Emitter<readonly RunEvent[]>());
  readonly onDidReadEvents = this.eventsEmitter.event;
  private readonly onError: (error: Error) => void;

  readonly files: RunFiles;
  private readonly watcher: RunWatcher;
  private readonly history: RunHistory;
  /** Runs before the watched one, oldest first. */
  private earlier: readonly RunState[] = [];
  private earlierThan: string | undefined;
  private recent: { readonly runId: string; readonly events: RunEvent[] } | undefined;

  constructor(files: RunFiles, onError: (error: Error) => void) {
    super();
    this.files = files;
    this.onError = onError;
    this.watcher = new RunWatcher(files);
    this.history = new RunHistory(files);
    this.follow();
  }

  get current(): WatchedRun {
    return this.watcher.current;
  }

  /** States of all runs, oldest first, the newest last. */
  get states(): readonly RunState[] {
    return [...this.earlier, this.current.state];
  }

  /** All events of the newest run so far. */
  get events(): readonly RunEvent[] {
    return this.recent?.events ?? [];
  }

  /** Reads the files now; resolves after their changes have been reported. */
  async refresh(): Promise<void> {
    await this.watcher.look();
  }

  override dispose(): void {
    this.watcher.dispose();
    super.dispose();
  }

  private follow(): void {
    const { watcher } = this;
    watcher.onError(this.onError);
    watcher.onDidReadEvents(({ runId, events }) => {
      if (this.recent?.runId === runId) {
        for (const event of events) {
          this.recent.events.push(event);
        }
      } else {
        this.recent = { runId, events: [...events] };
      }
      if (this.recent.events.length > MAX_EVENTS) {
        this.recent = { runId, events: withoutOldChatter(this.recent.events) };
      }
      this.eventsEmitter.fire(events);
    });
    watcher.onDidChange(run => {
      this.changeEmitter.fire(run);
      void this.readEarlier(run.runId);
    });
    void watcher.start();
  }

  private async readEarlier(runId: string | undefined): Promise<void> {
    if (runId === undefined || this.earlierThan === runId) {
      return;
    }
    this.earlierThan = runId;
    try {
      const earlier = await this.history.read(runId);
      // An empty history replaces one whose runs were deleted.
      if (this.earlierThan === runId && earlier.length + this.earlier.length > 0) {
        this.earlier = earlier;
        this.changeEmitter.fire(this.current);
      }
    } catch (error) {
      this.onError(error as Error);
    }
  }
}
