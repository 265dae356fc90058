import { existsSync } from 'node:fs';
import { EventEmitter, type Memento, RelativePattern, Uri, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import type { Story, StoryFile } from '../../orchestrator/stories/story.ts';
import {
  OTHER_STORY_FILE_PLACES,
  STORY_FILE_PLACES,
} from '../../orchestrator/stories/storyPlaces.ts';
import { Owner } from '../common/disposableStore.ts';

/** Finds and reads story files in all formats, which is much code: activation does not wait for it. */
const sources = () => import('../../orchestrator/stories/knownSources.ts');

const SOON_MS = 250;
/**
 * VS Code does not report every change: a person may have excluded the file from watching, and a folder that is removed
 * and made anew can be missed. So the file is looked at this often, in ms.
 */
const LOOK_MS = 5_000;
/** What a folder of stories consists of. */
const FOLDER_FILES = ['backlog', '.backlog'].flatMap(folder =>
  ['tasks/*.md', 'completed/*.md', 'config.yml', 'config.yaml'].map(file => `${folder}/${file}`),
);
/** All paths that a story file may have, as one pattern. */
const STORY_FILES = `{**/prd.json,${[...STORY_FILE_PLACES, ...OTHER_STORY_FILE_PLACES, ...FOLDER_FILES].join(',')}}`;
/** Key under which the window stores the files that a person chose, by folder. */
const CHOICES_KEY = 'storyFiles';

/** A folder's story file, read when it changes. Nothing is read before the first request. */
export class StoryModel extends Owner {
  private readonly changeEmitter = this.own(new EventEmitter<void>());
  readonly onDidChange = this.changeEmitter.event;
  private readonly folder: string;
  private readonly onError: (error: Error) => void;
  private file: StoryFile | undefined;
  private reading: Promise<void> | undefined;
  private readAgain = false;
  private watcher: Disposable | undefined;
  private timer: NodeJS.Timeout | undefined;
  private looking: NodeJS.Timeout | undefined;
  /** What the files looked like when they were read last. */
  private stamp = '';
  private isDisposed = false;
  private readonly state: Memento;
  private found: readonly string[] = [];
  private finding: Promise<void> | undefined;

  /**
   * @param folder absolute path
   * @param state the workspace's state; stores the file that a person chose
   */
  constructor(folder: string, state: Memento, onError: (error: Error) => void) {
    super();
    this.folder = folder;
    this.state = state;
    this.onError = onError;
  }

  /** As last read; `undefined` if there is none, or before the first {@link refresh}. */
  get current(): StoryFile | undefined {
    return this.file;
  }

  /** Its stories; none if the file cannot be used. */
  get list(): readonly Story[] {
    return this.file?.kind === 'stories' ? this.file.stories : [];
  }

  /** Absolute path of the file that a person chose; `undefined` means the one at the usual path. */
  get chosenFile(): string | undefined {
    const choice = this.choices[this.folder];
    return typeof choice === 'string' && existsSync(choice) ? choice : undefined;
  }

  /** All files of the folder that may contain stories, as far as they have been found. */
  get knownFiles(): readonly string[] {
    return this.found;
  }

  /** Finds all files of the folder that may contain stories: absolute paths, the usual one first. */
  async findFiles(): Promise<readonly string[]> {
    this.finding ??= sources()
      .then(({ findStoryFiles }) => findStoryFiles(this.folder))
      .then(found => {
        const isNew = found.join('\n') !== this.found.join('\n');
        this.found = found;
        if (isNew) {
          this.changeEmitter.fire();
        }
      })
      .finally(() => {
        this.finding = undefined;
      });
    await this.finding;
    return this.found;
  }

  /** Shows this file from now on, also in later windows, as long as it exists. @param file absolute path */
  async choose(file: string): Promise<void> {
    await this.state.update(CHOICES_KEY, { ...this.choices, [this.folder]: file });
    await this.refresh();
  }

  /** Reads the file again, and follows it from now on. Calls during a read result in one more read. */
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

  /** Like {@link refresh}, but merges many calls within a short time. */
  refreshSoon(): void {
    this.timer ??= setTimeout(() => {
      this.timer = undefined;
      void this.refresh();
    }, SOON_MS);
  }

  override dispose(): void {
    // A command that still works in the folder reads it once more, but must not follow it.
    this.isDisposed = true;
    clearTimeout(this.timer);
    clearInterval(this.looking);
    this.watcher?.dispose();
    super.dispose();
  }

  private async readUntilCurrent(): Promise<void> {
    do {
      this.readAgain = false;
      try {
        this.stamp = await this.stampNow();
        const before = this.file;
        const { readUsedFile } = await sources();
        const after = await readUsedFile(this.folder, this.chosenFile);
        // Equal bytes keep the same objects, so that no observer sees a change.
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
    if (this.watcher !== undefined || this.isDisposed) {
      return;
    }
    const watcher = workspace.createFileSystemWatcher(
      new RelativePattern(Uri.file(this.folder), STORY_FILES),
    );
    const refresh = () => void this.refresh();
    const find = () => {
      refresh();
      this.findFiles().catch(this.onError);
    };
    watcher.onDidChange(refresh);
    watcher.onDidCreate(find);
    watcher.onDidDelete(find);
    this.watcher = watcher;
    this.looking = setInterval(() => {
      this.lookAgain().catch(this.onError);
    }, LOOK_MS);
    this.findFiles().catch(this.onError);
  }

  private async lookAgain(): Promise<void> {
    if (this.reading === undefined && (await this.hasChanged())) {
      await Promise.all([this.refresh(), this.findFiles()]);
    }
  }

  /** VS Code may miss a file in a folder that is made at the same time, such as `.taskmaster/tasks`. */
  private async hasChanged(): Promise<boolean> {
    if ((await this.stampNow()) !== this.stamp) {
      return true;
    }
    const { findStoryFile } = await sources();
    return this.file === undefined && (await findStoryFile(this.folder)) !== undefined;
  }

  private async stampNow(): Promise<string> {
    const { usedVersion } = await sources();
    return usedVersion(this.folder, this.file?.path);
  }

  private get choices(): Readonly<Record<string, unknown>> {
    return this.state.get<Record<string, unknown>>(CHOICES_KEY, {});
  }
}
