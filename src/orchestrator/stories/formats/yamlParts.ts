import type { Edit } from 'jsonc-parser';
import { isAlias, isScalar, isSeq, type Pair, type YAMLMap, type YAMLSeq } from 'yaml';
import { removePart } from '../edit/jsonEdit.ts';
import { pairOf } from '../edit/yamlEdit.ts';
import type { Span } from './jsonOutline.ts';
import { DEPENDENCY_KEYS } from './prdKeys.ts';
import type { DependencyPart, StoryPart, StoryParts } from './storyFormat.ts';

/** The parts of stories that are maps of YAML. What other places share by an anchor or an alias is left out. */
export function yamlParts(
  text: string,
  mapOf: (position: number) => YAMLMap | undefined,
): StoryParts {
  function pairIn(position: number, key: string) {
    const map = mapOf(position);
    const pair = map?.anchor === undefined ? pairOf(map, key) : undefined;
    const name = spanOf(text, pair?.key);
    const isOwn = pair !== undefined && !isShared(pair.value);
    return map !== undefined && name !== undefined && isOwn ? { map, pair, name } : undefined;
  }

  function field(position: number, key = 'status'): StoryPart | undefined {
    const found = pairIn(position, key);
    if (found === undefined) {
      return undefined;
    }
    const { map, name, pair } = found;
    const span = spanOf(text, pair.value) ?? name;
    const removal = withoutPair(text, map, pair);
    return {
      span,
      whole: { start: name.start, end: Math.max(name.end, span.end) },
      write: isOneWord(pair.value) ? value => writing(text, span, value) : undefined,
      removal,
      setAside: other => ({
        offset: name.start,
        length: name.end - name.start,
        content: `${key}: []${map.flow === true ? ', ' : newLine(text, name.start)}${other}`,
      }),
    };
  }

  function dependencies(position: number): DependencyPart[] {
    return DEPENDENCY_KEYS.flatMap(key => {
      const found = pairIn(position, key);
      const value = found?.pair.value;
      const items = isSeq(value) ? value.items : [value];
      return items.flatMap((item, index) => {
        const span = spanOf(text, item);
        if (found === undefined || span === undefined || !isOneWord(item) || isShared(item)) {
          return [];
        }
        const removal =
          isSeq(value) && items.length > 1
            ? withoutItem(text, value, index)
            : withoutValue(text, found.name, value, span);
        const write = (id: string) => writing(text, span, id);
        return [{ id: item.value, span, whole: span, write, removal }];
      });
    });
  }

  return { field, dependencies, openWord: 'pending' };
}

/** A text or a number, which is read as a text. */
function isOneWord(node: unknown): node is { readonly value: string } {
  return (
    isScalar(node) &&
    typeof node.value === 'string' &&
    node.value.trim() !== '' &&
    node.type !== 'BLOCK_FOLDED' &&
    node.type !== 'BLOCK_LITERAL'
  );
}

function isShared(node: unknown): boolean {
  return isAlias(node) || (isScalar(node) || isSeq(node) ? node.anchor !== undefined : false);
}

/** Where a node is written; `undefined` if nothing is. */
function spanOf(text: string, node: unknown): Span | undefined {
  const [start, end] =
    (node as { readonly range?: readonly number[] | null } | undefined)?.range ?? [];
  if (start === undefined || end === undefined) {
    return undefined;
  }
  const written = text.slice(start, end).trimEnd().length;
  return written === 0 ? undefined : { start, end: start + written };
}

/** In the quotes of the old value; one without quotes gets them if the new one would not be a plain text. */
function writing(text: string, { end, start }: Span, value: string): Edit {
  const quote = /^["']/.exec(text.slice(start, end))?.[0] ?? '';
  const isSimple = /^[\p{L}\p{N}](?:[\p{L}\p{N} ._/-]*[\p{L}\p{N}._/-])?$/u.test(value);
  const content = isSimple ? `${quote}${value}${quote}` : JSON.stringify(value);
  return { offset: start, length: end - start, content };
}

/** A line break and the indentation of the key at an offset. */
function newLine(text: string, offset: number): string {
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  return eol + ' '.repeat(offset - lineStart(text, offset));
}

function lineStart(text: string, offset: number): number {
  return text.lastIndexOf('\n', offset - 1) + 1;
}

function withoutItem(text: string, list: YAMLSeq, index: number): Edit | undefined {
  const spans = list.items.flatMap(item => spanOf(text, item) ?? []);
  const span = spans[index];
  if (span === undefined || spans.length < list.items.length) {
    return undefined;
  }
  if (list.flow === true) {
    return withoutFlowItem(text, spans, index);
  }
  const [comment] = /^[\t ]+(?=#)/.exec(text.slice(span.end)) ?? [];
  const bullet = /-[\t ]+$/.exec(text.slice(lineStart(text, span.start), span.start));
  if (comment === undefined || bullet === null) {
    return withoutLines(text, span, /^[\t ]*-[\t ]+$/);
  }
  // In the place of the bullet.
  const offset = span.start - bullet[0].length;
  return { offset, length: span.end + comment.length - offset, content: '' };
}

/** Comments between items stay. */
function withoutFlowItem(text: string, spans: readonly Span[], index: number): Edit {
  const item = spans[index] as Span;
  const edit = removePart(spans, index);
  return isCommented(text, { start: edit.offset, end: edit.offset + edit.length }, item)
    ? withoutWord(text, item)
    : edit;
}

/** Whether there is a comment in a part of the text, around an item. */
function isCommented(text: string, { end, start }: Span, item: Span): boolean {
  return (text.slice(start, item.start) + text.slice(item.end, end)).includes('#');
}

/** Also removes the comma behind it; the one in front of it may stay, because YAML allows it behind the last item. */
function withoutWord(text: string, { end, start }: Span): Edit {
  const comma = /^\s*,/.exec(text.slice(end))?.[0].length ?? 0;
  return { offset: start, length: end + comma - start, content: '' };
}

/** The edit that makes an empty list of the only value behind a key. Its comments stay. */
function withoutValue(text: string, { end: from }: Span, value: unknown, item: Span): Edit {
  const isFlow = isSeq(value) && value.flow === true;
  const end = isFlow ? (spanOf(text, value)?.end ?? item.end) : item.end;
  if (isFlow && isCommented(text, { start: from, end }, item)) {
    return withoutWord(text, item);
  }
  const before = text.slice(from, item.start);
  const comments = before.includes('#') ? before.slice(before.indexOf(':') + 1) : '';
  const content = `: []${comments.replace(/\r?\n[^\n]*$/, '')}`;
  return { offset: from, length: end - from, content };
}

function withoutPair(text: string, map: YAMLMap, pair: Pair): Edit | undefined {
  const spans = map.items.flatMap(({ key, value }) => {
    const name = spanOf(text, key);
    return name === undefined
      ? []
      : [{ start: name.start, end: spanOf(text, value)?.end ?? name.end }];
  });
  const index = map.items.indexOf(pair);
  const span = spans[index];
  if (span === undefined || spans.length < map.items.length) {
    return undefined;
  }
  if (map.flow === true) {
    return removePart(spans, index);
  }
  const lines = withoutLines(text, span, /^[\t ]*$/);
  const next = spans[index + 1];
  if (lines !== undefined || next === undefined || text.slice(span.end, next.start).includes('#')) {
    return lines;
  }
  // Behind the bullet of the story, where the next pair can stand instead.
  return { offset: span.start, length: next.start - span.start, content: '' };
}

/** The edit that removes the lines of a part, if nothing else is before it there. */
function withoutLines(text: string, { end, start }: Span, before: RegExp): Edit | undefined {
  const from = lineStart(text, start);
  if (!before.test(text.slice(from, start))) {
    return undefined;
  }
  const newline = text.indexOf('\n', end);
  if (newline !== -1) {
    return { offset: from, length: newline + 1 - from, content: '' };
  }
  // The last line goes with the break before it.
  const [eol = ''] = /\r?\n$/.exec(text.slice(0, from)) ?? [];
  return { offset: from - eol.length, length: text.length - from + eol.length, content: '' };
}
