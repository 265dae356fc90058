import { EventEmitter, workspace } from 'vscode';
import { type Disposable, Emitter } from '../../orchestrator/emitter.ts';
import type { RunEvent } from '../../orchestrator/run/events.ts';
import { RunHistory } from '../../orchestrator/run/history.ts';
import { RunFiles } from '../../orchestrator/run/runFiles.ts';
import { INITIAL_RUN_STATE, type RunState } from '../../orchestrator/run/runState.ts';
import { RunWatcher, type WatchedRun } from '../../orchestrator/run/runWatcher.ts';
import { DisposableStore } from '../disposableStore.ts';
import { ralphFolder } from '../workspaceFolder.ts';

/** Events kept for views that open later; beyond it the agents' older words and tool calls go. */
const MAX_EVENTS = 20_000;

/** Keeps what iterations came to, and of what agents said the newer half. */
function withoutOldChatter(events: readonly RunEvent[]): RunEvent[] {
  const old = events.length - MAX_EVENTS / 2;
  return events.filter(
    ({ type }, index) => index >= old || !type.startsWith('agent.') || type === 'agent.ended',
  );
}

/** The workspace's newest run, followed while anybody looks; all views see the same one. */
export class RunModel implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changeEmitter = this.store.add(new EventEmitter<WatchedRun>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly eventsEmitter = this.store.add(new Emitter<readonly RunEvent[]>());
  readonly onDidReadEvents = this.eventsEmitter.event;
  private readonly onError: (error: Error) => void;

  private watcher: RunWatcher | undefined;
  private history: RunHistory | undefined;
  /** Runs before the watched one, oldest first. */
  private earlier: readonly RunState[] = [];
  private earlierThan: string | undefined;
  private recent: { readonly runId: string; readonly events: RunEvent[] } | undefined;

  constructor(onError: (error: Error) => void) {
    this.onError = onError;
    this.store.add(workspace.onDidChangeWorkspaceFolders(() => this.follow()));
    this.follow();
  }

  get files(): RunFiles | undefined {
    const folder = ralphFolder();
    return folder === undefined ? undefined : new RunFiles(folder);
  }

  get current(): WatchedRun {
    return this.watcher?.current ?? { state: INITIAL_RUN_STATE, alive: false };
  }

  /** States of all runs, oldest first, the newest last. */
  get states(): readonly RunState[] {
    return [...this.earlier, this.current.state];
  }

  /** All events so far of the newest run. */
  get events(): readonly RunEvent[] {
    return this.recent?.events ?? [];
  }

  /** Looks at the files now; resolves when what is there has been told. */
  async refresh(): Promise<void> {
    await this.watcher?.look();
  }

  dispose(): void {
    this.watcher?.dispose();
    this.store.dispose();
  }

  private follow(): void {
    this.watcher?.dispose();
    this.watcher = undefined;
    this.history = undefined;
    this.earlier = [];
    this.earlierThan = undefined;
    this.recent = undefined;
    const { files } = this;
    if (!files) {
      this.changeEmitter.fire(this.current);
      return;
    }
    const watcher = new RunWatcher(files);
    this.watcher = watcher;
    this.history = new RunHistory(files);
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
    const { history } = this;
    if (history === undefined || runId === undefined || this.earlierThan === runId) {
      return;
    }
    this.earlierThan = runId;
    try {
      const earlier = await history.read(runId);
      if (this.history === history && this.earlierThan === runId && earlier.length > 0) {
        this.earlier = earlier;
        this.changeEmitter.fire(this.current);
      }
    } catch (error) {
      this.onError(error as Error);
    }
  }
}
