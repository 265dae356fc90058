import { EventEmitter, window, workspace } from 'vscode';
import { Emitter } from '../../base/emitter.ts';
import type { RunEvent } from '../../orchestrator/journal/events.ts';
import { INITIAL_RUN_STATE, type RunState } from '../../orchestrator/journal/runState.ts';
import type { RunHistory } from '../../orchestrator/workspace/history.ts';
import type { RunFiles } from '../../orchestrator/workspace/runFiles.ts';
import type { RunWatcher, WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import { withoutMoot } from '../../presentation/storyCount.ts';
import { Owner } from '../common/disposableStore.ts';
import { KeptEvents } from './keptEvents.ts';
import type { StoryModel } from './storyModel.ts';

/** Before the files were looked at. */
const NO_RUN: WatchedRun = { state: INITIAL_RUN_STATE, alive: false };

/** In ms. While work of an ended run is not committed, or its branch lacks it, a person may change that. */
const LOOK_AT_WORK_MS = 10_000;

/** What git said last of the work of an ended run. */
interface SeenWork {
  /** The state as it was read; it stays the same object while nothing happens. */
  readonly of: RunState;
  readonly left: Pick<RunState, 'held' | 'uncommitted'>;
}

/** A run as it was read, and what else was known when it was seen. */
interface SeenRun {
  readonly read: WatchedRun;
  readonly file: StoryModel['current'];
  readonly work: SeenWork | undefined;
  readonly run: WatchedRun;
}

/**
 * A folder's newest run, shared by all views. After its end, it is seen as `status` sees it: a person may have finished
 * the story of a question, committed its work, or brought in what the branch lacked.
 */
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
  private readonly stories: Pick<StoryModel, 'current' | 'onDidChange'>;
  private seen: SeenRun | undefined;
  private work: SeenWork | undefined;
  /** The last message of git, which is not repeated every time. */
  private problem: string | undefined;
  private timer: NodeJS.Timeout | undefined;
  private isDisposed = false;

  /** @param stories those of the same folder */
  constructor(
    files: RunFiles,
    stories: Pick<StoryModel, 'current' | 'onDidChange'>,
    onError: (error: Error) => void,
  ) {
    super();
    this.files = files;
    this.stories = stories;
    this.onError = onError;
    this.own(stories.onDidChange(() => this.lookAgain()));
    this.own(workspace.onDidGrantWorkspaceTrust(() => void this.lookAtWork()));
    this.watching = this.watch().catch(onError);
  }

  get current(): WatchedRun {
    const read = this.watcher?.current ?? NO_RUN;
    const file = this.stories.current;
    const work = this.work?.of === read.state ? this.work : undefined;
    const { seen } = this;
    if (seen?.read === read && seen.file === file && seen.work === work) {
      return seen.run;
    }
    const now = work === undefined ? read : { ...read, state: { ...read.state, ...work.left } };
    const run = withoutMoot(now, file, this.files.workspace);
    this.seen = { read, file, work, run };
    return run;
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

  override dispose(): void {
    this.isDisposed = true;
    clearTimeout(this.timer);
    super.dispose();
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
    watcher.onDidChange(({ runId }) => {
      this.changeEmitter.fire(this.current);
      void this.readEarlier(runId);
      void this.lookAtWork();
    });
    void watcher.start();
  }

  /** Tells if the run looks different by now, though its journal is the same. */
  private lookAgain(): void {
    const before = this.seen?.run;
    if (before !== undefined && before !== this.current) {
      this.changeEmitter.fire(this.current);
    }
  }

  private async lookAtWork(): Promise<void> {
    clearTimeout(this.timer);
    const run = this.watcher?.current ?? NO_RUN;
    // In Restricted Mode, git is not called.
    if (run.alive || !isLeft(run.state) || !workspace.isTrusted) {
      return;
    }
    const known = leftOf(this.work?.of === run.state ? this.work.left : run.state);
    let left = known;
    try {
      const { workNow } = await import('../../orchestrator/workspace/workNow.ts');
      left = leftOf(await workNow(this.files.workspace, run.state));
      this.problem = undefined;
    } catch (error) {
      const { message } = error as Error;
      if (message !== this.problem) {
        this.problem = message;
        this.onError(error as Error);
      }
    }
    // An equal answer is another object.
    if (JSON.stringify(left) !== JSON.stringify(known)) {
      this.work = { of: run.state, left };
      this.lookAgain();
    }
    if (isLeft(left)) {
      this.lookAtWorkLater();
    }
  }

  private lookAtWorkLater(): void {
    clearTimeout(this.timer);
    if (!this.isDisposed) {
      this.timer = setTimeout(
        () => (window.state.focused ? void this.lookAtWork() : this.lookAtWorkLater()),
        LOOK_AT_WORK_MS,
      );
    }
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

function leftOf({ held, uncommitted }: SeenWork['left']): SeenWork['left'] {
  return { held, uncommitted };
}

function isLeft({ held, uncommitted }: SeenWork['left']): boolean {
  return held !== undefined || uncommitted !== undefined;
}
