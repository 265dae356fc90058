import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { readPlainFile } from '../../base/plainFile.ts';
import { gitResult, runGit } from './runGit.ts';

/** In bytes; larger files are read by git. */
const MAX_CHECKED_OUT = 1024 * 1024;
/** In hexadecimal digits; the hashes of other repositories are longer. */
const SHA_1_LENGTH = 40;

/** A file of a commit. */
export interface TreeFile {
  readonly path: string;
  /** The hash of its content. */
  readonly blob: string;
}

/** All files of a commit; no links and no submodules. Works in a bare repository as well. */
export async function treeFiles(dir: string, commit: string): Promise<TreeFile[]> {
  const text = await runGit(dir, 'ls-tree', '-r', '-z', '--full-tree', commit);
  return text.split('\0').flatMap(entry => {
    const [, blob, path] = /^100\d{3} blob (\w+)\t(.*)$/s.exec(entry) ?? [];
    return blob === undefined || path === undefined ? [] : [{ path, blob }];
  });
}

/**
 * What {@link treeFiles} gives after a change.
 * @param contents the new contents by path, as hashes; `undefined`: there is no file any more
 */
export function changedTree(
  files: readonly TreeFile[],
  contents: ReadonlyMap<string, string | undefined>,
): TreeFile[] {
  const left = new Map(contents);
  const tree: TreeFile[] = [];
  for (const file of files) {
    const blob = left.has(file.path) ? left.get(file.path) : file.blob;
    left.delete(file.path);
    if (blob !== undefined) {
      tree.push({ path: file.path, blob });
    }
  }
  const added = [...left]
    .flatMap(([path, blob]) =>
      blob === undefined ? [] : [{ path, blob, bytes: Buffer.from(path) }],
    )
    .sort((a, b) => a.bytes.compare(b.bytes));
  // With `splice`, each would move all that follow: a minute for a folder of 100,000 files that was moved.
  const parts: TreeFile[][] = [];
  let taken = 0;
  for (const { blob, bytes, path } of added) {
    const place = placeOf(tree, bytes);
    parts.push(tree.slice(taken, place), [{ path, blob }]);
    taken = place;
  }
  return [...parts, tree.slice(taken)].flat();
}

/** Where a new path belongs: git sorts the bytes, which are in another order than JavaScript's characters. */
function placeOf(files: readonly TreeFile[], bytes: Buffer): number {
  let [from, to] = [0, files.length];
  while (from < to) {
    const middle = (from + to) >> 1;
    if (bytes.compare(Buffer.from(files[middle]?.path ?? '')) < 0) {
      to = middle;
    } else {
      from = middle + 1;
    }
  }
  return from;
}

/**
 * The sizes of blobs in bytes; without those that the repository does not have. Git looks at each one, so ask only for
 * those that matter.
 */
export async function blobSizes(
  dir: string,
  blobs: readonly string[],
): Promise<Map<string, number>> {
  if (blobs.length === 0) {
    return new Map();
  }
  const { stdout } = await gitResult(dir, ['cat-file', '--batch-check', '--buffer'], {
    input: blobs.join('\n'),
  });
  return new Map(
    Array.from(
      stdout.toString('utf8').matchAll(/^(\w+) blob (\d+)$/gm),
      ([, blob = '', size]) => [blob, Number(size)] as const,
    ),
  );
}

/**
 * The contents of blobs, in their order; undefined where the repository does not have one, and for those that git has
 * not given.
 */
export async function blobTexts(
  dir: string,
  blobs: readonly string[],
): Promise<(string | undefined)[]> {
  const { stdout } = await gitResult(dir, ['cat-file', '--batch', '--buffer'], {
    input: blobs.join('\n'),
  });
  let at = 0;
  return blobs.map(() => {
    const end = stdout.indexOf('\n', at);
    if (end < 0) {
      // A partial clone that cannot reach its remote: git ends at the first blob that is missing.
      return undefined;
    }
    const [, type, size] = stdout.toString('utf8', at, end).split(' ');
    at = end + 1;
    if (type !== 'blob') {
      return undefined;
    }
    const text = stdout.toString('utf8', at, at + Number(size));
    at += Number(size) + 1;
    return text;
  });
}

/**
 * Like {@link blobTexts}, for a few files that are probably checked out: a file of the folder whose content is the
 * blob's saves the start of git, which takes as long as everything else that a prompt needs.
 * @param files their paths relative to the folder
 */
export async function checkedOutTexts(
  dir: string,
  files: readonly TreeFile[],
): Promise<(string | undefined)[]> {
  const texts = await Promise.all(
    files.map(async file => (await checkedOutContent(dir, file))?.toString('utf8')),
  );
  const others = files.filter((_, i) => texts[i] === undefined);
  const found =
    others.length === 0
      ? []
      : await blobTexts(
          dir,
          others.map(({ blob }) => blob),
        );
  return texts.map((text, i) => text ?? found[others.indexOf(files[i] as TreeFile)]);
}

/**
 * The content of a file, if it is checked out as it is in git.
 * @param file its path relative to the folder
 * @param maxBytes a larger file is not read
 */
export async function checkedOutContent(
  dir: string,
  { blob, path }: TreeFile,
  maxBytes = MAX_CHECKED_OUT,
): Promise<Buffer | undefined> {
  // One that cannot be read here, as another program has locked it or its name is too long, is in git all the same.
  const content = await readPlainFile(join(dir, path), maxBytes).catch(() => undefined);
  if (content === undefined) {
    return undefined;
  }
  // https://git-scm.com/book/en/v2/Git-Internals-Git-Objects
  const hash = createHash(blob.length === SHA_1_LENGTH ? 'sha1' : 'sha256');
  hash.update(`blob ${content.length}\0`).update(content);
  return hash.digest('hex') === blob ? content : undefined;
}
