import type { Disposable } from '../../base/emitter.ts';
import { englishOf, say } from '../../base/say.ts';
import { hurryGit, slowGit } from '../git/gitPatience.ts';
import { InboxReader } from '../workspace/request.ts';
import type { RunOptions } from './runOptions.ts';

/** Time limits for git after a stop, in ms; the second one is for a kill. No work is lost yet. */
const STOPPED_GIT_MS = 3_000;
const KILLED_GIT_MS = 1_000;
const LOOK_MS = 500;
/** When a command of git is told that the start waits for, in ms. */
const SLOW_MS = 20_000;

/**
 * Takes requests to stop while a run is starting, when neither its journal nor its `RequestDesk` is there yet: a hook of
 * the repository may hang in the first checkout.
 */
export class StartWatch implements Disposable {
  private readonly stop: RunOptions['stop'];
  private readonly inbox: InboxReader;
  private readonly timer: NodeJS.Timeout;
  private readonly listener: Disposable;
  private readonly told = new Set<string>();
  private isLooking = false;

  /** @param inboxFrom size of the inbox before this loop had the lock, in bytes */
  constructor({ files, runId, stop }: RunOptions, inboxFrom: number) {
    this.stop = stop;
    this.inbox = new InboxReader(files.inboxFile(runId), inboxFrom);
    this.timer = setInterval(() => void this.look(), LOOK_MS);
    this.listener = stop.onDidRequest(({ mode }) => {
      if (mode !== 'afterIteration') {
        hurryGit(mode === 'kill' ? KILLED_GIT_MS : STOPPED_GIT_MS, mode === 'kill');
      }
    });
  }

  dispose(): void {
    clearInterval(this.timer);
    this.listener.dispose();
  }

  private async look(): Promise<void> {
    for (const command of slowGit(SLOW_MS)) {
      if (!this.told.has(command)) {
        this.told.add(command);
        process.stderr.write(`ralph-fresh: ${englishOf(waitsFor(command))}\n`);
      }
    }
    if (this.isLooking) {
      return;
    }
    this.isLooking = true;
    try {
      for (const request of await this.inbox.takeNew()) {
        if (request.type === 'stop' && request.storyId === undefined) {
          this.stop.request(request.mode, 'inbox');
        }
      }
    } catch {
      // The run's own watcher reads the inbox again, and tells why it cannot be read.
    } finally {
      this.isLooking = false;
    }
  }
}

function waitsFor(command: string) {
  return say(
    'The start still waits for "git {0}". A hook of the repository may hang: look at the files in .git/hooks, or stop the run with "ralph-fresh stop".',
    command,
  );
}
