import { isCollection, isMap, isPair, isScalar, type Node, type Scalar, visit } from 'yaml';
import { type Message, say } from '../../../base/say.ts';
import { pairOf } from '../edit/yamlEdit.ts';
import { plainText } from './plainText.ts';
import { isMergePair, parseYaml } from './yamlDocument.ts';

/** What an alias of a text stands for, as well as the place where it is written. */
export interface YamlShare {
  /** As it is written, without its mark. */
  readonly name: string;
  /** Where the first alias is. */
  readonly offset: number;
  /** The value that is shared; absent if it is more than that. */
  readonly word?: string;
  /** Whether another map takes over keys that it does not have itself. */
  readonly isMerged: boolean;
}

/**
 * The share because of which a change would reach other places.
 * @param change its offset, with the key whose value it changes, and the offset of the map with this key
 */
export function findYamlShare(
  text: string,
  change: { readonly offset: number; readonly key: string; readonly map: number | undefined },
): YamlShare | undefined {
  const parsed = parseYaml(text);
  if ('message' in parsed) {
    return undefined;
  }
  const anchored = new Map<string, Node>();
  const found: { readonly share: YamlShare; readonly size: number }[] = [];
  visit(parsed.document, {
    Alias(_, { range, source: name }, path) {
      const node = anchored.get(name);
      if (node === undefined || !isWithin(change.offset, node)) {
        return;
      }
      const [start = 0, end = 0] = node.range ?? [];
      const isMerged = isMap(node) && start === change.map && isMergePair(path.findLast(isPair));
      // A map with a key of its own takes nothing over.
      if (!isMerged || pairOf(path.findLast(isMap), change.key) === undefined) {
        const word = isScalar(node) ? wordOf(text, node) : undefined;
        const share = { name, offset: range?.[0] ?? 0, word, isMerged };
        found.push({ share, size: end - start });
      }
    },
    Value(_, node) {
      if (node.anchor !== undefined) {
        anchored.set(node.anchor, node);
      }
    },
  });
  // The smallest one is written out most easily.
  return found.toSorted((a, b) => a.size - b.size)[0]?.share;
}

/**
 * Why the state of a story cannot be changed on its own, and what to write first so that it can be.
 * @param line of the alias
 * @param pair the old state with its key
 */
export function shareMessage(
  id: string,
  { isMerged, name, word }: YamlShare,
  line: number,
  pair: string,
): Message {
  const alias = plainText(`*${name}`);
  if (word !== undefined) {
    // An alias without its anchor would make the file unreadable.
    return say(
      'The state of {0} cannot be changed on its own, because each "{1}" stands for it, too, first on line {2}. Write "{3}" in the place of each "{1}", and only then remove "{4}" here.',
      plainText(id),
      alias,
      line,
      plainText(word),
      plainText(`&${name}`),
    );
  }
  return isMerged
    ? say(
        'The state of {0} cannot be changed on its own, because each task with "{1}" takes it over, first on line {2}. Write "{3}" in those tasks, too.',
        plainText(id),
        alias,
        line,
        plainText(pair),
      )
    : say(
        'The state of {0} cannot be changed on its own, because "{1}" on line {2} stands for it, too. Write there what it stands for, or remove it.',
        plainText(id),
        alias,
        line,
      );
}

/** A new key may stand directly behind the last one of its map. */
function isWithin(offset: number, node: Node): boolean {
  const [start = 0, end = 0] = node.range ?? [];
  return (
    start <= offset && (offset < end || (offset === end && (start === end || isCollection(node))))
  );
}

/** As it is written, on one line. */
function wordOf(text: string, node: Scalar): string {
  const [start, end] = node.range ?? [];
  const isBlock = node.type === 'BLOCK_FOLDED' || node.type === 'BLOCK_LITERAL';
  return (isBlock ? String(node.value).trim() : text.slice(start, end)) || 'null';
}
