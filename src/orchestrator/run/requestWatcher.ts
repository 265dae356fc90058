import { type FSWatcher, watch } from 'node:fs';
import { type Disposable, Emitter } from '../emitter.ts';
import { InboxReader, type RunRequest } from './inbox.ts';
import { readPlainFile } from './plainFile.ts';
import type { RunFiles } from './runFiles.ts';

/** File events can be lost (network drives, full queues), so a slow look goes beside them. */
const POLL_MS = 1_000;
const MAX_STATE_BYTES = 64 * 1024;

const JOURNAL = 'journal.jsonl';

/** Listens for what people ask of a run: its inbox, and the state file that other tools use to cancel it. */
export class RequestWatcher implements Disposable {
  private readonly files: RunFiles;
  private readonly inbox: InboxReader;
  private readonly watchers: FSWatcher[] = [];
  private readonly timer: NodeJS.Timeout;
  private looking: Promise<void> = Promise.resolve();
  private lastError: string | undefined;
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
        const watcher = watch(dir, (_event, name) => {
          // The loop's own journal is no request, and is written all the time.
          if (name !== JOURNAL) {
            void this.look();
          }
        });
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
      const { message } = error as Error;
      // Once, however often it is met: a place that cannot be read stays so for a while.
      if (message !== this.lastError) {
        this.lastError = message;
        this.errorEmitter.fire(error as Error);
      }
    }
  }

  private async isActive(): Promise<boolean> {
    const text = await readPlainFile(this.files.stateFile, MAX_STATE_BYTES);
    if (text === undefined) {
      return false;
    }
    try {
      const state: unknown = JSON.parse(text.toString('utf8'));
      return !(typeof state === 'object' && state !== null && 'active' in state && !state.active);
    } catch {
      // Somebody is in the middle of writing it; the next look sees the whole file.
      return true;
    }
  }
}
