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

/** In ms. While the branch of an ended run lacks what has landed, a person may bring it in. */
const LOOK_AT_BRANCH_MS = 10_000;

/** A run as it was read, and what else was known when it was seen. */
interface SeenRun {
  readonly read: WatchedRun;
  readonly file: StoryModel['current'];
  readonly held: RunState['held'];
  readonly run: WatchedRun;
}

/**
 * A folder's newest run, shared by all views. After its end, it is seen as `status` sees it: a person may have finished
 * the story of a question, or brought in what the branch lacked.
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
  /** What the branch of an ended run lacks, as it was looked at last. */
  private branch: { readonly of: WatchedRun; readonly held: RunState['held'] } | undefined;
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
    this.watching = this.watch().catch(onError);
  }

  get current(): WatchedRun {
    const read = this.watcher?.current ?? NO_RUN;
    const file = this.stories.current;
    const { held } = this.branch?.of === read ? this.branch : read.state;
    const { seen } = this;
    if (seen?.read === read && seen.file === file && seen.held === held) {
      return seen.run;
    }
    const now = held === read.state.held ? read : { ...read, state: { ...read.state, held } };
    const run = withoutMoot(now, file, this.files.workspace);
    this.seen = { read, file, held, run };
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
      void this.lookAtBranch();
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

  private async lookAtBranch(): Promise<void> {
    clearTimeout(this.timer);
    const run = this.watcher?.current ?? NO_RUN;
    // In Restricted Mode, git is not called.
    if (run.alive || run.state.held === undefined || !workspace.isTrusted) {
      return;
    }
    try {
      const { workNow } = await import('../../orchestrator/workspace/workNow.ts');
      const { held } = await workNow(this.files.workspace, run.state);
      const known = this.branch?.of === run ? this.branch.held : run.state.held;
      // An equal answer is another object.
      if (JSON.stringify(held) !== JSON.stringify(known)) {
        this.branch = { of: run, held };
        this.lookAgain();
      }
      if (held !== undefined) {
        this.lookAtBranchLater();
      }
    } catch (error) {
      this.onError(error as Error);
    }
  }

  private lookAtBranchLater(): void {
    clearTimeout(this.timer);
    if (!this.isDisposed) {
      this.timer = setTimeout(
        () => (window.state.focused ? void this.lookAtBranch() : this.lookAtBranchLater()),
        LOOK_AT_BRANCH_MS,
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
