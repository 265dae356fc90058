import {
  EventEmitter,
  type FileChangeEvent,
  FilePermission,
  type FileStat,
  FileSystemError,
  type FileSystemProvider,
  FileType,
  Uri,
  workspace,
} from 'vscode';
import * as z from 'zod';
import type { Disposable } from '../../orchestrator/emitter.ts';
import { GitRepository } from '../../orchestrator/git/git.ts';
import { GIT_SCHEME } from '../contributions.ts';
import { ralphFolder, requireTrust } from '../workspaceFolder.ts';

const querySchema = z.object({ commit: z.string(), path: z.string() });

/** The file of a commit as a document. @param path relative to the repository, with forward slashes */
export function gitUri(commit: string, path: string): Uri {
  return Uri.from({
    scheme: GIT_SCHEME,
    path: `/${path}`,
    query: JSON.stringify({ commit, path }),
  });
}

/**
 * Files as of a commit, read-only. A file system and not a text provider, so that pictures and other binary
 * files open as what they are. A commit never changes, so there is nothing to watch.
 */
export class GitFileSystem implements FileSystemProvider, Disposable {
  private readonly changeEmitter = new EventEmitter<FileChangeEvent[]>();
  readonly onDidChangeFile = this.changeEmitter.event;
  private readonly registration: Disposable;

  constructor() {
    this.registration = workspace.registerFileSystemProvider(GIT_SCHEME, this, {
      isCaseSensitive: true,
      isReadonly: true,
    });
  }

  dispose(): void {
    this.registration.dispose();
    this.changeEmitter.dispose();
  }

  watch(): Disposable {
    return { dispose: () => undefined };
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { length } = await this.readFile(uri);
    return {
      type: FileType.File,
      ctime: 0,
      mtime: 0,
      size: length,
      permissions: FilePermission.Readonly,
    };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    const folder = ralphFolder();
    const query = parseQuery(uri);
    if (folder === undefined || query === undefined) {
      throw FileSystemError.FileNotFound(uri);
    }
    requireTrust();
    const git = new GitRepository(folder);
    try {
      return await git.fileAt(await git.resolveCommit(query.commit), query.path);
    } catch {
      // Git's message names the object it lacks; for an editor that is a file that is not there.
      throw FileSystemError.FileNotFound(uri);
    }
  }

  readDirectory(): never {
    throw FileSystemError.NoPermissions('A commit is shown file by file.');
  }

  createDirectory(): never {
    throw FileSystemError.NoPermissions('A commit cannot be changed.');
  }

  writeFile(): never {
    throw FileSystemError.NoPermissions('A commit cannot be changed.');
  }

  delete(): never {
    throw FileSystemError.NoPermissions('A commit cannot be changed.');
  }

  rename(): never {
    throw FileSystemError.NoPermissions('A commit cannot be changed.');
  }
}

function parseQuery(uri: Uri): z.infer<typeof querySchema> | undefined {
  try {
    return querySchema.parse(JSON.parse(uri.query));
  } catch {
    return undefined;
  }
}
