import { EventEmitter, RelativePattern, Uri, workspace } from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { HumanError } from '../../orchestrator/humanError.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import { findStoryFile, readStoryFile } from '../../orchestrator/stories/storyFile.ts';
import { DisposableStore } from '../disposableStore.ts';
import { ralphFolder } from '../workspaceFolder.ts';

/** The workspace's story file, read when it changes. Nothing is read before somebody asks. */
export class StoryModel implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changeEmitter = this.store.add(new EventEmitter<void>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly onError: (error: Error) => void;
  private file: StoryFile | undefined;
  private reading: Promise<void> | undefined;
  private readAgain = false;
  private watching = false;

  constructor(onError: (error: Error) => void) {
    this.onError = onError;
    this.store.add(workspace.onDidChangeWorkspaceFolders(() => void this.refresh()));
  }

  /** As last read; `undefined` where there is none, or before the first {@link refresh}. */
  get current(): StoryFile | undefined {
    return this.file;
  }

  /** Reads the file anew, and follows it from now on. Calls while one reads are one more read. */
  refresh(): Promise<void> {
    if (this.reading) {
      this.readAgain = true;
      return this.reading;
    }
    this.watch();
    this.reading = this.readUntilCurrent().finally(() => {
      this.reading = undefined;
    });
    return this.reading;
  }

  dispose(): void {
    this.store.dispose();
  }

  private async readUntilCurrent(): Promise<void> {
    do {
      this.readAgain = false;
      try {
        const before = this.file;
        this.file = await read();
        if (before?.path !== this.file?.path || before?.hash !== this.file?.hash) {
          this.changeEmitter.fire();
        }
      } catch (error) {
        this.onError(error as Error);
      }
    } while (this.readAgain);
  }

  private watch(): void {
    const folder = ralphFolder();
    if (this.watching || folder === undefined) {
      return;
    }
    this.watching = true;
    const watcher = this.store.add(
      workspace.createFileSystemWatcher(new RelativePattern(Uri.file(folder), '**/prd.json')),
    );
    const refresh = () => void this.refresh();
    this.store.add(watcher.onDidChange(refresh));
    this.store.add(watcher.onDidCreate(refresh));
    this.store.add(watcher.onDidDelete(refresh));
  }
}

async function read(): Promise<StoryFile | undefined> {
  const folder = ralphFolder();
  const file = folder === undefined ? undefined : await findStoryFile(folder);
  if (file === undefined) {
    return undefined;
  }
  try {
    return await readStoryFile(file);
  } catch (error) {
    if (error instanceof HumanError) {
      // Removed between the look and the read.
      return undefined;
    }
    throw error;
  }
}
