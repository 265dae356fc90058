import path from 'node:path';

/** Files that are not committed, relative to the repository's root. */
export interface Uncommitted {
  /** Uncommitted since before the run, so no agent of this run left them. */
  readonly before: readonly string[];
  /** Left by an earlier iteration. */
  readonly since: readonly string[];
}

/**
 * Separates files that a person had not committed from those that an iteration left. Our own files are in neither
 * list. Pure.
 *
 * @param changed paths reported by git, relative to the repository's root
 * @param options.before files that were uncommitted before the first iteration of the run; absent in the first
 * iteration
 * @param options.own absolute paths of the notes of the loop and its agents
 * @param options.root absolute path of the repository's root
 */
export function uncommittedOf(
  changed: readonly string[],
  options: {
    readonly before: readonly string[] | undefined;
    readonly own: readonly string[];
    readonly root: string;
  },
): Uncommitted {
  const isOwn = ownFiles(options);
  const others = changed.filter(file => !isOwn(file));
  if (options.before === undefined) {
    return { before: others, since: [] };
  }
  const known = new Set(options.before);
  return {
    before: others.filter(file => known.has(file)),
    since: others.filter(file => !known.has(file)),
  };
}

/**
 * Recognizes the notes of the loop and its agents, by paths as git reports them. Pure.
 * @param places.own absolute paths of files and folders
 * @param places.root absolute path of the repository's root
 */
export function ownFiles(places: {
  readonly own: readonly string[];
  readonly root: string;
}): (file: string) => boolean {
  const own = places.own.map(place => path.relative(places.root, place).split(path.sep).join('/'));
  // Git reports a new folder instead of the files in it.
  return file =>
    own.some(
      place =>
        file === place ||
        file.startsWith(`${place}/`) ||
        (file.endsWith('/') && place.startsWith(file)),
    );
}
