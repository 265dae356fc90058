import { type FSWatcher, watch } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { type Disposable, Emitter } from '../emitter.ts';
import { InboxReader, type RunRequest } from './inbox.ts';
import type { RunFiles } from './runFiles.ts';

/** File events can be lost (network drives, full queues), so a slow look goes beside them. */
const POLL_MS = 1_000;

/** Listens for what people ask of a run: its inbox, and the state file that other tools use to cancel it. */
export class RequestWatcher implements Disposable {
  private readonly files: RunFiles;
  private readonly inbox: InboxReader;
  private readonly watchers: FSWatcher[] = [];
  private readonly timer: NodeJS.Timeout;
  private looking: Promise<void> = Promise.resolve();
  private readonly requestEmitter = new Emitter<RunRequest>();
  /** A line of the inbox. */
  readonly onRequest = this.requestEmitter.event;
  private readonly cancelEmitter = new Emitter<void>();
  /** The state file was removed or set to inactive by somebody else (`/oh-my-claudecode:cancel`). */
  readonly onCancel = this.cancelEmitter.event;
  private readonly errorEmitter = new Emitter<Error>();
  readonly onError = this.errorEmitter.event;

  /** Start it after the state file was written for the first time. */
  constructor(files: RunFiles, runId: string) {
    this.files = files;
    this.inbox = new InboxReader(files.inboxFile(runId));
    for (const dir of [files.stateDir, files.runDir(runId)]) {
      try {
        const watcher = watch(dir, () => void this.look());
        // Losing the watcher (folder removed, no handles left) leaves the slow look.
        watcher.on('error', () => watcher.close());
        this.watchers.push(watcher);
      } catch {
        // As above: no file events here, the slow look is enough.
      }
    }
    this.timer = setInterval(() => void this.look(), POLL_MS);
  }

  /** Looks now; resolves when everything that was there has been told. */
  look(): Promise<void> {
    this.looking = this.looking.then(() => this.lookOnce());
    return this.looking;
  }

  dispose(): void {
    clearInterval(this.timer);
    for (const watcher of this.watchers) {
      watcher.close();
    }
    this.requestEmitter.dispose();
    this.cancelEmitter.dispose();
    this.errorEmitter.dispose();
  }

  private async lookOnce(): Promise<void> {
    try {
      for (const request of await this.inbox.takeNew()) {
        this.requestEmitter.fire(request);
      }
      if (!(await this.isActive())) {
        this.cancelEmitter.fire();
      }
    } catch (error) {
      this.errorEmitter.fire(error as Error);
    }
  }

  private async isActive(): Promise<boolean> {
    let text: string;
    try {
      text = await readFile(this.files.stateFile, 'utf8');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
        return false;
      }
      throw error;
    }
    try {
      const state: unknown = JSON.parse(text);
      return !(typeof state === 'object' && state !== null && 'active' in state && !state.active);
    } catch {
      // Somebody is in the middle of writing it; the next look sees the whole file.
      return true;
    }
  }
}
