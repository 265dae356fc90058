import { EventEmitter } from 'vscode';
import { Emitter } from '../../base/emitter.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { INITIAL_RUN_STATE, type RunState } from '../../orchestrator/journal/runState.ts';
import type { RunHistory } from '../../orchestrator/workspace/history.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import type { RunWatcher, WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { Owner } from '../common/disposableStore.ts';
import { KeptEvents } from './keptEvents.ts';

/** Before the files were looked at. */
const NO_RUN: WatchedRun = { state: INITIAL_RUN_STATE, alive: false };

/** A folder's newest run, shared by all views. */
export class RunModel extends Owner {
  private readonly changeEmitter = this.own(new EventEmitter<WatchedRun>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly eventsEmitter = this.own(new Emitter<readonly RunEvent[]>());
  readonly onDidReadEvents = this.eventsEmitter.event;
  private readonly onError: (error: Error) => void;

  readonly files: RunFiles;
  /** Absent until its code is loaded, which the start of a window does not wait for. */
  private watcher: RunWatcher | undefined;
  private readonly watching: Promise<void>;
  private history: RunHistory | undefined;
  /** Runs before the watched one, oldest first. */
  private earlier: readonly RunState[] = [];
  private earlierThan: string | undefined;
  private recent: KeptEvents | undefined;

  constructor(files: RunFiles, onError: (error: Error) => void) {
    super();
    this.files = files;
    this.onError = onError;
    this.watching = this.watch().catch(onError);
  }

  get current(): WatchedRun {
    return this.watcher?.current ?? NO_RUN;
  }

  /** States of all runs, oldest first, the newest last. */
  get states(): readonly RunState[] {
    return [...this.earlier, this.current.state];
  }

  /** The events of the newest run so far; of a long one, older chatter of agents is missing. */
  get events(): readonly RunEvent[] {
    return this.recent?.all ?? [];
  }

  /** `seq` of the last of them that is missing; 0 if none is. */
  get droppedUpTo(): number {
    return this.recent?.droppedUpTo ?? 0;
  }

  /** Reads the files now; resolves after their changes have been reported. */
  async refresh(): Promise<void> {
    await this.watching;
    await this.watcher?.look();
  }

  private async watch(): Promise<void> {
    // Node finds and reads the files of an `import()` before it returns, and the activation would wait for that.
    await new Promise(resolve => setImmediate(resolve));
    const { RunWatcher } = await import('../../orchestrator/workspace/runWatcher.ts');
    const watcher = this.own(new RunWatcher(this.files));
    this.watcher = watcher;
    watcher.onError(this.onError);
    watcher.onDidReadEvents(({ runId, events }) => {
      if (this.recent?.runId !== runId) {
        this.recent = new KeptEvents(runId);
      }
      this.recent.add(events);
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
      const { RunHistory } = await import('../../orchestrator/workspace/history.ts');
      this.history ??= new RunHistory(this.files);
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
