import { FilePermission, type FileStat, FileSystemError, FileType, l10n, Uri } from 'vscode';
import * as z from 'zod';
import { once } from '../../base/once.ts';
import type { FileVersion } from '../../orchestrator/git/changes.ts';
import { GIT_SCHEME } from '../common/contributions.ts';
import { ShownFiles } from '../common/shownFiles.ts';
import { requireTrust } from '../common/workspaceFolder.ts';
import type { Folders } from '../folders/folders.ts';

const querySchema = once(() =>
  z.object({
    folder: z.string(),
    commit: z.string(),
    path: z.string(),
    /** The side of a diff that shows it. */
    side: z.enum(['before', 'after']),
    /** Shown among the changes of a whole run, in which the lines of one file may belong to several stories. */
    of: z.literal('run').optional(),
  }),
);

/** A file of a commit as a document. */
export type GitDocument = z.infer<ReturnType<typeof querySchema>>;

/** @param folder absolute path of the workspace folder whose repository contains it */
export function gitUri(
  folder: string,
  { commit, path }: FileVersion,
  side: GitDocument['side'],
  of?: GitDocument['of'],
): Uri {
  return Uri.from({
    scheme: GIT_SCHEME,
    path: `/${path}`,
    query: JSON.stringify({ folder, commit, path, side, of } satisfies GitDocument),
  });
}

/** @returns the document that a URI of this scheme identifies; `undefined` for any other URI */
export function gitDocument(uri: Uri): GitDocument | undefined {
  if (uri.scheme !== GIT_SCHEME) {
    return undefined;
  }
  try {
    return querySchema().parse(JSON.parse(uri.query));
  } catch {
    // Anyone can create a URI.
    return undefined;
  }
}

/**
 * Files of a commit, read-only. A file system instead of a text provider, so that images and other binary files open
 * correctly. A commit never changes, so there is nothing to watch.
 */
export class GitFileSystem extends ShownFiles {
  private readonly folders: Folders;

  constructor(folders: Folders) {
    super(GIT_SCHEME, {
      folders: l10n.t('A commit is shown file by file.'),
      changes: l10n.t('A commit cannot be changed.'),
    });
    this.folders = folders;
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
    const document = gitDocument(uri);
    // Only folders open in the window: a URI may name any folder on this machine.
    const folder = document && this.folders.at(document.folder);
    if (document === undefined || folder === undefined) {
      throw FileSystemError.FileNotFound(uri);
    }
    requireTrust();
    const [{ fileVersion }, { GitRepository }] = await Promise.all([
      import('../../orchestrator/git/changes.ts'),
      import('../../orchestrator/git/git.ts'),
    ]);
    try {
      const commit = await new GitRepository(folder.path).resolveCommit(document.commit);
      return await fileVersion(folder.path, { commit, path: document.path });
    } catch {
      // Git's message names the missing object; for an editor, the file does not exist.
      throw FileSystemError.FileNotFound(uri);
    }
  }
}
