import { gitResult, runGit } from './runGit.ts';

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
 * The contents of blobs, in their order; undefined where the repository does not have one.
 * @param blobs a promise, if git can start while they are being chosen
 */
export async function blobTexts(
  dir: string,
  blobs: readonly string[] | Promise<readonly string[]>,
): Promise<(string | undefined)[]> {
  const input = blobs instanceof Promise ? blobs.then(all => all.join('\n')) : blobs.join('\n');
  const { stdout } = await gitResult(dir, ['cat-file', '--batch', '--buffer'], { input });
  let at = 0;
  return (await blobs).map(() => {
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
