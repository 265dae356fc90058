import { setTimeout as delay } from 'node:timers/promises';
import type { Disposable } from '../../base/emitter.ts';
import { messageOf, saidOf } from '../../base/messageOf.ts';
import { englishOf } from '../../base/say.ts';
import { hurryGit } from '../git/gitPatience.ts';
import { waitingAsWhole } from '../journal/atWork.ts';
import type { RunEvent } from '../journal/events.ts';
import { idAfter } from '../journal/renumbering.ts';
import { currentOf, storyNotes, WHOLE_TASK } from '../journal/runState.ts';
import type { Run } from '../run/run.ts';
import { STORY_STOPPED } from '../run/scope.ts';
import { warn } from '../run/warn.ts';
import type { OnLastWindow } from '../workspace/openWindows.ts';
import { eventsOfRequest, type RunRequest } from '../workspace/request.ts';
import { RequestWatcher } from '../workspace/requestWatcher.ts';
import type { StopRequest } from '../workspace/stopSwitch.ts';
import { StateKeeper } from './stateKeeper.ts';
import { WINDOW_GRACE_MS, WindowWatch } from './windowWatch.ts';

/** From the moment that the state is found missing until it is restored, in ms. */
const SETTLE_MS = 500;

/** Time limits for git after a stop, in ms; the second one is for a kill. */
const STOPPED_GIT_MS = 20_000;
const HURRIED_GIT_MS = 2_000;

/** What ends a pause: a person, a stop, or something else that may let the run continue. */
export type Continued = Extract<RunEvent, { type: 'pause.ended' }>['by'];

export interface RequestDeskOptions {
  /** Size of the inbox before this loop had the lock, in bytes. */
  readonly inboxFrom: number;
  /** What to do when the last window that shows the run is closed; absent: continue. */
  readonly onLastWindow?: OnLastWindow;
  /** How long it may be closed for a reload, in ms. */
  readonly windowGraceMs?: number;
}

/**
 * Receives people's requests to a running loop, through its inbox, its state file and its stop switch, and executes
 * them.
 */
export class RequestDesk {
  private readonly run: Run;
  private readonly options: RequestDeskOptions;
  private readonly keeper: StateKeeper;
  /** Reported once, until the repair succeeds. */
  private isFixDelayed = false;
  private requests: RequestWatcher | undefined;
  private stopListener: Disposable | undefined;
  private numberListener: Disposable | undefined;
  private windows: WindowWatch | undefined;
  private resumeController = new AbortController();
  /** While the run is paused: ends the pause, unless a person has asked for it and this is not for them to end. */
  private continueRun: ((by: Continued) => void) | undefined;
  /** One per running iteration, by number. */
  private readonly skips = new Map<number, AbortController>();
  /** Stories that a person ticked since the file was last read. */
  private handled = new Map<string, boolean>();

  constructor(run: Run, options: RequestDeskOptions) {
    this.run = run;
    this.options = options;
    this.keeper = new StateKeeper(run, () => this.requests?.watchAgain());
  }

  /** Aborted when a person wants the whole run to continue now; a new signal each time. */
  get resumeSignal(): AbortSignal {
    return this.resumeController.signal;
  }

  /**
   * Resolves when a paused run is to continue.
   * @param isAsked a person has asked for the pause, so that only a person ends it
   */
  continued(isAsked: boolean): Promise<Continued> {
    return new Promise(resolve => {
      const { stop } = this.run;
      const end = (by: Continued) => {
        stop.requestedSignal.removeEventListener('abort', onStop);
        this.continueRun = undefined;
        resolve(by);
      };
      const onStop = () => end('stop');
      this.continueRun = by => {
        if (by !== 'change' || !isAsked) {
          end(by);
        }
      };
      stop.requestedSignal.addEventListener('abort', onStop);
      if (stop.requested) {
        onStop();
      }
    });
  }

  /** Aborted if a person skips the story of this iteration. */
  skipSignal(iteration: number): AbortSignal {
    const controller = new AbortController();
    this.skips.set(iteration, controller);
    return controller.signal;
  }

  /** The iteration is over: its story can no longer be skipped. */
  endSkips(iteration: number): void {
    this.skips.delete(iteration);
  }

  /** Stories that a person ticked or unticked since the last call. */
  takeHandled(): ReadonlyMap<string, boolean> {
    const { handled } = this;
    this.handled = new Map();
    return handled;
  }

  /**
   * Stops receiving. Waits for a restore in progress: after the end of the run it would mark the run as active.
   */
  async close(): Promise<void> {
    this.requests?.dispose();
    this.requests = undefined;
    await this.keeper.settled();
    this.stopListener?.dispose();
    this.numberListener?.dispose();
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
    requests.onCancel(() => {
      // A state file that is not restored yet is no request; the watcher looks again when it is.
      if (!this.keeper.isRestoring) {
        stop.request('end', 'stateFile');
      }
    });
    this.numberListener = journal.onDidAppend(event => {
      if (event.type === 'stories.renumbered') {
        this.handled = new Map(
          [...this.handled].flatMap(([storyId, done]) => {
            const now = idAfter(storyId, [event]);
            return now === undefined ? [] : [[now, done] as const];
          }),
        );
      }
    });
    this.stopListener = stop.onDidRequest(request => this.takeStop(request));
    if (stop.strongest !== undefined) {
      // It came while the run was starting.
      this.takeStop(stop.strongest);
    }
    requests.onDamage(place => void this.fix(place));
    requests.onError(error => {
      try {
        warn(journal, 'inboxUnreadable', saidOf(error));
      } catch {
        // The journal cannot be written either; the loop notices that at its next event and ends.
      }
    });
  }

  private takeStop({ by, mode, signal }: StopRequest): void {
    if (mode !== 'afterIteration') {
      hurryGit(mode === 'kill' ? HURRIED_GIT_MS : STOPPED_GIT_MS, mode === 'kill');
    }
    try {
      this.run.journal.append({ type: 'stop.requested', by, mode, signal: signal || undefined });
    } catch (error) {
      // Called from a signal handler, where nobody would catch the error; the run ends in any case.
      process.stderr.write(`The stop could not be recorded: ${messageOf(error)}\n`);
    }
  }

  /** Processes people's requests, after restoring the files for them if necessary. */
  async look(): Promise<void> {
    if (this.requests === undefined) {
      return;
    }
    await this.keeper.restore();
    await this.requests?.look();
  }

  /** Runs in parallel with the agent, so that watchers find the run again. */
  private async fix(place: string): Promise<void> {
    const { run } = this;
    // The removal of the folder may not have finished.
    await delay(SETTLE_MS, undefined, { ref: false });
    if (this.requests === undefined) {
      return;
    }
    try {
      if (!(await this.keeper.restore()) && place === run.files.stateFile) {
        // Something else is there, which the loop must not remove.
        warn(run.journal, 'stateDamaged', place);
      }
      this.isFixDelayed = false;
    } catch (error) {
      if (run.marker.isDisplaced) {
        // Two agents must not work on the same files. The loop reports why the run ends when it notices this.
        run.stop.request('end', 'stateFile');
        return;
      }
      // The removal may continue for a while.
      this.requests?.tellAgain();
      if (!this.isFixDelayed) {
        this.isFixDelayed = true;
        process.stderr.write(`The state could not be restored yet: ${englishOf(saidOf(error))}\n`);
      }
    }
  }

  /** The whole run continues, and calls that wait for a usage limit try again. */
  private resume(): void {
    const { resumeController } = this;
    this.resumeController = new AbortController();
    resumeController.abort();
    this.continueRun?.('person');
  }

  /** A person has dealt with what the run waits for. */
  private continueIfAbout(storyId: string): void {
    const { pause } = this.run.state();
    if (pause?.storyId === storyId || pause?.stories?.includes(storyId)) {
      this.continueRun?.('person');
    }
  }

  /** A hint is what a run waits for that asked because of a stuck story. */
  private continueIfStuckOn(storyId: string | undefined): void {
    const { pause } = this.run.state();
    if (pause?.reason === 'stuck' && (storyId === undefined || storyId === pause.storyId)) {
      this.continueRun?.('person');
    }
  }

  /** An answer to another question than the one that the run waits for lets that story continue. */
  private continueAfterAnswer(): void {
    const { pause, storyNotes: notes } = this.run.state();
    const isOpen = notes.get(pause?.storyId ?? WHOLE_TASK)?.question !== undefined;
    this.continueRun?.(pause?.reason === 'question' && !isOpen ? 'person' : 'change');
  }

  /** @returns whether an agent of this story is working, or its work is being judged */
  private skipRunning(storyId: string | undefined): boolean {
    const found = this.run
      .state()
      .running.filter(current => storyId !== undefined && current.storyId === storyId);
    for (const { number } of found) {
      this.skips.get(number)?.abort();
    }
    return found.length > 0;
  }

  /** Ends the agent of a story; work that waits to land is not touched. */
  private stopStory(storyId: string): void {
    for (const current of this.run.state().running) {
      const { number, queued, step } = current;
      if (current.storyId === storyId && !queued && step === 'agent') {
        this.skips.get(number)?.abort(STORY_STOPPED);
      }
    }
  }

  /** Whether this drops work that was accepted, and may be written at this moment. */
  private isTooLate(request: RunRequest): request is Extract<RunRequest, { type: 'discovery' }> {
    const isDrop = request.type === 'discovery' && request.action === 'drop';
    const { discoveries = [] } = this.run.state();
    return isDrop && discoveries.find(({ id }) => id === request.id)?.state === 'accepted';
  }

  private take(request: RunRequest): void {
    const { journal, state, stop } = this.run;
    const waiting = waitingAsWhole(state());
    const current = currentOf(state());
    const running = current?.storyId;
    const events = this.isTooLate(request)
      ? // By a setting: of those who decide themselves, each sees what another one has decided.
        [{ type: 'discovery.accepted' as const, id: request.id, by: 'setting' as const }]
      : eventsOfRequest(request, state());
    for (const event of events) {
      journal.append(event);
    }
    switch (request.type) {
      case 'stop':
        if (request.storyId === undefined) {
          stop.request(request.mode, 'inbox');
        } else {
          this.stopStory(request.storyId);
        }
        break;
      case 'lanes':
        this.continueRun?.('change');
        break;
      case 'resume':
        if (request.storyId !== undefined || request.lane !== undefined) {
          this.continueRun?.('change');
          break;
        }
        if (state().pauseRequested && waiting === undefined) {
          // The requested pause is canceled before it started.
          journal.append({ type: 'pause.ended', by: 'person' });
        }
        this.resume();
        break;
      case 'answer':
        this.continueAfterAnswer();
        break;
      case 'land':
        this.continueRun?.('change');
        break;
      case 'settle':
        if (storyNotes(state(), request.storyId).settling) {
          this.stopStory(request.storyId);
        }
        this.continueRun?.('change');
        break;
      case 'skip':
        if (this.skipRunning(request.storyId ?? running)) {
          break;
        }
        if (request.storyId !== undefined) {
          this.continueIfAbout(request.storyId);
        }
        break;
      case 'tick':
        this.handled.set(request.storyId, request.done);
        this.continueIfAbout(request.storyId);
        break;
      case 'reset':
        this.continueIfAbout(request.storyId);
        break;
      case 'hint':
        this.continueIfStuckOn(request.storyId);
        break;
      case 'hello': {
        const { pid, startId, window: id } = request;
        const process = pid === undefined ? undefined : { pid, startId: startId || undefined };
        this.windows?.hello({ id, process });
        break;
      }
      case 'goodbye':
        this.windows?.goodbye(request.window);
        break;
      case 'discovery':
        // It may be the only thing that is left to do.
        this.continueRun?.('change');
        break;
      case 'pause':
        break;
    }
  }
}
