import path from 'node:path';

/** Files that are not committed, relative to the repository's root. */
export interface Uncommitted {
  /** They were so before the run began, so no agent of this run left them. */
  readonly before: readonly string[];
  /** They are so since: an earlier iteration has left them. */
  readonly since: readonly string[];
}

/**
 * Tells the files that a person had not committed from those that an iteration left. Our own are in neither. Pure.
 *
 * @param changed what git says, relative to the repository's root
 * @param options.before those that were uncommitted before the first iteration of the run; absent in its first iteration
 * @param options.own absolute paths of what the loop and its agents keep notes in
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
 * Tells what the loop and its agents keep notes in from their work, by paths as git has them. Pure.
 * @param places.own absolute paths of files and folders
 * @param places.root absolute path of the repository's root
 */
export function ownFiles(places: {
  readonly own: readonly string[];
  readonly root: string;
}): (file: string) => boolean {
  const own = places.own.map(place => path.relative(places.root, place).split(path.sep).join('/'));
  // A new folder is named in place of all that is in it.
  return file =>
    own.some(
      place =>
        file === place ||
        file.startsWith(`${place}/`) ||
        (file.endsWith('/') && place.startsWith(file)),
    );
}
