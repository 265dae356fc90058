import { randomUUID } from 'node:crypto';
import type { Disposable } from '../../base/emitter.ts';
import { identify, type ProcessIdentity } from '../../orchestrator/process/processIdentity.ts';
import { postRequest } from '../../orchestrator/workspace/inbox.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';

/**
 * Registers this window with runs that need to know whether a window shows them: those that stop when the last one is
 * closed. A reload unregisters it and registers the next window.
 */
export class WindowPresence implements Disposable {
  private readonly id = randomUUID();
  /** Requested by the first registration. */
  private identity: Promise<ProcessIdentity> | undefined;
  private readonly onError: (error: Error) => void;
  private readonly listener: Disposable;

  constructor(folders: Folders, onError: (error: Error) => void) {
    this.onError = onError;
    this.listener = folders.inEach(folder => this.follow(folder));
  }

  /** Unregisters synchronously: asynchronous work is not guaranteed to finish while a window closes. */
  dispose(): void {
    this.listener.dispose();
  }

  private follow(folder: Folder): Disposable {
    /** The loop that knows this window: a run that is continued later has another loop. */
    let greeted: { readonly runId: string; readonly pid: number | undefined } | undefined;
    const look = ({ alive, runId, state }: WatchedRun) => {
      if (!alive || runId === undefined || state.onLastWindow !== 'stopAfterIteration') {
        greeted = undefined;
      } else if (greeted?.runId !== runId || greeted.pid !== state.pid) {
        greeted = { runId, pid: state.pid };
        void this.hello(folder, runId);
      }
    };
    const change = folder.runs.onDidChange(look);
    look(folder.runs.current);
    return {
      dispose: () => {
        change.dispose();
        if (greeted !== undefined) {
          this.goodbye(folder, greeted.runId);
        }
      },
    };
  }

  private async hello({ files }: Folder, runId: string): Promise<void> {
    try {
      this.identity ??= identify(process.pid);
      const { pid, startId } = await this.identity;
      postRequest(files, runId, { type: 'hello', window: this.id, pid, startId });
    } catch (error) {
      this.onError(error as Error);
    }
  }

  private goodbye({ files }: Folder, runId: string): void {
    try {
      postRequest(files, runId, { type: 'goodbye', window: this.id });
    } catch (error) {
      // The run's folder may be gone by now, and the run with it.
      this.onError(error as Error);
    }
  }
}
