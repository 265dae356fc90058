import { isUtf8 } from 'node:buffer';
import { type GitObject, hashNameOf, newObject, readObjects } from './objects.ts';

/** What a tree has at a path. */
export interface TreeEntry {
  /** As in git's trees: `100644` a file, `100755` an executable one, `120000` a link, `160000` a submodule. */
  readonly mode: string;
  /** Full hash. */
  readonly id: string;
}

/** A tree with some entries replaced: its hash, and the objects to store before it can be used. */
export interface EditedTree {
  readonly tree: string;
  readonly objects: readonly GitObject[];
}

/** The mode of a folder. */
export const FOLDER_MODE = '40000';
/** Files, executable or not. */
const FILE = /^100/;

interface NamedEntry extends TreeEntry {
  /** A name may be anything but a slash and a NUL; it does not have to be UTF-8. */
  readonly name: Buffer;
}

/** A tree, seen along a few paths. Other parts of it are never read, however large it is. */
export class TreeView {
  /** Full hash of the tree itself. */
  readonly id: string;
  /** The folders along the paths, by path; '' is the tree itself. */
  private readonly folders: ReadonlyMap<string, readonly NamedEntry[]>;
  private readonly contents: ReadonlyMap<string, Buffer>;
  /** The entries of a folder by name, made when it is asked for: a folder may have thousands. */
  private readonly byName = new Map<string, ReadonlyMap<string, NamedEntry>>();

  constructor(
    id: string,
    folders: ReadonlyMap<string, readonly NamedEntry[]>,
    contents: ReadonlyMap<string, Buffer>,
  ) {
    this.id = id;
    this.folders = folders;
    this.contents = contents;
  }

  /** @param path one of those the view was made for */
  entry(path: string): TreeEntry | undefined {
    const [folder, name] = split(path);
    let known = this.byName.get(folder);
    if (known === undefined) {
      const entries = this.folders.get(folder) ?? [];
      known = new Map(entries.map(entry => [entry.name.toString('latin1'), entry]));
      this.byName.set(folder, known);
    }
    return known.get(Buffer.from(name).toString('latin1'));
  }

  /** The content of a file; `undefined` if there is none, or something else is there. */
  file(path: string): Buffer | undefined {
    return FILE.test(this.entry(path)?.mode ?? '') ? this.contents.get(path) : undefined;
  }

  /**
   * The tree with other entries. Pure.
   * @param changes by path; `undefined` removes an entry. A folder at such a path is not removed.
   * @returns the path of a file or folder that is in the way, if there is one
   */
  with(
    changes: ReadonlyMap<string, TreeEntry | undefined>,
  ): EditedTree | { readonly blocked: string } {
    const objects: GitObject[] = [];
    const folders = new Map(this.folders);
    const changed = new Set<string>();
    for (const [path, wanted] of changes) {
      const [folder, name] = split(path);
      const blocked = this.inTheWay(path, wanted);
      if (blocked !== undefined) {
        return { blocked };
      }
      if (wanted === undefined && !isRemovable(this.entry(path))) {
        continue;
      }
      folders.set(folder, replaced(folders.get(folder) ?? [], name, wanted));
      for (const above of withParents(folder)) {
        changed.add(above);
      }
    }
    let tree = this.id;
    // The deepest first: the hash of a folder is part of the folder above it.
    for (const folder of [...changed].sort((a, b) => depth(b) - depth(a))) {
      const entries = folders.get(folder) ?? [];
      const object = newObject('tree', treeContent(entries), hashNameOf(this.id));
      objects.push(object);
      if (folder === '') {
        tree = object.id;
      } else {
        const [parent, name] = split(folder);
        // Git does not store empty folders.
        const entry = entries.length === 0 ? undefined : { mode: FOLDER_MODE, id: object.id };
        folders.set(parent, replaced(folders.get(parent) ?? [], name, entry));
      }
    }
    return tree === this.id ? { tree, objects: [] } : { tree, objects };
  }

  /** What prevents a file from being put at the path. */
  private inTheWay(path: string, wanted: TreeEntry | undefined): string | undefined {
    if (wanted === undefined) {
      return undefined;
    }
    const above = withParents(split(path)[0]).filter(folder => folder !== '');
    const noFolder = above.find(
      folder => (this.entry(folder)?.mode ?? FOLDER_MODE) !== FOLDER_MODE,
    );
    return noFolder ?? (this.entry(path)?.mode === FOLDER_MODE ? path : undefined);
  }
}

/**
 * Reads trees along some paths, all with one process.
 * @param roots commits or trees that exist, as full hashes
 * @param paths relative to the top folder, with forward slashes
 * @throws git's message
 */
export async function viewTrees(
  dir: string,
  roots: readonly string[],
  paths: readonly string[],
): Promise<TreeView[]> {
  const folders = [...new Set(paths.flatMap(path => withParents(split(path)[0])))];
  const names = roots.flatMap(root => [
    `${root}^{tree}`,
    ...folders.filter(folder => folder !== '').map(folder => `${root}:${folder}`),
    ...paths.map(path => `${root}:${path}`),
  ]);
  const objects = new Map<string, GitObject | undefined>();
  for (const [i, object] of (await readObjects(dir, names)).entries()) {
    objects.set(names[i] ?? '', object);
  }
  return roots.map(root => {
    const top = objects.get(`${root}^{tree}`);
    if (top === undefined) {
      throw new Error(`The repository has no commit ${root}.`);
    }
    const found = new Map([['', entriesOf(top)]]);
    for (const folder of folders) {
      const object = objects.get(`${root}:${folder}`);
      if (object?.type === 'tree') {
        found.set(folder, entriesOf(object));
      }
    }
    const contents = paths.flatMap(path => {
      const object = objects.get(`${root}:${path}`);
      return object?.type === 'blob' ? [[path, object.content] as const] : [];
    });
    return new TreeView(top.id, found, new Map(contents));
  });
}

/** The names in a tree; those that are not UTF-8 are left out. */
export function namesIn(tree: GitObject): string[] {
  return entriesOf(tree).flatMap(({ name }) => (isUtf8(name) ? [name.toString()] : []));
}

/** What is no file, such as a folder, stays. */
function isRemovable(entry: TreeEntry | undefined): boolean {
  return entry !== undefined && entry.mode !== FOLDER_MODE;
}

function entriesOf({ content, id }: GitObject): NamedEntry[] {
  const entries: NamedEntry[] = [];
  const idBytes = id.length / 2;
  for (let at = 0; at < content.length; ) {
    const space = content.indexOf(' ', at);
    const end = content.indexOf(0, space);
    entries.push({
      mode: content.toString('latin1', at, space),
      name: content.subarray(space + 1, end),
      id: content.toString('hex', end + 1, end + 1 + idBytes),
    });
    at = end + 1 + idBytes;
  }
  return entries;
}

function treeContent(entries: readonly NamedEntry[]): Buffer {
  return Buffer.concat(
    entries.flatMap(({ id, mode, name }) => [
      Buffer.from(`${mode} `),
      name,
      Buffer.from([0]),
      Buffer.from(id, 'hex'),
    ]),
  );
}

function replaced(
  entries: readonly NamedEntry[],
  name: string,
  entry: TreeEntry | undefined,
): NamedEntry[] {
  const own = Buffer.from(name);
  const others = entries.filter(other => !other.name.equals(own));
  return entry === undefined
    ? others
    : [...others, { name: own, mode: entry.mode, id: entry.id }].sort((a, b) =>
        Buffer.compare(sortKey(a), sortKey(b)),
      );
}

/** Git sorts a folder as if its name ended with a slash. */
function sortKey({ mode, name }: NamedEntry): Buffer {
  return mode === FOLDER_MODE ? Buffer.concat([name, Buffer.from('/')]) : name;
}

/** @returns the folder, '' for the top folder, and the name in it */
function split(path: string): readonly [string, string] {
  const at = path.lastIndexOf('/');
  return at === -1 ? ['', path] : [path.slice(0, at), path.slice(at + 1)];
}

/** The folder and all above it, '' as the last one. */
function withParents(folder: string): string[] {
  return folder === '' ? [''] : [folder, ...withParents(split(folder)[0])];
}

function depth(folder: string): number {
  return folder === '' ? 0 : folder.split('/').length;
}
