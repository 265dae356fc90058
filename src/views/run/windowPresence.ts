import { randomUUID } from 'node:crypto';
import type { Disposable } from '../../base/emitter.ts';
import { identify, type ProcessIdentity } from '../../orchestrator/process/processIdentity.ts';
import type { WatchedRun } from '../../orchestrator/workspace/runWatcher.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';

/**
 * Registers this window with runs that need to know whether a window shows them: those that stop when the last one is
 * closed. A reload unregisters it and registers the next window.
 */
export function windowPresence(folders: Folders, onError: (error: Error) => void): Disposable {
  const id = randomUUID();
  /** Requested by the first registration. */
  let identity: Promise<ProcessIdentity> | undefined;
  /** Loaded by it, since few windows need it. */
  let inbox: typeof import('../../orchestrator/workspace/request.ts') | undefined;

  function follow(folder: Folder): Disposable {
    /** The loop that knows this window: a run that is continued later has another loop. */
    let greeted: { readonly runId: string; readonly pid: number | undefined } | undefined;
    const look = ({ alive, runId, state }: WatchedRun) => {
      if (!alive || runId === undefined || state.onLastWindow !== 'stopAfterIteration') {
        greeted = undefined;
      } else if (greeted?.runId !== runId || greeted.pid !== state.pid) {
        const now = { runId, pid: state.pid };
        greeted = now;
        void hello(folder, runId, () => greeted === now);
      }
    };
    const change = folder.runs.onDidChange(look);
    look(folder.runs.current);
    return {
      dispose: () => {
        change.dispose();
        if (greeted !== undefined) {
          goodbye(folder, greeted.runId);
        }
        greeted = undefined;
      },
    };
  }

  /** @param isWanted whether the window still shows the run: a hello behind its goodbye would count as a window */
  async function hello({ files }: Folder, runId: string, isWanted: () => boolean): Promise<void> {
    try {
      identity ??= identify(process.pid);
      const { pid, startId } = await identity;
      inbox ??= await import('../../orchestrator/workspace/request.ts');
      if (isWanted()) {
        inbox.postRequest(files, runId, { type: 'hello', window: id, pid, startId });
      }
    } catch (error) {
      onError(error as Error);
    }
  }

  function goodbye({ files }: Folder, runId: string): void {
    try {
      inbox?.postRequest(files, runId, { type: 'goodbye', window: id });
    } catch (error) {
      // The run's folder may be gone by now, and the run with it.
      onError(error as Error);
    }
  }

  return folders.inEach(follow);
}
