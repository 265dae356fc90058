import { createHash } from 'node:crypto';
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
  placeOfStory,
  type StoryPlace,
} from '../../orchestrator/places/placeChanges.ts';
import { DisposableStore } from '../common/disposableStore.ts';
import { plainSentence } from '../common/plainText.ts';
import { Throttle } from '../common/throttle.ts';
import { gitUri } from '../diff/gitFileSystem.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';
import { type PlaceFileSystem, placesOf, placeUri } from './placeFileSystem.ts';
import type { ShownChange, ShownChanges } from './shownChanges.ts';

const MAX_TITLE = 80;
/** From a change until the list of files is read again, in ms. */
const SOON_MS = 1_000;
/** Maximum number of folders that are watched. */
const MAX_FOLDERS = 100;

/** What an editor is about. */
interface Subject {
  /** Of the editor. */
  readonly title: string;
  readonly folder: Folder;
  readonly storyId: string;
  readonly place: StoryPlace;
}

/** An editor with the changes in a place. */
interface Shown extends Subject {
  readonly refresh: Throttle;
  readonly store: DisposableStore;
  /** Of the files that it shows; another list needs another editor. */
  readonly key: string;
  /** Something has happened while nobody looked at it. */
  isStale: boolean;
}

/**
 * What has been done in places so far, in multi-file diff editors. The files of a place are shown as they are, so the
 * editors follow each change; when a file is added to the list, or leaves it, the editor is opened anew. That takes
 * the focus, so it waits until the person looks at the editor.
 */
export class LiveChanges implements Disposable {
  /** By title. */
  private readonly shown = new Map<string, Shown>();
  private readonly folders: Folders;
  private readonly files: PlaceFileSystem;
  private readonly remembered: ShownChanges;
  /** Restored editors that nobody has looked after yet. */
  private restored: readonly ShownChange[];
  private readonly listeners: Disposable;
  private readonly onError: (error: Error) => void;

  constructor(
    folders: Folders,
    files: PlaceFileSystem,
    remembered: ShownChanges,
    onError: (error: Error) => void,
  ) {
    this.folders = folders;
    this.files = files;
    this.remembered = remembered;
    this.restored = remembered.all;
    this.onError = onError;
    this.listeners = Disposable.from(
      window.tabGroups.onDidChangeTabs(({ closed }) => {
        for (const title of this.shown.keys()) {
          if (closed.some(({ label }) => isOf(label, title)) && tabOf(title) === undefined) {
            this.forget(title);
          }
        }
        this.look();
      }),
      window.tabGroups.onDidChangeTabGroups(() => this.look()),
      folders.onDidChange(() => this.closeRemoved()),
      window.onDidChangeWindowState(() => this.look()),
    );
    this.look();
  }

  /** Nobody would keep them up to date. */
  private closeRemoved(): void {
    for (const [title, { folder }] of this.shown) {
      if (!this.folders.all.includes(folder)) {
        this.forget(title);
        close(tabOf(title)).then(undefined, this.onError);
      }
    }
  }

  /** @throws {HumanError} if nothing has changed there yet */
  async show(folder: Folder, storyId: string, place: StoryPlace): Promise<void> {
    const id = shorten(storyId, MAX_TITLE);
    const title =
      this.folders.all.length > 1
        ? l10n.t('{0} of {1} so far', id, shorten(folder.name, MAX_TITLE))
        : l10n.t('{0} so far', id);
    const subject = { title, folder, storyId, place };
    const changes = await changesIn(place.root);
    const others = changes.files.filter(({ now }) => now === 'other').length;
    if (resourcesOf(subject, changes).length === 0) {
      throw new HumanError(l10n.t('Nothing has changed in the place of {0} so far.', storyId));
    }
    if (others > 0) {
      void window.showInformationMessage(
        plainSentence(l10n.t('{0}: links and folders are not shown ({1}).', id, others)),
      );
    }
    await this.open(subject, changes);
  }

  dispose(): void {
    this.listeners.dispose();
    for (const { store } of this.shown.values()) {
      store.dispose();
    }
    this.shown.clear();
  }

  private async open(subject: Subject, changes: PlaceChanges): Promise<void> {
    const before = tabOf(subject.title);
    const resources = resourcesOf(subject, changes);
    await commands.executeCommand('vscode.changes', subject.title, resources);
    await close(before);
    this.follow(subject, changes, keyOf(changes));
  }

  /** The person may look at another editor now. */
  private look(): void {
    for (const { isStale, refresh, title } of this.shown.values()) {
      if (isStale && isLookedAt(tabOf(title))) {
        refresh.call();
      }
    }
    for (const shown of this.restored) {
      const tab = tabOf(shown.title);
      if (tab !== undefined) {
        this.restored = this.restored.filter(other => other !== shown);
        this.adopt(shown, tab).catch(this.onError);
      }
    }
  }

  /** Follows the place of a restored editor, if it still serves the same agent. */
  private async adopt(shown: ShownChange, tab: Tab): Promise<void> {
    const { iteration, key, runId, storyId, title } = shown;
    const folder = this.folders.all.find(({ path: at }) => at === shown.folder);
    const place = folder && (await placeOfStory(await placesOf(folder), { runId, storyId }));
    if (this.shown.has(title)) {
      // The person was faster.
      return;
    }
    if (folder === undefined || place === undefined || place.iteration !== iteration) {
      this.remembered.remove(title);
      await close(tab);
      return;
    }
    this.follow({ title, folder, storyId, place }, await changesIn(place.root), key);
  }

  /** @param key of the files that the editor shows */
  private follow(subject: Subject, changes: PlaceChanges, key: string): void {
    const { folder, place, storyId, title } = subject;
    this.forget(title);
    const store = new DisposableStore();
    const refresh = store.add(
      new Throttle(() => {
        this.refresh(title).catch((error: unknown) => {
          this.forget(title);
          this.onError(error as Error);
        });
      }, SOON_MS),
    );
    store.add(folder.runs.onDidReadEvents(() => refresh.call()));
    store.add(
      watch(place, changes, file => {
        const name = path.relative(place.root, file).split(path.sep).join('/');
        this.files.noteChange(uriOf(subject, name));
        refresh.call();
      }),
    );
    this.shown.set(title, { ...subject, refresh, store, key, isStale: false });
    const { iteration, runId } = place;
    this.remembered.add({ title, folder: folder.path, storyId, runId, iteration, key });
    // What happened while the editor was being opened was not seen.
    refresh.call();
  }

  private async refresh(title: string): Promise<void> {
    const shown = this.shown.get(title);
    const tab = tabOf(title);
    if (shown === undefined || tab === undefined) {
      this.forget(title);
      return;
    }
    shown.isStale = !isLookedAt(tab);
    if (shown.isStale) {
      return;
    }
    const changes = await changesIn(shown.place.root);
    if (this.shown.get(title) !== shown) {
      return;
    }
    if (changes.iteration !== shown.place.iteration) {
      // Another agent works there: what is shown would be its files.
      this.forget(title);
      await close(tabOf(title));
      return;
    }
    // The person may have gone elsewhere meanwhile.
    shown.isStale = !isLookedAt(tabOf(title));
    if (!shown.isStale && keyOf(changes) !== shown.key && resourcesOf(shown, changes).length > 0) {
      await this.open(shown, changes);
    }
  }

  private forget(title: string): void {
    const shown = this.shown.get(title);
    this.shown.delete(title);
    this.remembered.remove(title);
    shown?.store.dispose();
  }
}

type Resource = readonly [Uri, Uri | undefined, Uri | undefined];

function resourcesOf(subject: Subject, { files, start }: PlaceChanges): Resource[] {
  return files
    .filter(({ now }) => now !== 'other')
    .map(({ isNew, now, path: name }) => {
      const file = uriOf(subject, name);
      // With the path of the file: the editor takes another path for another name.
      const before = isNew
        ? undefined
        : gitUri(subject.folder.path, { commit: start, path: name }, 'before').with({
            path: file.path,
          });
      return [file, before, now === 'file' ? file : undefined];
    });
}

/** Read-only: the files are the agent's. */
function uriOf({ folder, place }: Subject, name: string): Uri {
  const { iteration, name: placeName, root, runId } = place;
  const file = { place: placeName, runId, iteration, path: name };
  return placeUri(folder, file, path.join(root, name));
}

function keyOf({ files }: PlaceChanges): string {
  return createHash('sha256').update(JSON.stringify(files)).digest('hex');
}

/** @param onChange gets the absolute path of the file */
function watch(
  { root }: StoryPlace,
  { files }: PlaceChanges,
  onChange: (file: string) => void,
): Disposable {
  const dirs = new Set(files.map(file => path.dirname(path.join(root, file.path))));
  const onUri = ({ fsPath }: Uri) => onChange(fsPath);
  return Disposable.from(
    ...[...dirs].slice(0, MAX_FOLDERS).flatMap(dir => {
      const watcher = workspace.createFileSystemWatcher(new RelativePattern(Uri.file(dir), '*'));
      return [
        watcher,
        watcher.onDidChange(onUri),
        watcher.onDidCreate(onUri),
        watcher.onDidDelete(onUri),
      ];
    }),
  );
}

/** Only there, nothing is taken from the person if it is opened anew. */
function isLookedAt(tab: Tab | undefined): boolean {
  return window.state.focused && tab?.isActive === true && tab.group.isActive;
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
