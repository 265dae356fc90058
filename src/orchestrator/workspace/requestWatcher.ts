import { existsSync, type FSWatcher, lstatSync, readdirSync, watch } from 'node:fs';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type Disposable, Emitter } from '../../base/emitter.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import { InboxReader, type RunRequest } from './request.ts';
import type { RunFiles } from './runFiles.ts';

/** In ms. File events can be lost (network drives, full queues), so the files are also polled slowly. */
const POLL_MS = 1_000;
const MAX_STATE_BYTES = 64 * 1024;
/**
 * In ms. The state file may be the first to go when somebody deletes the whole folder: as long as more disappears within
 * this time, they have not finished.
 */
const SETTLE_MS = 500;

/** Watches for requests to a run: its inbox, and the state file that other tools use to cancel it. */
export class RequestWatcher implements Disposable {
  private readonly files: RunFiles;
  private readonly runId: string;
  private readonly inbox: InboxReader;
  private readonly watchers: FSWatcher[] = [];
  /** Names of the files that the loop writes in these folders. */
  private readonly ownNames: ReadonlySet<string>;
  private readonly timer: NodeJS.Timeout;
  private looking: Promise<void> = Promise.resolve();
  /** A look that has not started yet, and so will see everything that is there now. */
  private nextLook: Promise<void> | undefined;
  private lastErrors = new Map<string, string>();
  private isDamageTold = false;
  private restores = 0;
  private isDisposed = false;
  private readonly requestEmitter = new Emitter<RunRequest>();
  /** A request from the inbox. */
  readonly onRequest = this.requestEmitter.event;
  private readonly cancelEmitter = new Emitter<void>();
  /** The state file was removed or set to inactive by another program (`/oh-my-claudecode:cancel`). */
  readonly onCancel = this.cancelEmitter.event;
  private readonly damageEmitter = new Emitter<string>();
  /**
   * The state folder or the run's journal is gone, or something else is at the path of the state file. Fired once,
   * with the path, until {@link tellAgain}. It is not a cancel, because agents clean folders (`git clean -fdx`).
   */
  readonly onDamage = this.damageEmitter.event;
  private readonly errorEmitter = new Emitter<Error>();
  readonly onError = this.errorEmitter.event;

  /**
   * Create it after the state file was written for the first time.
   * @param inboxFrom size of the inbox part, in bytes, that is not for this loop
   */
  constructor(files: RunFiles, runId: string, inboxFrom = 0) {
    this.files = files;
    this.runId = runId;
    this.inbox = new InboxReader(files.inboxFile(runId), inboxFrom);
    const ownFiles = [files.journalFile(runId), files.handoffFile, files.promptFile];
    this.ownNames = new Set(ownFiles.map(file => path.basename(file)));
    this.watch();
    this.timer = setInterval(() => void this.look(), POLL_MS);
  }

  /** The folders were removed and have been restored by the loop, so they need new watchers. */
  watchAgain(): void {
    if (this.isDisposed) {
      return;
    }
    this.restores += 1;
    this.isDamageTold = false;
    this.closeWatchers();
    this.watch();
  }

  /** The damage could not be repaired yet: the next look reports it again. */
  tellAgain(): void {
    this.isDamageTold = false;
  }

  private watch(): void {
    for (const dir of [this.files.stateDir, this.files.runDir(this.runId)]) {
      try {
        const watcher = watch(dir, (_event, name) => {
          // The files that the loop itself writes all the time are not requests.
          if (name === null || !(this.ownNames.has(name) || name.endsWith('.tmp'))) {
            void this.look();
          }
        });
        // If the watcher fails (folder removed, no handles left), polling remains.
        watcher.on('error', () => watcher.close());
        this.watchers.push(watcher);
      } catch {
        // No file events here; polling is enough.
      }
    }
  }

  private closeWatchers(): void {
    for (const watcher of this.watchers.splice(0)) {
      watcher.close();
    }
  }

  /** Looks now; resolves when everything that was there has been reported. */
  look(): Promise<void> {
    this.nextLook ??= this.looking.then(() => {
      this.nextLook = undefined;
      return this.lookOnce();
    });
    this.looking = this.nextLook;
    return this.looking;
  }

  dispose(): void {
    this.isDisposed = true;
    clearInterval(this.timer);
    this.closeWatchers();
    this.requestEmitter.dispose();
    this.cancelEmitter.dispose();
    this.damageEmitter.dispose();
    this.errorEmitter.dispose();
  }

  private async lookOnce(): Promise<void> {
    await this.tellErrors('inbox', () => this.lookAtInbox());
    await this.tellErrors('state', () => this.lookAtState());
  }

  /** An error at one path must not prevent the other one from being read. */
  private async tellErrors(place: string, lookAt: () => Promise<void>): Promise<void> {
    try {
      await lookAt();
    } catch (error) {
      const { message } = error as Error;
      // Reported once: an unreadable path usually stays unreadable for a while.
      if (message !== this.lastErrors.get(place)) {
        this.lastErrors.set(place, message);
        this.errorEmitter.fire(error as Error);
      }
    }
  }

  private async lookAtInbox(): Promise<void> {
    for (const request of await this.inbox.takeNew()) {
      this.requestEmitter.fire(request);
    }
  }

  private async lookAtState(): Promise<void> {
    const { restores } = this;
    const text = await readPlainFile(this.files.stateFile, MAX_STATE_BYTES);
    if (text !== undefined && !isActive(text.toString('utf8'))) {
      this.cancelEmitter.fire();
      return;
    }
    const isKnown = this.isDamageTold && this.damage() !== undefined;
    if (!isKnown && (text === undefined || this.damage() !== undefined)) {
      await this.untilNothingDisappears();
    }
    const damage = this.damage();
    if (this.isDisposed || restores !== this.restores) {
      return;
    }
    if (damage === undefined) {
      if (text === undefined) {
        this.cancelEmitter.fire();
      }
    } else if (!this.isDamageTold) {
      this.isDamageTold = true;
      this.damageEmitter.fire(damage);
    }
  }

  private async untilNothingDisappears(): Promise<void> {
    let left = this.filesLeft();
    while (left.length > 0 && !this.isDisposed) {
      await sleep(SETTLE_MS, undefined, { ref: false });
      const now = this.filesLeft();
      if (left.every(file => now.includes(file))) {
        return;
      }
      left = now;
    }
  }

  /** What somebody who removes the state has not removed yet. The loop's own temporary files come and go. */
  private filesLeft(): string[] {
    const { stateDir } = this.files;
    return [stateDir, this.files.runDir(this.runId)]
      .flatMap(namesIn)
      .filter(file => !file.endsWith('.tmp'));
  }

  /** @returns the damaged path; `undefined` if only the state file is gone, or it is back */
  private damage(): string | undefined {
    const { lockFile, stateDir, stateFile } = this.files;
    const kept = [stateDir, this.files.journalFile(this.runId), lockFile];
    const place = kept.find(file => !existsSync(file));
    return place ?? (isOtherThing(stateFile) ? stateFile : undefined);
  }
}

/** The paths in a folder; none if it is gone. */
function namesIn(dir: string): string[] {
  try {
    return readdirSync(dir).map(name => path.join(dir, name));
  } catch {
    return [];
  }
}

function isOtherThing(file: string): boolean {
  return lstatSync(file, { throwIfNoEntry: false })?.isFile() === false;
}

function isActive(text: string): boolean {
  try {
    const state: unknown = JSON.parse(text);
    return !(typeof state === 'object' && state !== null && 'active' in state && !state.active);
  } catch {
    // Somebody is writing it; the next look sees the whole file.
    return true;
  }
}
