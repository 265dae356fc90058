import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../../base/emitter.ts';
import { messageOf } from '../../base/messageOf.ts';
import { hurryGit } from '../git/gitPatience.ts';
import { currentOf, waitingOf } from '../journal/runState.ts';
import type { Run } from '../run/run.ts';
import { warn } from '../run/warn.ts';
import type { RunRequest } from '../workspace/inbox.ts';
import type { OnLastWindow } from '../workspace/openWindows.ts';
import { eventsOfRequest } from '../workspace/requestEvents.ts';
import { RequestWatcher } from '../workspace/requestWatcher.ts';
import { StateKeeper } from './stateKeeper.ts';
import { WINDOW_GRACE_MS, WindowWatch } from './windowWatch.ts';

/** From the moment that the state is found to be gone until it is put back, in ms. */
const SETTLE_MS = 500;

/** Of a stop a git that does not answer is given so long to do so, in ms; of one that is to be quick so long. */
const STOPPED_GIT_MS = 20_000;
const HURRIED_GIT_MS = 2_000;

export interface RequestDeskOptions {
  /** Bytes of requests that were there before this loop had the lock. */
  readonly inboxFrom: number;
  /** What to do when the last window that shows the run is closed; absent: go on. */
  readonly onLastWindow?: OnLastWindow;
  /** So long it may be away for a reload, in ms. */
  readonly windowGraceMs?: number;
}

/** Hears what people ask of a living run, by its inbox, its state file and its stop switch, and does it. */
export class RequestDesk {
  private readonly run: Run;
  private readonly options: RequestDeskOptions;
  private readonly keeper: StateKeeper;
  /** Told once, until it succeeds. */
  private isMendDelayed = false;
  private requests: RequestWatcher | undefined;
  private stopListener: Disposable | undefined;
  private windows: WindowWatch | undefined;
  private wakeController = new AbortController();
  /** Of the iterations that run, by their numbers. */
  private readonly skips = new Map<number, AbortController>();
  /** Stories that a person ticked since the last look at the file. */
  private handled = new Map<string, boolean>();

  constructor(run: Run, options: RequestDeskOptions) {
    this.run = run;
    this.options = options;
    this.keeper = new StateKeeper(run, () => this.requests?.watchAgain());
  }

  /** Aborted when a person wants the run to go on now; a new one after each time. */
  get wakeSignal(): AbortSignal {
    return this.wakeController.signal;
  }

  /** Aborted when a person skips the story of this iteration. */
  skipSignal(iteration: number): AbortSignal {
    const controller = new AbortController();
    this.skips.set(iteration, controller);
    return controller.signal;
  }

  /** The iteration is over: nobody can skip its story any more. */
  endSkips(iteration: number): void {
    this.skips.delete(iteration);
  }

  /** Stories that a person ticked or unticked since the last call. */
  takeHandled(): ReadonlyMap<string, boolean> {
    const { handled } = this;
    this.handled = new Map();
    return handled;
  }

  /** Nothing is heard any more. What is being put back is waited for: after the end it would say that the run goes on. */
  async close(): Promise<void> {
    this.requests?.dispose();
    this.requests = undefined;
    await this.keeper.settled();
    this.stopListener?.dispose();
    this.windows?.dispose();
  }

  listen(): void {
    const { run } = this;
    const { files, id, journal, stop } = run;
    const { inboxFrom, onLastWindow, windowGraceMs = WINDOW_GRACE_MS } = this.options;
    if (onLastWindow === 'stopAfterIteration') {
      this.windows = new WindowWatch(windowGraceMs);
      this.windows.onDidClose(() => stop.request('afterIteration', 'window'));
    }
    const requests = new RequestWatcher(files, id, inboxFrom);
    this.requests = requests;
    requests.onRequest(request => this.take(request));
    requests.onCancel(() => stop.request('end', 'stateFile'));
    this.stopListener = stop.onDidRequest(({ mode, by, signal }) => {
      if (mode !== 'afterIteration') {
        hurryGit(mode === 'kill' ? HURRIED_GIT_MS : STOPPED_GIT_MS);
      }
      try {
        journal.append({ type: 'stop.requested', by, mode, ...(signal && { signal }) });
      } catch (error) {
        // Called from a signal handler, where nobody would catch it; the run ends in any case.
        process.stderr.write(`The stop could not be recorded: ${messageOf(error)}\n`);
      }
    });
    requests.onDamage(place => void this.mend(place));
    requests.onError(error => {
      try {
        warn(journal, 'inboxUnreadable', error.message);
      } catch {
        // The journal cannot be written either; the loop meets that at its next event and ends.
      }
    });
  }

  /** Takes what people have asked; but first their requests must have a place. */
  async look(): Promise<void> {
    if (this.requests === undefined) {
      return;
    }
    await this.keeper.restore();
    await this.requests?.look();
  }

  /** Beside the agent: whoever watches finds the run again. */
  private async mend(place: string): Promise<void> {
    const { run } = this;
    // Whoever removes the folder may still be at it.
    await delay(SETTLE_MS, undefined, { ref: false });
    if (this.requests === undefined) {
      return;
    }
    try {
      if (!(await this.keeper.restore()) && place === run.files.stateFile) {
        // Something else is there, which is not the loop's to remove.
        warn(run.journal, 'stateDamaged', place);
      }
      this.isMendDelayed = false;
    } catch (error) {
      if (run.marker.isDisplaced) {
        // Two agents must not work on the same files. Why the run ends is told where the loop meets this.
        run.stop.request('end', 'stateFile');
        return;
      }
      // Whoever removes it may go on with that for a while.
      this.requests?.tellAgain();
      if (!this.isMendDelayed) {
        this.isMendDelayed = true;
        process.stderr.write(`The state could not be restored yet: ${messageOf(error)}\n`);
      }
    }
  }

  private wake(): void {
    const { wakeController } = this;
    this.wakeController = new AbortController();
    wakeController.abort();
  }

  /** A person has settled what the run waits for. */
  private wakeIfAbout(storyId: string): void {
    if (this.run.state().pause?.storyId === storyId) {
      this.wake();
    }
  }

  private take(request: RunRequest): void {
    const { journal, state, stop } = this.run;
    const waiting = waitingOf(state());
    const current = currentOf(state());
    const running = current?.storyId;
    const events = eventsOfRequest(request, state());
    for (const event of events) {
      journal.append(event);
    }
    switch (request.type) {
      case 'stop':
        stop.request(request.mode, 'inbox');
        break;
      case 'resume':
        if (state().pauseRequested && waiting === undefined) {
          // The pause that was asked for is called off before it began.
          journal.append({ type: 'pause.ended', by: 'person' });
        }
        this.wake();
        break;
      case 'answer':
        this.wake();
        break;
      case 'skip':
        if (current && running !== undefined && (request.storyId ?? running) === running) {
          this.skips.get(current.number)?.abort();
        } else if (request.storyId !== undefined) {
          this.wakeIfAbout(request.storyId);
        }
        break;
      case 'tick':
        this.handled.set(request.storyId, request.done);
        this.wakeIfAbout(request.storyId);
        break;
      case 'reset':
        this.wakeIfAbout(request.storyId);
        break;
      case 'hello': {
        const { pid, startId, window: id } = request;
        const process = pid === undefined ? undefined : { pid, ...(startId && { startId }) };
        this.windows?.hello({ id, process });
        break;
      }
      case 'goodbye':
        this.windows?.goodbye(request.window);
        break;
      case 'pause':
      case 'hint':
        break;
    }
  }
}
