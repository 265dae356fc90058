/** A part of the code: a folder with the source files in it and in folders that have no part of their own. */
export interface CodeFolder {
  /** '' for the top folder. */
  readonly folder: string;
  /** Sorted. */
  readonly files: readonly string[];
}

/** A Pin with more entries is not read. */
const MAX_FOLDERS = 60;
/** A folder with fewer files belongs to the one above. */
const MIN_FILES = 2;
/** Characters that a heading and a list of paths can hold as they are. */
const NAMEABLE = /^[\p{L}\p{N}_@+()[\] ./-]*$/u;

/**
 * Divides source files into folders that are worth an entry each: every folder with at least two files of its own; the
 * smallest ones go to the folder above until there are few enough. Pure.
 */
export function codeFolders(files: readonly string[]): CodeFolder[] {
  const parts = new Map<string, string[]>();
  for (const file of files) {
    addTo(parts, nameable(parentOf(file)), [file]);
  }
  for (const folder of byDepth(parts)) {
    if ((parts.get(folder)?.length ?? 0) < MIN_FILES) {
      moveUp(parts, folder);
    }
  }
  while (parts.size > MAX_FOLDERS) {
    moveUp(parts, smallestOf(parts));
  }
  return Array.from(parts, ([folder, own]) => ({ folder, files: own.toSorted() }))
    .filter(part => part.files.length >= MIN_FILES)
    .sort((a, b) => (a.folder < b.folder ? -1 : 1));
}

/** The folder of a path; '' at the top. */
export function parentOf(file: string): string {
  return file.slice(0, Math.max(0, file.lastIndexOf('/')));
}

/** The nearest folder at or above that can be a heading. */
function nameable(folder: string): string {
  let at = folder;
  while (!NAMEABLE.test(at) || at.trim() !== at || /\s\/|\/\s|\s{2}/.test(at)) {
    at = parentOf(at);
  }
  return at;
}

/** Deepest first. */
function byDepth(parts: ReadonlyMap<string, unknown>): string[] {
  const depth = (folder: string) => (folder === '' ? 0 : folder.split('/').length);
  return [...parts.keys()].sort((a, b) => depth(b) - depth(a) || (a < b ? -1 : 1));
}

/** Gives the files to the nearest folder above that is a part, or else to the folder directly above. */
function moveUp(parts: Map<string, string[]>, folder: string): void {
  const files = parts.get(folder) ?? [];
  if (folder === '') {
    return;
  }
  parts.delete(folder);
  let above = parentOf(folder);
  while (above !== '' && !parts.has(above) && files.length < MIN_FILES) {
    above = parentOf(above);
  }
  addTo(parts, above, files);
}

function addTo(parts: Map<string, string[]>, folder: string, files: readonly string[]): void {
  const known = parts.get(folder);
  if (known === undefined) {
    parts.set(folder, [...files]);
  } else {
    known.push(...files);
  }
}

/** The part with the fewest files, the deepest of several; one directly below the top folder only if all others are. */
function smallestOf(parts: ReadonlyMap<string, readonly string[]>): string {
  const folders = byDepth(parts).filter(folder => folder !== '');
  const deep = folders.filter(folder => folder.includes('/'));
  let smallest = '';
  let size = Number.POSITIVE_INFINITY;
  for (const folder of deep.length > 0 ? deep : folders) {
    const own = parts.get(folder)?.length ?? 0;
    if (own < size) {
      smallest = folder;
      size = own;
    }
  }
  return smallest;
}
