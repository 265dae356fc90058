import type { Edit } from 'jsonc-parser';
import { isAlias, isScalar, type Pair, type YAMLMap } from 'yaml';

/** The pair of a map with this key. */
export function pairOf(map: YAMLMap | undefined, key: string): Pair | undefined {
  return map?.items.find(pair => isScalar(pair.key) && String(pair.key.value) === key);
}

/**
 * The edit that sets the value of a key in a map: the old value is replaced, a word inside its quotes, or a pair is
 * added. `value` must be a plain scalar. With anchors or unusual syntax the result may differ: parse it again.
 */
export function setPair(text: string, map: YAMLMap, key: string, value: boolean | string): Edit {
  const pair = pairOf(map, key);
  if (pair === undefined) {
    return addition(text, map, `${key}: ${value}`);
  }
  const { value: node } = pair;
  const [start, end] = (isScalar(node) || isAlias(node) ? node.range : undefined) ?? [];
  if (start === undefined || end === undefined) {
    // A key alone, as in {id, status}.
    const [, keyEnd = 0] = (isScalar(pair.key) ? pair.key.range : undefined) ?? [];
    return { offset: keyEnd, length: 0, content: `: ${value}` };
  }
  const old = text.slice(start, end);
  if (old === '') {
    const before = text[start - 1] === ':' ? ' ' : '';
    const after = /[^\s,}\]]/.test(text[start] ?? ' ') ? ' ' : '';
    return { offset: start, length: 0, content: `${before}${value}${after}` };
  }
  return { offset: start, length: old.trimEnd().length, content: inQuotesOf(old, value) };
}

/** In quotes, true and false would be texts. */
function inQuotesOf(old: string, value: boolean | string): string {
  const quote = typeof value === 'boolean' ? '' : (/^["']/.exec(old)?.[0] ?? '');
  return `${quote}${value}${quote}`;
}

/** A new pair after the first one if that is on one line, otherwise before it. */
function addition(text: string, map: YAMLMap, pair: string): Edit {
  const [first] = map.items;
  const start = isScalar(first?.key) ? first.key.range?.[0] : undefined;
  if (first === undefined || start === undefined) {
    return { offset: (map.range?.[0] ?? 0) + 1, length: 0, content: pair };
  }
  if (map.flow === true) {
    return { offset: start, length: 0, content: `${pair}, ` };
  }
  const lineStart =
    Math.max(text.lastIndexOf('\n', start - 1), text.lastIndexOf('\r', start - 1)) + 1;
  const indent = ' '.repeat(start - lineStart);
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const line = /[^\r\n]*/.exec(text.slice(start))?.[0] ?? '';
  const isOneLine = isScalar(first.value) && (first.value.range?.[1] ?? 0) <= start + line.length;
  return isOneLine
    ? { offset: start + line.length, length: 0, content: `${eol}${indent}${pair}` }
    : { offset: start, length: 0, content: `${pair}${eol}${indent}` };
}
