import {
  type Document,
  isAlias,
  isScalar,
  isSeq,
  type Pair,
  parseDocument,
  visit,
  type YAMLMap,
} from 'yaml';
import { say } from '../../../base/say.ts';
import { pairOf } from '../edit/yamlEdit.ts';
import { findTooDeepYaml } from './nesting.ts';
import { plainText } from './plainText.ts';
import { readPlainYaml } from './plainYaml.ts';
import { findYamlError, otherMessage, type Unreadable } from './yamlError.ts';

/** A text whose nodes know where they are. */
export interface YamlText {
  readonly document: Document;
  readonly root: unknown;
}

/** Of one anchor. More are an attack on the memory. */
export const MAX_ALIASES = 1_000;

/** Parses YAML; numbers stay as they are written. */
export function parseYaml(text: string): YamlText | Unreadable {
  const tooDeep = findTooDeepYaml(text);
  // It also counts brackets in texts, of which there may be many. What can be read as plain YAML is not too deep.
  if (tooDeep !== undefined && readPlainYaml(text) === undefined) {
    return tooDeep;
  }
  try {
    const document = documentOf(text);
    const error = findYamlError(text, document, documentOf);
    if (error !== undefined) {
      return error;
    }
    let repeated: Unreadable | undefined;
    // 1.10 is an id, not the number 1.1.
    visit(document, {
      Map(_, map) {
        repeated ??= repeatedKey(map);
      },
      Scalar(_, node) {
        if (typeof node.value === 'number' && node.source !== undefined) {
          node.value = node.source;
        }
      },
    });
    return repeated ?? { document, root: document.toJS({ maxAliasCount: MAX_ALIASES }) };
  } catch (error) {
    // Too many aliases, one without an anchor, or brackets nested too deeply for the stack.
    const message = error instanceof Error ? error.message : '';
    return { message: otherMessage(message), offset: aliasAt(text, message) };
  }
}

function documentOf(text: string): Document {
  return parseDocument(text, {
    prettyErrors: false,
    logLevel: 'error',
    merge: true,
    // The library compares each key with all before it, which takes seconds for thousands of stories.
    uniqueKeys: false,
  });
}

/** Where the alias of an error stands, which only names it; 0 for another error. */
function aliasAt(text: string, message: string): number {
  const [, name] = /^Unresolved alias .*: (\S+)$/.exec(message) ?? [];
  const at = name === undefined ? -1 : text.indexOf(`*${name}`);
  return Math.max(0, at);
}

/** A key that a map has a second time. */
function repeatedKey({ items }: YAMLMap): Unreadable | undefined {
  const seen = new Set<unknown>();
  for (const { key } of items) {
    const name = isScalar(key) ? key.value : key;
    if (seen.has(name)) {
      return {
        message: say(
          'The key "{0}" is there a second time: remove this one, or the one above.',
          plainText(String(isScalar(key) ? (key.source ?? name) : name)),
        ),
        offset: startOf(key),
      };
    }
    seen.add(name);
  }
  return undefined;
}

/** The value of a key, behind an alias too. */
export function memberOf(document: Document, map: YAMLMap, key: string): unknown {
  return resolve(document, pairOf(map, key)?.value);
}

/** An item of a list, behind an alias too. */
export function itemOf(document: Document, list: unknown, index: number): unknown {
  return isSeq(list) ? resolve(document, list.items[index]) : undefined;
}

/** What an alias stands for, or the node itself. */
export function resolve(document: Document, node: unknown): unknown {
  return isAlias(node) ? node.resolve(document) : node;
}

/** Whether a pair adds the keys of another map to its own: `<<: *name`. */
export function isMergePair(pair: Pair | undefined): boolean {
  return isScalar(pair?.key) && pair.key.source === '<<';
}

/** The offset of a node. */
export function startOf(node: unknown): number {
  const range = (node as { readonly range?: readonly number[] | null } | undefined)?.range;
  return range?.[0] ?? 0;
}
