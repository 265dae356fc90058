import { EventEmitter, RelativePattern, Uri, workspace } from 'vscode';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { HumanError } from '../../orchestrator/humanError.ts';
import type { StoryFile } from '../../orchestrator/stories/story.ts';
import {
  findStoryFile,
  OTHER_STORY_FILE_PLACES,
  readStoryFile,
  STORY_FILE_PLACES,
} from '../../orchestrator/stories/storyFile.ts';
import { DisposableStore } from '../disposableStore.ts';

const SOON_MS = 250;
/** Every place that a story file may have, as one pattern. */
const STORY_FILES = `{**/prd.json,${[...STORY_FILE_PLACES, ...OTHER_STORY_FILE_PLACES].join(',')}}`;

/** A folder's story file, read when it changes. Nothing is read before somebody asks. */
export class StoryModel implements Disposable {
  private readonly store = new DisposableStore();
  private readonly changeEmitter = this.store.add(new EventEmitter<void>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly folder: string;
  private readonly onError: (error: Error) => void;
  private file: StoryFile | undefined;
  private reading: Promise<void> | undefined;
  private readAgain = false;
  private watcher: Disposable | undefined;
  private timer: NodeJS.Timeout | undefined;

  /** @param folder absolute path */
  constructor(folder: string, onError: (error: Error) => void) {
    this.folder = folder;
    this.onError = onError;
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

  /** As {@link refresh}, but many calls in a short time are one. */
  refreshSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.refresh();
    }, SOON_MS);
  }

  dispose(): void {
    clearTimeout(this.timer);
    this.watcher?.dispose();
    this.store.dispose();
  }

  private async readUntilCurrent(): Promise<void> {
    do {
      this.readAgain = false;
      try {
        const before = this.file;
        const after = await read(this.folder);
        // The same bytes keep the same objects, so that nobody takes them for a change.
        if (before?.path !== after?.path || before?.hash !== after?.hash) {
          this.file = after;
          this.changeEmitter.fire();
        }
      } catch (error) {
        this.onError(error as Error);
      }
    } while (this.readAgain);
  }

  private watch(): void {
    if (this.watcher !== undefined) {
      return;
    }
    const watcher = workspace.createFileSystemWatcher(
      new RelativePattern(Uri.file(this.folder), STORY_FILES),
    );
    const refresh = () => void this.refresh();
    watcher.onDidChange(refresh);
    watcher.onDidCreate(refresh);
    watcher.onDidDelete(refresh);
    this.watcher = watcher;
  }
}

async function read(folder: string): Promise<StoryFile | undefined> {
  const file = await findStoryFile(folder);
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
