import type { Edit } from 'jsonc-parser';
import { parse } from 'yaml';
import type { Span } from './jsonOutline.ts';

/** A key at the top of a Markdown file, with what stands behind it. Offsets are those of the file's text. */
interface Field {
  readonly key: string;
  /** Of the key. */
  readonly start: number;
  /** Of the first character behind the colon. */
  readonly offset: number;
  /** Up to the next key. */
  readonly raw: string;
}

/** The data at the top of a Markdown file, between two lines `---`. */
export interface FrontMatter {
  readonly fields: readonly Field[];
  /** The text before the first key. */
  readonly above: string;
  /** The text between these lines. */
  readonly block: string;
  /** Where the rest of the file begins. */
  readonly bodyOffset: number;
}

const OPENING = /^\uFEFF?---[ \t]*\r?\n/;
/** How a text in quotes begins that has no escapes, so that it means what stands in it. */
const QUOTED = /^(?:"[^"\\]*"|'[^']*')/;
/** What a text without quotes does not begin with. */
const NO_PLAIN = /^[\s"'[\]{}>|*&!%#@`]/;

/**
 * Reads the front matter of a text. Only its keys are parsed: a parser of YAML would take ten times as long, and
 * would refuse files that tools read, such as `assignee: @anna`.
 * @returns `undefined` if there is none
 */
export function readFrontMatter(text: string): FrontMatter | undefined {
  const [opening] = OPENING.exec(text) ?? [];
  if (opening === undefined) {
    return undefined;
  }
  const closing = /\n---[ \t]*(?:\r?\n|$)/g;
  closing.lastIndex = opening.length - 1;
  const end = closing.exec(text);
  if (end === null) {
    return undefined;
  }
  const block = text.slice(opening.length, end.index + 1);
  const keys = [...block.matchAll(/(?:^|\n)([A-Za-z_][\w-]*)[ \t]*:(?=[\s]|$)/g)];
  const fields = keys.map((match, index) => {
    const offset = match.index + match[0].length;
    const next = keys[index + 1]?.index ?? block.length;
    return {
      key: match[1] ?? '',
      start: opening.length + match.index + (match[0].startsWith('\n') ? 1 : 0),
      offset: opening.length + offset,
      raw: block.slice(offset, next),
    };
  });
  return {
    fields,
    above: block.slice(0, keys[0]?.index),
    block,
    bodyOffset: end.index + end[0].length,
  };
}

/** Whether a text begins with front matter that has no end, so that nothing of it is read. */
export function isUnclosedMatter(text: string): boolean {
  return OPENING.test(text) && readFrontMatter(text) === undefined;
}

/** Where a key is written, with its value and the end of its last line; `undefined` if it is not there. */
export function fieldSpan(text: string, { fields }: FrontMatter, key: string): Span | undefined {
  const field = fields.find(one => one.key === key);
  const end = field && field.offset + field.raw.length;
  return field && end !== undefined
    ? { start: field.start, end: text[end] === '\n' ? end + 1 : end }
    : undefined;
}

/** The value of a key; `undefined` if it is not there, or cannot be read. */
export function valueIn({ fields }: FrontMatter, key: string): unknown {
  const field = fields.find(one => one.key === key);
  if (field === undefined) {
    return undefined;
  }
  const simple = lineValue(field.raw);
  if (simple !== undefined) {
    return QUOTED.test(simple.written) ? simple.written.slice(1, -1) : simple.written;
  }
  const list = simpleList(field.raw);
  if (list !== undefined) {
    return list;
  }
  try {
    // Numbers as they are written: 1.10 is an id.
    const root = parse(`x:${field.raw.trimEnd()}`, { schema: 'failsafe', logLevel: 'error' });
    return (root as { readonly x?: unknown }).x;
  } catch {
    return undefined;
  }
}

/** A value on the line of its key, as it is written there. */
interface LineValue {
  /** Width of the white space in front of it, without that which a comment needs. */
  readonly space: number;
  /** With its quotes; '' if there is none yet. */
  readonly written: string;
}

/**
 * The value that follows a colon, without a comment; `undefined` for anything but one text on the line of its key. Its
 * parts are looked for one after the other: one regular expression for all would be slow where it does not match.
 */
function lineValue(raw: string): LineValue | undefined {
  const line = /^[^\r\n]*/.exec(raw)?.[0] ?? '';
  if (raw.slice(line.length).trim() !== '') {
    return undefined;
  }
  const space = /^[ \t]*/.exec(line)?.[0].length ?? 0;
  const rest = line.slice(space);
  if (rest.trim() === '') {
    return { space, written: '' };
  }
  if (rest.startsWith('#') && space > 0) {
    return { space: space - 1, written: '' };
  }
  const [quoted] = QUOTED.exec(rest) ?? [];
  if (quoted !== undefined) {
    const behind = rest.slice(quoted.length);
    const isAll = behind.trim() === '' || /^[ \t]+#/.test(behind);
    return isAll ? { space, written: quoted } : undefined;
  }
  return NO_PLAIN.test(rest) ? undefined : { space, written: beforeComment(rest) };
}

/** A line without the comment at its end, and without the white space before that. */
function beforeComment(line: string): string {
  let end = line.search(/[ \t]#/);
  if (end === -1) {
    return line.trimEnd();
  }
  while (end > 0 && /[ \t]/.test(line.charAt(end - 1))) {
    end--;
  }
  return line.slice(0, end);
}

/** A list as tools write it, in brackets or with one item in a line; `undefined` for anything that may mean more. */
function simpleList(raw: string): string[] | undefined {
  const [, flow] = /^[ \t]*\[([^[\]{}"'#&*!|>%@`:]*)\]\s*$/.exec(raw) ?? [];
  if (flow !== undefined) {
    return flow.split(',').flatMap(item => (item.trim() === '' ? [] : [item.trim()]));
  }
  return /^[ \t]*\r?\n(?:[ \t]*- [\w./-]+[ \t]*(?:\r?\n|$))+$/.test(raw)
    ? [...raw.matchAll(/- ([\w./-]+)/g)].map(([, item = '']) => item)
    : undefined;
}

/** A value as one line of text; '' if it is something else. */
export function textOf(value: unknown): string {
  return typeof value === 'string' ? value.replace(/\s+/g, ' ').trim() : '';
}

/** A value as a list of texts, and a text alone as a list of one; `undefined` if it is something else. */
export function listOf(value: unknown): string[] | undefined {
  const items: unknown[] = Array.isArray(value) ? value : [value];
  return items.every(item => typeof item === 'string')
    ? items.map(item => item.trim()).filter(item => item !== '')
    : undefined;
}

/**
 * The edit that sets a key to one line of text: inside the quotes that are there; a comment behind it stays. A key that
 * is not there follows the first one.
 * @returns `undefined` if the value is written in a way that no small edit can change
 */
export function setText(
  text: string,
  { fields }: FrontMatter,
  key: string,
  value: string,
): Edit | undefined {
  const field = fields.find(one => one.key === key);
  if (field === undefined) {
    const [first] = fields;
    if (first === undefined) {
      return undefined;
    }
    const offset = first.offset + first.raw.trimEnd().length;
    const eol = text.includes('\r\n') ? '\r\n' : '\n';
    return { offset, length: 0, content: `${eol}${key}: ${scalar(value)}` };
  }
  const old = lineValue(field.raw);
  if (old === undefined) {
    return undefined;
  }
  const quote = QUOTED.test(old.written) ? old.written.charAt(0) : '';
  const content =
    quote === ''
      ? scalar(value)
      : quote === '"'
        ? JSON.stringify(value)
        : `'${value.replaceAll("'", "''")}'`;
  return {
    offset: field.offset + old.space,
    length: old.written.length,
    content: old.space === 0 ? ` ${content}` : content,
  };
}

/** With quotes only if it would be something else without. */
function scalar(value: string): string {
  const isPlain = /^(?:\d+|\p{L}[\p{L}\p{N} _/-]*)$/u.test(value) && value === value.trim();
  return isPlain && !/^(?:true|false|yes|no|on|off|null|y|n)$/i.test(value)
    ? value
    : JSON.stringify(value);
}
