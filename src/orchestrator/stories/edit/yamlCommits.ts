import type { Edit } from 'jsonc-parser';
import { isMap, isScalar, isSeq, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Span } from '../formats/jsonOutline.ts';
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
  if (!isSeq(value)) {
    return addToNothing(text, pair.key, value, words);
  }
  if (value.flow === true) {
    return addInBrackets(text, value, words);
  }
  const last = spansOf(text, value).at(-1);
  if (last === undefined) {
    return [];
  }
  const [bullet] = BULLET.exec(text.slice(0, last.start)) ?? [bulletBelow(text, value)];
  // What stands behind the last one on its line is about that one.
  const offset = last.end + (/^[^\r\n]*/.exec(text.slice(last.end))?.[0].trimEnd().length ?? 0);
  return [{ offset, length: 0, content: words.map(word => `${bullet}${word}`).join('') }];
}

/** The edit that empties the list of a task and keeps its comments; none if it lists nothing, or has more than hashes. */
export function removeCommits(text: string, map: YAMLMap): readonly Edit[] {
  const pair = pairOf(map, COMMITS_KEY);
  const value = pair?.value;
  if (!isSeq(value) || value.items.length === 0 || value.items.some(isMap)) {
    return [];
  }
  const isFlow = value.flow === true;
  const [listStart = 0, listEnd = 0] = rangeOf(value) ?? [];
  const [, keyEnd = 0] = rangeOf(pair?.key) ?? [];
  const spans = spansOf(text, value);
  const start = isFlow ? listStart + 1 : text.indexOf(':', keyEnd) + 1;
  const end = isFlow ? listEnd - 1 : (spans.at(-1)?.end ?? listEnd);
  const gaps = [start, ...spans.map(span => span.end)].map((from, index) =>
    text.slice(from, spans[index]?.start ?? end),
  );
  const isOnlyHashes =
    spans.every(span => !text.slice(span.start, span.end).includes('#')) &&
    gaps.every(gap => /^[\s,-]*$/.test(gap.replaceAll(/#[^\r\n]*/g, '')));
  if (!isOnlyHashes) {
    return [];
  }
  const [first = ''] = /^[^\r\n]*/.exec(text.slice(start, end)) ?? [];
  // Each begins with its line break.
  const others = text.slice(start + first.length, end).match(/(?:\r\n|\n|\r)[^\r\n]*/g) ?? [];
  const last = others.length - 1;
  const kept = [
    first.replace(/^([\t ]*)[^#]*/, (_, space) => (first.includes('#') ? space || ' ' : '')),
  ];
  for (const [index, line] of others.entries()) {
    const comment = /#.*/.exec(line)?.[0];
    const [space = ''] = /^[\r\n]*[\t ]*/.exec(line) ?? [];
    if (comment !== undefined) {
      kept.push(space + comment);
    } else if (isFlow && (index === last || line.trim() === '')) {
      kept.push(space);
    } else if (index === last) {
      // Its comment is behind the list. It stays where it is and gets the place of its hash.
      const [between] = /^[\t ]+(?=#)/.exec(text.slice(end)) ?? [];
      kept.push(between === undefined ? '' : space.slice(0, -between.length));
    }
  }
  if (isFlow && others.length === 0) {
    kept.push(/\s*$/.exec(first)?.[0] ?? '');
  }
  const content = (isFlow ? '' : ' []') + kept.join('');
  return [{ offset: start, length: end - start, content }];
}

/** The line break, indentation and dash before an item of a block list. */
const BULLET = /(?:\r\n|\n|\r)[\t ]*-[\t ]+$/;

/** For a list whose items are not behind their dashes, or whose first dash does not begin its line. */
function bulletBelow(text: string, list: YAMLSeq): string {
  const [start = 0] = rangeOf(list) ?? [];
  const [before = ''] = /[^\r\n]*$/.exec(text.slice(0, start)) ?? [];
  const [eol = '\n'] = /\r\n|\n|\r/.exec(text) ?? [];
  return `${eol}${before.replaceAll(/\S/g, ' ')}- `;
}

function addInBrackets(text: string, list: YAMLSeq, words: readonly string[]): readonly Edit[] {
  const [start = 0, end = 0] = rangeOf(list) ?? [];
  const last = spansOf(text, list).at(-1);
  const from = last?.end ?? start + 1;
  const gap = text.slice(from, end - 1);
  if (!gap.includes('#')) {
    return [{ offset: from, length: 0, content: `${last ? ', ' : ''}${words.join(', ')}` }];
  }
  // After the comments, which are about what is before them.
  const hasComma = gap.replaceAll(/#[^\r\n]*/g, '').includes(',');
  const [closing = ''] = /(?:\r\n|\n|\r)[\t ]*$/.exec(gap) ?? [];
  const [own = `${closing}  `] =
    (last && /(?:\r\n|\n|\r)[\t ]*$/.exec(text.slice(0, last.start))) ?? [];
  return [
    ...(last === undefined || hasComma ? [] : [{ offset: last.end, length: 0, content: ',' }]),
    {
      offset: end - 1 - closing.length,
      length: 0,
      content: `${closing === '' ? ' ' : own}${words.join(', ')}`,
    },
  ];
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

/** Where the items of a list are; of one that ends with line breaks, without these. */
function spansOf(text: string, { items }: YAMLSeq): readonly Span[] {
  return items.map(item => {
    const [start = 0, end = 0] = rangeOf(item) ?? [];
    return { start, end: start + text.slice(start, end).trimEnd().length };
  });
}

function rangeOf(node: unknown): readonly number[] | undefined {
  const range = (node as { readonly range?: readonly number[] | null } | null | undefined)?.range;
  return range ?? undefined;
}
