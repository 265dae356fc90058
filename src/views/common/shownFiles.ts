import {
  EventEmitter,
  type FileChangeEvent,
  FileChangeType,
  type FileStat,
  FileSystemError,
  type FileSystemProvider,
  type Uri,
  workspace,
} from 'vscode';
import type { Disposable } from '../../base/emitter.ts';

/** What a person is told who tries more than reading a file. */
interface Refusals {
  /** Why no folder is shown. */
  readonly folders: string;
  /** Why nothing is created, changed, moved or deleted. */
  readonly changes: string;
}

/** Files that are shown one by one under a scheme of their own: nothing is listed, created, moved or deleted. */
export abstract class ShownFiles implements FileSystemProvider, Disposable {
  private readonly changeEmitter = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.changeEmitter.event;
  private readonly refusals: Refusals;
  private readonly registration: Disposable;

  constructor(
    scheme: string,
    { isReadonly = true, ...refusals }: Refusals & { readonly isReadonly?: boolean },
  ) {
    this.refusals = refusals;
    this.registration = workspace.registerFileSystemProvider(scheme, this, {
      isCaseSensitive: true,
      isReadonly,
    });
  }

  dispose(): void {
    this.registration.dispose();
    this.changeEmitter.dispose();
  }

  /** Editors read these files again. */
  noteChange(...uris: readonly Uri[]): void {
    this.changeEmitter.fire(uris.map(uri => ({ type: FileChangeType.Changed, uri })));
  }

  /** Who shows files that change notes their changes. */
  watch(_uri: Uri): Disposable {
    return { dispose: () => undefined };
  }

  abstract stat(uri: Uri): Promise<FileStat>;

  abstract readFile(uri: Uri): Promise<Uint8Array>;

  writeFile(_uri: Uri, _content: Uint8Array): Promise<void> {
    throw FileSystemError.NoPermissions(this.refusals.changes);
  }

  readDirectory(): never {
    throw FileSystemError.NoPermissions(this.refusals.folders);
  }

  createDirectory(): never {
    throw FileSystemError.NoPermissions(this.refusals.changes);
  }

  delete(): never {
    throw FileSystemError.NoPermissions(this.refusals.changes);
  }

  rename(): never {
    throw FileSystemError.NoPermissions(this.refusals.changes);
  }
}
