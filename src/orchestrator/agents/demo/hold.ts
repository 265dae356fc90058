import { existsSync, type FSWatcher, statSync, watch } from 'node:fs';
import path from 'node:path';

const HOLD_RECHECK_MS = 1000;

/**
 * @returns the file that blocks a story, if there is one: `hold` itself, or the file in it that is named after the
 * story
 */
export function holdFileOf(hold: string | undefined, storyId: string): string | undefined {
  const found = hold === undefined ? undefined : statSync(hold, { throwIfNoEntry: false });
  if (hold === undefined || found === undefined) {
    return undefined;
  }
  const file = found.isDirectory() ? path.join(hold, storyId) : hold;
  return existsSync(file) ? file : undefined;
}

/** Resolves when the file does not exist or has been removed. */
export async function gone(file: string, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  await new Promise<void>((resolve, reject) => {
    let watcher: FSWatcher | undefined;
    const settle = (finish: () => void) => {
      watcher?.close();
      clearInterval(timer);
      signal.removeEventListener('abort', abort);
      finish();
    };
    const abort = () => settle(() => reject(signal.reason));
    const check = () => {
      if (!existsSync(file)) {
        settle(resolve);
      }
    };
    // Some file systems report nothing, so the file is also polled.
    const timer = setInterval(check, HOLD_RECHECK_MS);
    signal.addEventListener('abort', abort);
    try {
      watcher = watch(path.dirname(file), check);
      watcher.on('error', () => watcher?.close());
    } catch {
      // The folder is gone, or cannot be watched; polling remains.
    }
    check();
  });
}
