import type { Edit } from 'jsonc-parser';
import { isMap, isScalar, isSeq, type YAMLMap, type YAMLSeq } from 'yaml';
import { pairOf } from './yamlEdit.ts';

/** The list of the commits that did a task, in files that have a place for it. */
export const COMMITS_KEY = 'commits';

/** Abbreviated or whole, as git prints it. */
const HASH = /^[0-9a-f]{7,64}$/i;

/** The hashes that a task lists; `undefined` if its file has no place for them, or something else stands there. */
export function listedCommits(value: unknown): readonly string[] | undefined {
  const list = value ?? [];
  return Array.isArray(list) &&
    list.every((item): item is string => typeof item === 'string' && HASH.test(item))
    ? list
    : undefined;
}

/** The hashes of a list that another list does not have, however they are abbreviated. */
export function missingCommits(listed: readonly string[], hashes: readonly string[]): string[] {
  return hashes.filter(
    hash => !listed.some(known => hash.startsWith(known) || known.startsWith(hash)),
  );
}

/** The edits that add hashes to the list of a task; none if that takes more than a small edit. */
export function addCommits(text: string, map: YAMLMap, hashes: readonly string[]): readonly Edit[] {
  const pair = pairOf(map, COMMITS_KEY);
  // A hash may look like a number, 1234e56.
  const words = hashes.map(hash => `"${hash}"`);
  if (pair === undefined || words.length === 0) {
    return [];
  }
  const { value } = pair;
  if (isSeq(value)) {
    const last = value.items.at(-1);
    const end = rangeOf(last)?.[1];
    if (value.flow === true) {
      const [start = 0] = rangeOf(value) ?? [];
      return end === undefined
        ? [{ offset: start + 1, length: 0, content: words.join(', ') }]
        : [{ offset: end, length: 0, content: `, ${words.join(', ')}` }];
    }
    const first = bulletOf(text, value);
    return end === undefined || first === undefined
      ? []
      : [{ offset: end, length: 0, content: words.map(word => `${first}${word}`).join('') }];
  }
  return addToNothing(text, pair.key, value, words);
}

/** The edit that empties the list of a task; none if it lists nothing, or has more than hashes. */
export function removeCommits(text: string, map: YAMLMap): readonly Edit[] {
  const value = pairOf(map, COMMITS_KEY)?.value;
  const [start, end] = isSeq(value) && value.items.length > 0 ? (rangeOf(value) ?? []) : [];
  if (!isSeq(value) || start === undefined || end === undefined || value.items.some(isMap)) {
    return [];
  }
  const last = rangeOf(value.items.at(-1))?.[1] ?? end;
  const stop = value.flow === true ? end : last;
  if (text.slice(start, stop).includes('#')) {
    return []; // A comment is somebody's text.
  }
  if (value.flow === true) {
    return [{ offset: start, length: end - start, content: '[]' }];
  }
  const colon = text.lastIndexOf(':', start);
  return /^:\s*$/.test(text.slice(colon, start))
    ? [{ offset: colon + 1, length: stop - colon - 1, content: ' []' }]
    : [];
}

function addToNothing(
  text: string,
  key: unknown,
  value: unknown,
  words: readonly string[],
): readonly Edit[] {
  const content = `[${words.join(', ')}]`;
  const [start, end] = rangeOf(value) ?? [];
  const isNull = value === null || (isScalar(value) && value.value === null);
  const [, keyEnd] = rangeOf(key) ?? [];
  if (!isNull || keyEnd === undefined) {
    return [];
  }
  if (start !== undefined && end !== undefined && end > start) {
    return [{ offset: start, length: end - start, content }];
  }
  const colon = text.indexOf(':', keyEnd);
  return colon === -1 || text.slice(keyEnd, colon).trim() !== ''
    ? []
    : [{ offset: colon + 1, length: 0, content: ` ${content}` }];
}

/** The line break, indentation and dash before each item of a block list. */
function bulletOf(text: string, { items }: YAMLSeq): string | undefined {
  const start = rangeOf(items.at(-1))?.[0] ?? 0;
  const [, bullet] = /((?:\r\n|\n|\r)[\t ]*-[\t ]+)$/.exec(text.slice(0, start)) ?? [];
  return bullet;
}

function rangeOf(node: unknown): readonly number[] | undefined {
  const range = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range;
  return range ?? undefined;
}
