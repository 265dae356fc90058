import { gitResult, runGit } from './runGit.ts';

/** A file of a commit. */
export interface TreeFile {
  readonly path: string;
  /** The hash of its content. */
  readonly blob: string;
  /** In bytes. */
  readonly size: number;
}

/** All files of a commit; no links and no submodules. Works in a bare repository as well. */
export async function treeFiles(dir: string, commit: string): Promise<TreeFile[]> {
  const text = await runGit(dir, 'ls-tree', '-r', '-l', '-z', '--full-tree', commit);
  return text.split('\0').flatMap(entry => {
    const [, blob, size, path] = /^100\d{3} blob (\w+) +(\d+)\t(.*)$/s.exec(entry) ?? [];
    return blob === undefined || path === undefined ? [] : [{ path, blob, size: Number(size) }];
  });
}

/** The contents of blobs, in their order; undefined where the repository does not have one. */
export async function blobTexts(
  dir: string,
  blobs: readonly string[],
): Promise<(string | undefined)[]> {
  const { stdout } = await gitResult(dir, ['cat-file', '--batch'], { input: blobs.join('\n') });
  let at = 0;
  return blobs.map(() => {
    const end = stdout.indexOf('\n', at);
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
