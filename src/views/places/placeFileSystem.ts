import { lstat, realpath } from 'node:fs/promises';
import { FilePermission, type FileStat, FileSystemError, FileType, l10n, Uri } from 'vscode';
import * as z from 'zod';
import { once } from '../../base/once.ts';
import { readPlainFile } from '../../base/plainFile.ts';
import type { PlaceFile } from '../../orchestrator/places/placeChanges.ts';
import { placesFolder } from '../../orchestrator/places/placesFolder.ts';
import { PLACE_SCHEME } from '../common/contributions.ts';
import { ShownFiles } from '../common/shownFiles.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folder } from '../folders/folder.ts';
import type { Folders } from '../folders/folders.ts';

/** VS Code asks before it opens a file that is far smaller. */
const MAX_BYTES = 1024 * 1024 * 1024;

const querySchema = once(() =>
  z.object({
    folder: z.string(),
    place: z.string(),
    runId: z.string(),
    iteration: z.number().optional(),
    path: z.string(),
  }),
);

/** The folder with the places of a folder of the window. */
export async function placesOf({ path }: Folder): Promise<string> {
  const folder = placesFolder(process.env, process.platform, path);
  return realpath(folder).catch(() => folder);
}

/** @param at absolute path of the file, for people */
export function placeUri(folder: Folder, file: PlaceFile, at: string): Uri {
  const query = JSON.stringify({ folder: folder.path, ...file });
  return Uri.file(at).with({ scheme: PLACE_SCHEME, query });
}

/**
 * Files of places, read-only: they are an agent's. A place serves one iteration after the other, so the files of an
 * earlier one are gone, and are never those of another story.
 */
export class PlaceFileSystem extends ShownFiles {
  private readonly folders: Folders;

  constructor(folders: Folders) {
    super(PLACE_SCHEME, {
      folders: l10n.t('A place is shown file by file.'),
      changes: l10n.t('These are the agent’s files. To change them, use Open Place in New Window.'),
    });
    this.folders = folders;
  }

  async stat(uri: Uri): Promise<FileStat> {
    const { ctimeMs, mtimeMs, size } = await lstat(await this.find(uri));
    const permissions = FilePermission.Readonly;
    return { type: FileType.File, ctime: ctimeMs, mtime: mtimeMs, size, permissions };
  }

  async readFile(uri: Uri): Promise<Uint8Array> {
    // It may just have become something else.
    const bytes = await readPlainFile(await this.find(uri), MAX_BYTES);
    if (bytes === undefined) {
      throw FileSystemError.FileNotFound(uri);
    }
    return bytes;
  }

  /** @throws {FileSystemError} if there is none, or the place serves something else now */
  private async find(uri: Uri): Promise<string> {
    const file = placeFile(uri);
    // Only folders open in the window: a URI may name any folder on this machine.
    const folder = file && this.folders.at(file.folder);
    if (file === undefined || folder === undefined) {
      throw FileSystemError.FileNotFound(uri);
    }
    requireTrust();
    const { fileInPlace } = await import('../../orchestrator/places/placeChanges.ts');
    const found = await fileInPlace(await placesOf(folder), { iteration: undefined, ...file });
    if (found === undefined) {
      throw FileSystemError.FileNotFound(uri);
    }
    return found;
  }
}

function placeFile(uri: Uri) {
  try {
    return querySchema().parse(JSON.parse(uri.query));
  } catch {
    // Anyone can create a URI.
    return undefined;
  }
}
