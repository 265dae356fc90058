import path from 'node:path';
import {
  commands,
  Disposable,
  l10n,
  RelativePattern,
  type Tab,
  Uri,
  window,
  workspace,
} from 'vscode';
import { HumanError } from '../../base/humanError.ts';
import { shorten } from '../../base/text.ts';
import {
  changesIn,
  type PlaceChanges,
  type StoryPlace,
} from '../../orchestrator/places/placeChanges.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { plainSentence } from '../common/plainText.ts';
import { Throttle } from '../common/throttle.ts';
import { gitUri } from '../diff/gitFileSystem.ts';
import type { Folder } from '../folders/folder.ts';

const MAX_TITLE = 80;
/** From a change until the list of files is read again, in ms. */
const SOON_MS = 1_000;
/** Maximum number of folders that are watched. */
const MAX_FOLDERS = 100;

/** An editor with the changes in a place. */
interface Shown {
  readonly place: StoryPlace;
  readonly refresh: Throttle;
  readonly store: DisposableStore;
  /** The files that it shows; another list needs another editor. */
  files: string;
  watched: Disposable;
}

/**
 * What has been done in places so far, in multi-file diff editors. The files of a place are shown as they are, so the
 * editors follow each change; when a file is added to the list, or leaves it, the editor is opened anew, as soon as it
 * is looked at.
 */
export class LiveChanges implements Disposable {
  private readonly shown = new Map<string, Shown>();
  private readonly tabs: Disposable;
  private readonly onError: (error: Error) => void;

  constructor(onError: (error: Error) => void) {
    this.onError = onError;
    this.tabs = window.tabGroups.onDidChangeTabs(({ changed, closed, opened }) => {
      for (const [title, { refresh }] of this.shown) {
        if ([...changed, ...opened].some(({ isActive, label }) => isActive && isOf(label, title))) {
          refresh.call();
        } else if (closed.some(({ label }) => isOf(label, title)) && tabOf(title) === undefined) {
          this.forget(title);
        }
      }
    });
  }

  /** @throws {HumanError} if nothing has changed there yet */
  async show(folder: Folder, storyId: string, place: StoryPlace): Promise<void> {
    const title = l10n.t('{0} so far', shorten(storyId, MAX_TITLE));
    const changes = await changesIn(place.root);
    const resources = resourcesOf(folder, place, changes);
    const others = changes.files.filter(({ now }) => now === 'other').length;
    if (resources.length === 0) {
      throw new HumanError(l10n.t('Nothing has changed in the place of {0} so far.', storyId));
    }
    if (others > 0) {
      void window.showInformationMessage(
        plainSentence(
          l10n.t('{0}: links and folders are not shown ({1}).', shorten(storyId, 80), others),
        ),
      );
    }
    const before = tabOf(title);
    await commands.executeCommand('vscode.changes', title, resources);
    await close(before);
    this.follow(folder, storyId, title, place, changes);
  }

  dispose(): void {
    this.tabs.dispose();
    for (const title of [...this.shown.keys()]) {
      this.forget(title);
    }
  }

  private follow(
    folder: Folder,
    storyId: string,
    title: string,
    place: StoryPlace,
    changes: PlaceChanges,
  ): void {
    this.forget(title);
    const store = new DisposableStore();
    const refresh = store.add(
      new Throttle(() => {
        this.refresh(folder, storyId, title).catch((error: unknown) => {
          this.forget(title);
          this.onError(error as Error);
        });
      }, SOON_MS),
    );
    store.add(folder.runs.onDidReadEvents(() => refresh.call()));
    const watched = watch(place, changes, () => refresh.call());
    this.shown.set(title, { place, refresh, store, files: keyOf(changes), watched });
    // What happened while the editor was being opened was not seen.
    refresh.call();
  }

  private async refresh(folder: Folder, storyId: string, title: string): Promise<void> {
    const shown = this.shown.get(title);
    const tab = tabOf(title);
    if (shown === undefined || tab === undefined) {
      this.forget(title);
      return;
    }
    if (!tab.isActive) {
      // Once somebody looks at it.
      return;
    }
    const changes = await changesIn(shown.place.root);
    if (changes.iteration !== shown.place.iteration) {
      // Another agent works there: what is shown would be its files.
      this.forget(title);
      await close(tabOf(title));
      return;
    }
    if (keyOf(changes) !== shown.files && this.shown.get(title) === shown) {
      shown.files = keyOf(changes);
      if (resourcesOf(folder, shown.place, changes).length > 0) {
        await this.show(folder, storyId, shown.place);
      }
    }
  }

  private forget(title: string): void {
    const shown = this.shown.get(title);
    this.shown.delete(title);
    shown?.watched.dispose();
    shown?.store.dispose();
  }
}

type Resource = readonly [Uri, Uri | undefined, Uri | undefined];

function resourcesOf(
  folder: Folder,
  { root }: StoryPlace,
  { files, start }: PlaceChanges,
): Resource[] {
  return files
    .filter(({ now }) => now !== 'other')
    .map(({ isNew, now, path: name }) => {
      const file = Uri.file(path.join(root, name));
      // With the path of the file: the editor takes another path for another name.
      const before = isNew
        ? undefined
        : gitUri(folder.path, { commit: start, path: name }, 'before').with({ path: file.path });
      return [file, before, now === 'file' ? file : undefined];
    });
}

function keyOf({ files }: PlaceChanges): string {
  return JSON.stringify(files);
}

/** Outside of the workspace, VS Code reads a file again only if somebody watches it. */
function watch({ root }: StoryPlace, { files }: PlaceChanges, onChange: () => void): Disposable {
  const dirs = new Set(files.map(file => path.dirname(path.join(root, file.path))));
  return Disposable.from(
    ...[...dirs].slice(0, MAX_FOLDERS).flatMap(dir => {
      const watcher = workspace.createFileSystemWatcher(new RelativePattern(Uri.file(dir), '*'));
      return [
        watcher,
        watcher.onDidChange(onChange),
        watcher.onDidCreate(onChange),
        watcher.onDidDelete(onChange),
      ];
    }),
  );
}

function tabOf(title: string): Tab | undefined {
  return allTabs().find(({ label }) => isOf(label, title));
}

function allTabs(): readonly Tab[] {
  return window.tabGroups.all.flatMap(({ tabs }) => tabs);
}

/** The editor itself adds the number of files. */
function isOf(label: string, title: string): boolean {
  return label === title || label.startsWith(`${title} (`);
}

async function close(tab: Tab | undefined): Promise<void> {
  // An editor in preview mode has been replaced already.
  if (tab !== undefined && allTabs().includes(tab)) {
    await window.tabGroups.close(tab, true);
  }
}
