import { constants, type FSWatcher, watch } from 'node:fs';
import { open, realpath } from 'node:fs/promises';
import path from 'node:path';
import { type FileStat, FileSystemError, FileType, l10n, Uri } from 'vscode';
import type { Disposable } from '../../base/emitter.ts';
import { openPlainFile, PLAIN, readPlainFile } from '../../base/plainFile.ts';
import { SETTLE_SCHEME } from '../common/contributions.ts';
import { ShownFiles } from '../common/shownFiles.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folders } from '../folders/folders.ts';
import { placesOf } from './placeFileSystem.ts';

const MAX_BYTES = 1024 * 1024 * 1024;
/** The place in which a person settles a conflict. */
const SETTLING = /^settle-[a-z0-9-]+$/;

/** @param file absolute path of a file in a place in which a person settles a conflict */
export function settledUri(file: string): Uri {
  return Uri.file(file).with({ scheme: SETTLE_SCHEME });
}

/**
 * The files of the places in which a person settles conflicts. By their real paths, VS Code's git support would find the
 * repository of the place, and ask whether to open it: yet the merge is Ralph's, and the person's own repository is
 * another one. Only files that are there can be changed, and none is created.
 */
export class SettledFileSystem extends ShownFiles {
  private readonly folders: Folders;

  constructor(folders: Folders) {
    const words = l10n.t(
      'Only the files in conflict are open here. For the others, use Open Place in New Window.',
    );
    super(SETTLE_SCHEME, { isReadonly: false, folders: words, changes: words });
    this.folders = folders;
  }

  /** A person may settle it in a terminal, too. */
  override watch(uri: Uri): Disposable {
    let watcher: FSWatcher | undefined;
    try {
      watcher = watch(path.dirname(uri.fsPath), { persistent: false }, (_type, name) => {
        if (name === null || name === path.basename(uri.fsPath)) {
          this.noteChange(uri);
        }
      });
      // Its place is removed when it has landed.
      watcher.on('error', () => watcher?.close());
    } catch {
      // VS Code compares the file before it saves, so nothing is overwritten unnoticed.
    }
    return { dispose: () => watcher?.close() };
  }

  async stat(uri: Uri): Promise<FileStat> {
    const handle = await openPlainFile(await this.find(uri));
    if (handle === undefined) {
      throw FileSystemError.FileNotFound(uri);
    }
    try {
      const { ctimeMs, mtimeMs, size } = await handle.stat();
      return { type: FileType.File, ctime: ctimeMs, mtime: mtimeMs, size };
    } finally {
      await handle.close();
    }
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    const bytes = await readPlainFile(await this.find(uri), MAX_BYTES);
    if (bytes === undefined) {
      throw FileSystemError.FileNotFound(uri);
    }
    return bytes;
  }

  override async writeFile(uri: Uri, content: Uint8Array): Promise<void> {
    const file = await this.find(uri);
    // It may be gone, or have become something else; a link is not followed below.
    await this.stat(uri);
    const handle = await open(file, constants.O_WRONLY | PLAIN);
    try {
      // Its mode stays, since the file is not replaced.
      await handle.truncate();
      await handle.writeFile(content);
    } finally {
      await handle.close();
    }
    this.noteChange(uri);
  }

  /** @throws {FileSystemError} if it is not in a place of a folder of this window, in which a conflict is settled */
  private async find(uri: Uri): Promise<string> {
    requireTrust();
    const dir = await realpath(path.dirname(uri.fsPath)).catch(() => undefined);
    for (const folder of dir === undefined ? [] : this.folders.all) {
      const relative = path.relative(await placesOf(folder), dir ?? '');
      const [place = '', inside] = relative.split(path.sep);
      if (SETTLING.test(place) && inside?.toLowerCase() !== '.git') {
        return path.join(dir ?? '', path.basename(uri.fsPath));
      }
    }
    throw FileSystemError.FileNotFound(uri);
  }
}
