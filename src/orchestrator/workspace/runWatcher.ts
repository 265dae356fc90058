import { type FSWatcher, statSync, watch } from 'node:fs';
import path from 'node:path';
import { type Disposable, Emitter } from '../../base/emitter.ts';
import type { RunEvent } from '../journal/events.ts';
import { Folding } from '../journal/foldRun.ts';
import { JournalReader } from '../journal/journal.ts';
import { INITIAL_RUN_STATE, type RunState } from '../journal/runState.ts';
import { isItsLoopRunning } from './livingRun.ts';
import { readRun } from './runCheckpoint.ts';
import type { RunFiles } from './runFiles.ts';
import { newestRunId } from './runIds.ts';
import { livingLockOwner } from './runLock.ts';

/**
 * In ms. File events can be lost, and a killed loop causes none, so the files are also polled while a run is
 * active.
 */
const POLL_MS = 1_000;
/** In ms; while no run is active. A folder may get its content before it is watched. */
const IDLE_POLL_MS = 5_000;

/** Events per notification; a journal may have millions. */
const MAX_BATCH = 5_000;

/** A run as a watcher sees it. */
export interface WatchedRun {
  /** Absent before the workspace's first run. */
  readonly runId?: string;
  readonly state: RunState;
  /** The loop's process is running. A run that has neither ended nor is alive was killed. */
  readonly alive: boolean;
}

/** The newest run of a workspace, read once. */
export async function newestRun(files: RunFiles): Promise<WatchedRun> {
  // Before reading the journal: a loop found dead afterwards may have written its end in between.
  const owner = await livingLockOwner(files);
  const runId = owner?.runId ?? (await newestRunId(files));
  if (runId === undefined) {
    return { state: INITIAL_RUN_STATE, alive: false };
  }
  const state = await readRun(files, runId);
  return {
    runId,
    state,
    alive: owner?.runId === runId || (await isItsLoopRunning(state)),
  };
}

/**
 * Follows the newest run of a workspace through its files, in every window and command line alike. Any number of
 * them may watch; the loop knows none of them.
 */
export class RunWatcher implements Disposable {
  private readonly files: RunFiles;
  private readonly changeEmitter = new Emitter<WatchedRun>();
  readonly onDidChange = this.changeEmitter.event;
  private readonly eventsEmitter = new Emitter<{ runId: string; events: readonly RunEvent[] }>();
  /** Events of the newest run, in order, starting with its first one; a long journal is delivered in parts. */
  readonly onDidReadEvents = this.eventsEmitter.event;
  private readonly errorEmitter = new Emitter<Error>();
  readonly onError = this.errorEmitter.event;

  private watched: WatchedRun = { state: INITIAL_RUN_STATE, alive: false };
  private reader: JournalReader | undefined;
  private hasLooked = false;
  private looking: Promise<void> = Promise.resolve();
  private lookPending = false;
  private timer: NodeJS.Timeout | undefined;
  private readonly dirWatchers = new Map<string, { identity: string; watcher: FSWatcher }>();
  private disposed = false;

  constructor(files: RunFiles) {
    this.files = files;
  }

  get current(): WatchedRun {
    return this.watched;
  }

  /** Starts watching; resolves after the first look. */
  start(): Promise<void> {
    return this.look();
  }

  /**
   * Looks now; resolves when everything that is there has been reported. Calls made while another call waits share
   * one look.
   */
  look(): Promise<void> {
    if (!this.lookPending) {
      this.lookPending = true;
      this.looking = this.looking.then(async () => {
        this.lookPending = false;
        if (this.disposed) {
          return;
        }
        try {
          await this.lookOnce();
        } catch (error) {
          this.errorEmitter.fire(error as Error);
        }
        this.schedule();
      });
    }
    return this.looking;
  }

  dispose(): void {
    this.disposed = true;
    clearTimeout(this.timer);
    for (const { watcher } of this.dirWatchers.values()) {
      watcher.close();
    }
    this.dirWatchers.clear();
    this.changeEmitter.dispose();
    this.eventsEmitter.dispose();
    this.errorEmitter.dispose();
  }

  private async lookOnce(): Promise<void> {
    // Before anything is read: what is written into a new folder while nobody watches it would stay unseen.
    this.watchDirs(this.watched.runId);
    // Before reading the journal: a loop found dead afterwards may have written its end in between.
    const owner = await livingLockOwner(this.files);
    const runId = owner?.runId ?? (await newestRunId(this.files));
    if (this.disposed) {
      // Nobody would close a watcher opened after this point, and it would keep the process alive.
      return;
    }
    const isOther = runId !== this.watched.runId || !this.hasLooked;
    this.hasLooked = true;
    if (runId !== this.watched.runId) {
      this.reader =
        runId === undefined ? undefined : new JournalReader(this.files.journalFile(runId));
      this.watched = {
        runId,
        state: INITIAL_RUN_STATE,
        alive: false,
      };
      this.watchDirs(runId);
    }
    const before = this.watched;
    let folding = new Folding(before.state);
    let events: RunEvent[] = [];
    let hasRead = false;
    const tell = () => {
      if (runId !== undefined && events.length > 0 && !this.disposed) {
        const { state } = folding;
        this.watched = { ...this.watched, state };
        this.eventsEmitter.fire({ runId, events });
        // From here on, others have this state.
        folding = new Folding(state);
      }
      events = [];
    };
    await this.reader?.readNew(event => {
      folding.apply(event);
      events.push(event);
      hasRead = true;
      if (events.length >= MAX_BATCH) {
        tell();
      }
    });
    if (this.disposed) {
      return;
    }
    const { state } = folding;
    const alive = (owner !== undefined && owner.runId === runId) || (await isItsLoopRunning(state));
    if (this.disposed) {
      return;
    }
    this.watched = { ...before, state, alive };
    tell();
    if (hasRead || before.alive !== alive || isOther) {
      this.changeEmitter.fire(this.watched);
    }
  }

  private schedule(): void {
    clearTimeout(this.timer);
    if (!this.disposed) {
      const isUrgent = this.watched.alive || this.dirWatchers.size === 0;
      this.timer = setTimeout(() => void this.look(), isUrgent ? POLL_MS : IDLE_POLL_MS);
    }
  }

  /** Watches the folders of runs; if they do not exist, the nearest existing parent. */
  private watchDirs(runId: string | undefined): void {
    const { workspace, stateDir, runsDir } = this.files;
    const identities = new Map<string, string>();
    for (const dir of [stateDir, runsDir, ...(runId ? [this.files.runDir(runId)] : [])]) {
      const identity = identityOf(dir);
      if (identity !== undefined) {
        identities.set(dir, identity);
      }
    }
    for (const dir of [path.dirname(stateDir), workspace]) {
      const identity = identities.size === 0 ? identityOf(dir) : undefined;
      if (identity !== undefined) {
        identities.set(dir, identity);
      }
    }
    for (const [dir, { identity, watcher }] of this.dirWatchers) {
      // The watcher of a folder that was removed and created again reports nothing.
      if (identities.get(dir) !== identity) {
        watcher.close();
        this.dirWatchers.delete(dir);
      }
    }
    const missing = [...identities].filter(([dir]) => !this.dirWatchers.has(dir));
    for (const [dir, identity] of missing) {
      this.watchDir(dir, identity);
    }
    if (missing.some(([dir]) => this.dirWatchers.has(dir))) {
      // A folder that was created in one of them before it was watched has caused no event.
      this.watchDirs(runId);
    }
  }

  private watchDir(dir: string, identity: string): void {
    try {
      const watcher = watch(dir, () => void this.look());
      watcher.on('error', () => {
        watcher.close();
        this.dirWatchers.delete(dir);
        void this.look();
      });
      this.dirWatchers.set(dir, { identity, watcher });
    } catch {
      // Removed meanwhile, or no watch handles left: polling remains.
    }
  }
}

/** With its time of birth: a file system may give the inode of a removed folder to the next one. */
function identityOf(dir: string): string | undefined {
  const found = statSync(dir, { throwIfNoEntry: false, bigint: true });
  return found && `${found.dev}:${found.ino}:${found.birthtimeNs}`;
}
