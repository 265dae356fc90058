import { EventEmitter, l10n, type Memento, workspace } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { HumanError } from '../../base/humanError.ts';
import { Owner } from '../common/disposableStore.ts';
import { remember } from '../common/remember.ts';
import { requireFolder } from '../common/workspaceFolder.ts';
import { distinctNames } from './distinctNames.ts';
import { Folder } from './folder.ts';

/** Key under which the window stores the active folder. */
const ACTIVE_KEY = 'activeFolder';

/**
 * The window's folders on this machine, and the active one, which the palette, the status bar, the progress page and
 * the terminal refer to. It is the folder of the person's last action; when the window opens, one with a running
 * loop.
 */
export class Folders extends Owner {
  private readonly changeEmitter = this.own(new EventEmitter<void>());
  /** Folders were added or removed. */
  readonly onDidChange = this.changeEmitter.event;
  private readonly activeEmitter = this.own(new EventEmitter<Folder | undefined>());
  /** Another folder became the active one. */
  readonly onDidChangeActive = this.activeEmitter.event;
  private readonly state: Memento;
  private readonly onError: (error: Error) => void;
  private folders: readonly Folder[] = [];
  private activeFolder: Folder | undefined;
  /** A person chose it here; then a run in another folder does not replace it. */
  private isChosen = false;

  constructor(state: Memento, onError: (error: Error) => void) {
    super();
    this.state = state;
    this.onError = onError;
    this.own(workspace.onDidChangeWorkspaceFolders(() => this.update()));
    this.update();
  }

  get all(): readonly Folder[] {
    return this.folders;
  }

  get active(): Folder | undefined {
    return this.activeFolder;
  }

  /** The folder that contains a file, the innermost if folders are nested. @param file absolute path */
  of(file: string): Folder | undefined {
    return this.folders
      .filter(folder => folder.contains(file))
      .sort((a, b) => b.path.length - a.path.length)[0];
  }

  /** The folder with this path, as refs name it; without a path, the active one. */
  at(folderPath: string | undefined): Folder | undefined {
    return folderPath === undefined
      ? this.activeFolder
      : this.folders.find(folder => folder.path === folderPath);
  }

  /** A person works in this folder now. */
  activate(folder: Folder): void {
    this.isChosen = true;
    remember(this.state, ACTIVE_KEY, folder.path, this.onError);
    this.setActive(folder);
  }

  /** Listens in every current and future folder. @returns stops listening */
  inEach(listen: (folder: Folder) => Disposable): Disposable {
    const listeners = new Map<Folder, Disposable>();
    const update = () => {
      for (const [folder, listener] of listeners) {
        if (!this.folders.includes(folder)) {
          listener.dispose();
          listeners.delete(folder);
        }
      }
      for (const folder of this.folders) {
        if (!listeners.has(folder)) {
          listeners.set(folder, listen(folder));
        }
      }
    };
    const onChange = this.onDidChange(update);
    update();
    return {
      dispose: () => {
        onChange.dispose();
        for (const listener of listeners.values()) {
          listener.dispose();
        }
        listeners.clear();
      },
    };
  }

  override dispose(): void {
    for (const folder of this.folders) {
      folder.dispose();
    }
    this.folders = [];
    super.dispose();
  }

  private update(): void {
    const before = this.folders;
    const found = (workspace.workspaceFolders ?? [])
      .filter(({ uri }) => uri.scheme === 'file')
      .map(({ uri, name }) => ({ path: uri.fsPath, name }));
    // Terminals are found by the name of their folder.
    this.folders = distinctNames(found).map((name, index) => {
      const { path = '' } = found[index] ?? {};
      return (
        before.find(folder => folder.path === path && folder.name === name) ??
        this.create(path, name)
      );
    });
    const remembered = this.state.get<unknown>(ACTIVE_KEY);
    this.setActive(
      this.folders.find(folder => folder === this.activeFolder) ??
        this.folders.find(folder => folder.path === remembered) ??
        this.folders[0],
    );
    this.changeEmitter.fire();
    for (const folder of before) {
      if (!this.folders.includes(folder)) {
        folder.dispose();
      }
    }
  }

  private create(folderPath: string, name: string): Folder {
    const folder = new Folder(folderPath, name, this.state, this.onError);
    const listener = folder.runs.onDidChange(({ alive }) => {
      if (alive && !this.isChosen && !this.activeFolder?.runs.current.alive) {
        this.setActive(folder);
      }
      if (!this.folders.includes(folder)) {
        listener.dispose();
      }
    });
    return folder;
  }

  private setActive(folder: Folder | undefined): void {
    if (folder !== this.activeFolder) {
      this.activeFolder = folder;
      this.activeEmitter.fire(folder);
    }
  }
}

/**
 * The folder that a command works in: the one its argument names, otherwise the active one. It becomes the active
 * one.
 * @throws {FixableError} if there is none
 */
export function folderOf(folders: Folders, path: string | undefined): Folder {
  const found = folders.at(path);
  if (found === undefined && path !== undefined) {
    // Of a message from before it was removed.
    throw new HumanError(
      l10n.t('That folder is not in this window any more. Add it again, then try again.'),
    );
  }
  const folder = requireFolder(found);
  folders.activate(folder);
  return folder;
}

/**
 * Alerts and the status bar pass the folder if they mean no story of it. @returns `undefined` for the active folder
 */
export function folderPathOf(argument: unknown): string | undefined {
  return typeof argument === 'object' && argument !== null && 'folder' in argument
    ? String(argument.folder)
    : undefined;
}
