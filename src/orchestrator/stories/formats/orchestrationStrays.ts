import { type Document, isMap, isScalar, isSeq, type Pair, type YAMLMap } from 'yaml';
import { once } from '../../../base/once.ts';
import { otherListMessage } from '../storyProblems.ts';
import { namesIn } from './fieldNames.ts';
import { type Entry, isEntry, ownId, titleOf } from './prdEntry.ts';
import { likenessOf } from './strayEntry.ts';
import { type Path, type Read, type Strays, straysIn } from './strays.ts';
import { isMergePair, itemOf, resolve, startOf } from './yamlDocument.ts';

/** Whether a file has open tasks next to those that are read. */
export function hasStrays(root: Entry): boolean {
  return straysOf(root).length > 0;
}

/** The open tasks of a file next to those that are read: in other lists of the file, or of a phase. */
export function findStrays(document: Document, root: unknown) {
  const pairs = new MapPairs(document);
  const told = new Set<number>();
  return (isEntry(root) ? straysOf(root) : []).flatMap(({ count, name, path, used }) => {
    const offset = offsetOf(document, path, pairs);
    // A map that others are merged with has the same lists.
    const isNew = !told.has(offset);
    told.add(offset);
    return isNew ? [{ message: otherListMessage(name, count, used), offset }] : [];
  });
}

interface StraysOfFile extends Strays {
  /** The key of the list that is read. */
  readonly used: 'phases' | 'tasks';
}

function straysOf(root: Entry): readonly StraysOfFile[] {
  const used: StraysOfFile['used'] = Array.isArray(root['phases']) ? 'phases' : 'tasks';
  const phases = used === 'phases' ? (root['phases'] as readonly unknown[]) : [root];
  const lists = phases.map(phase => (isEntry(phase) ? phase['tasks'] : undefined));
  const tasks = lists.flatMap((list): readonly unknown[] => (Array.isArray(list) ? list : []));
  const read: Read = {
    like: likenessOf(
      () => tasks,
      once(() => namesIn(tasks.filter(isEntry))),
    ),
    seen: new Set([root[used], ...lists, ...tasks]),
    isItem: isTask,
    isGroup: namesPhase(used === 'phases' ? phases.filter(isEntry) : []),
  };
  const ofRoot = straysIn(root, read).map(strays => ({ ...strays, used }));
  const ofPhases = phases.flatMap((phase, index) =>
    isEntry(phase) && phase !== root && Array.isArray(phase['tasks'])
      ? straysIn(phase, read, ['phases', index])
      : [],
  );
  return [...ofPhases.map(strays => ({ ...strays, used: 'tasks' as const })), ...ofRoot];
}

/** Tells whether an entry is about a phase: it has its id or its name. Each list may count from 1. */
function namesPhase(phases: readonly Entry[]): (entry: Entry) => boolean {
  const names = once(() => namesIn(phases));
  return entry =>
    [ownId(entry), titleOf(entry)].some(
      name => name !== undefined && !/^\d+$/.test(name) && names().has(name),
    );
}

/** Whether an item is in a list that would be read if the file had no phases. */
function isTask(item: unknown, path: Path): boolean {
  return path.length === 2 && path[0] === 'tasks' && (isEntry(item) || typeof item === 'string');
}

/** The pairs of a map by their keys, also of maps that are merged with it: a map with thousands is read once. */
class MapPairs {
  readonly #document: Document;
  readonly #pairs = new Map<YAMLMap, ReadonlyMap<string, Pair>>();

  constructor(document: Document) {
    this.#document = document;
  }

  of(map: YAMLMap): ReadonlyMap<string, Pair> {
    const known = this.#pairs.get(map);
    if (known !== undefined) {
      return known;
    }
    const found = new Map<string, Pair>();
    // Before the merged maps, which may not lead back to this one without an end.
    this.#pairs.set(map, found);
    // What comes later counts: the keys of the map itself, and those of the first map of several.
    for (const merged of map.items.filter(isMergePair).toReversed()) {
      for (const source of this.#sourcesOf(merged).toReversed()) {
        for (const [key, pair] of isMap(source) ? this.of(source) : []) {
          found.set(key, pair);
        }
      }
    }
    for (const pair of map.items) {
      if (isScalar(pair.key)) {
        found.set(String(pair.key.value), pair);
      }
    }
    return found;
  }

  #sourcesOf({ value }: Pair): readonly unknown[] {
    const source = resolve(this.#document, value);
    return isSeq(source) ? source.items.map(item => resolve(this.#document, item)) : [source];
  }
}

/** Where something begins: in a list, its value, and in a map, its key. */
function offsetOf(document: Document, path: Path, pairs: MapPairs): number {
  let node: unknown = document.contents;
  let found = startOf(node);
  for (const step of path) {
    if (isMap(node) && typeof step === 'string') {
      const pair = pairs.of(node).get(step);
      found = startOf(pair?.key ?? node);
      node = resolve(document, pair?.value);
    } else if (isSeq(node) && typeof step === 'number') {
      found = startOf(node.items[step]);
      node = itemOf(document, node, step);
    }
  }
  return found;
}
