import { isUtf8 } from 'node:buffer';
import { decodeText } from '../../../base/decodeText.ts';
import type { Span } from './jsonOutline.ts';

/**
 * A story source that is a folder, as one text: a heading for each file, in the order of their numbers, followed by
 * what is in it. So everything that compares, keeps, restores and edits the bytes of a story file works with folders, too.
 * Pure.
 */

/** Begins each heading. A line of a file that begins so gets a backslash in front, which is removed again. */
const MARK = '=== ralph-fresh ';
const FIRST = `${MARK}folder\n`;
const FILE = `${MARK}file `;
/** A file that is not UTF-8: each byte is a character here, so that the text stays readable, and nothing is lost. */
const BYTES = `${MARK}bytes `;
const NAMES = `${MARK}names `;
const UNREAD = `${MARK}unread `;

/** Where the tasks are, and those that were put away as done, of which only the names matter. */
export const TASKS = 'tasks';
export const COMPLETED = 'completed';
/** Files that say which statuses there are. The last one is next to the folder. */
export const CONFIGS = ['config.yml', 'config.yaml', '../backlog.config.yml'] as const;

/** What a folder of tasks contains, as far as it matters. */
export interface FolderContent {
  /** Settings and tasks, by path from the folder, with forward slashes. */
  readonly files: ReadonlyMap<string, Buffer>;
  /** Names of the files in {@link COMPLETED}. */
  readonly completed: readonly string[];
  /** What is at the path of a task or of settings, but is no file that may be read, such as a link. */
  readonly unread: readonly string[];
}

/** A part of the text. */
export interface FolderPart extends Span {
  readonly kind: 'file' | 'bytes' | 'names' | 'unread';
  readonly name: string;
}

/** What no name has that is read. U+FFFD stands for bytes that are no text. */
const ODD = /[/\\\p{Cc}\uFFFD]/gu;

/** Whether a name in {@link TASKS} or {@link COMPLETED} can be that of a task. */
export function isTaskName(name: string): boolean {
  return isTaskFile(name) && name.search(ODD) === -1;
}

/**
 * How a file is named among what is not read, if only its name keeps it from being a task; otherwise `undefined`.
 * It must not be invisible: a list without it could look complete.
 */
export function oddTaskName(name: string): string | undefined {
  return isTaskFile(name) && name.search(ODD) !== -1 ? name.replaceAll(ODD, '\uFFFD') : undefined;
}

function isTaskFile(name: string): boolean {
  return /\.md$/i.test(name) && !/^readme\.md$/i.test(name);
}

/** Whether a path from the folder, with forward slashes, belongs to the source. */
export function isFolderPath(path: string): boolean {
  const [folder, name = '', ...deeper] = path.split('/');
  const isListed = (folder === TASKS || folder === COMPLETED) && deeper.length === 0;
  return CONFIGS.some(config => config === path) || (isListed && isTaskName(name));
}

/** Whether these are the bytes of a folder. */
export function isFolderText(content: string | Uint8Array): boolean {
  return typeof content === 'string'
    ? content.startsWith(FIRST)
    : Buffer.from(
        content.buffer,
        content.byteOffset,
        Math.min(FIRST.length, content.length),
      ).equals(Buffer.from(FIRST));
}

/** The folder as one text; the same folder always gives the same bytes. */
export function packFolder({ completed, files, unread }: FolderContent): Buffer {
  const parts = [
    ...[...files].map(([name, content]) =>
      isUtf8(content)
        ? { name, content, head: FILE }
        : { name, content: Buffer.from(content.toString('latin1')), head: BYTES },
    ),
    ...inOrder(unread).map(name => ({ name, content: Buffer.alloc(0), head: UNREAD })),
    { name: COMPLETED, content: Buffer.from(inOrder(completed).join('\n')), head: NAMES },
  ];
  const order = inOrder(parts.map(({ name }) => name));
  const places = new Map(order.map((name, at) => [name, at]));
  const text = parts
    .sort((a, b) => (places.get(a.name) ?? 0) - (places.get(b.name) ?? 0))
    .map(({ content, head, name }) => `${latin(head + name)}\n${escaped(content)}\n`)
    .join('');
  return Buffer.from(FIRST + text, 'latin1');
}

/** The inverse of {@link packFolder}. */
export function unpackFolder(bytes: Uint8Array): FolderContent {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
  const files = new Map<string, Buffer>();
  const unread: string[] = [];
  let completed: readonly string[] = [];
  for (const { end, kind, name, start } of folderParts(text)) {
    const own = Buffer.from(name, 'latin1').toString('utf8');
    const content = unescaped(text.slice(start, end));
    if ((kind === 'file' || kind === 'bytes') && isFolderPath(own)) {
      // Others were put there by somebody who would like to have another file written.
      files.set(own, kind === 'file' ? content : Buffer.from(content.toString(), 'latin1'));
    } else if (kind === 'unread' && isFolderPath(own.replaceAll('\uFFFD', '_'))) {
      unread.push(own);
    } else if (kind === 'names') {
      completed = content
        .toString('utf8')
        .split('\n')
        .filter(line => line !== '');
    }
  }
  return { files, completed, unread };
}

/** The files of a folder that another state of it does not have, or has with another content. */
export function changedIn(before: Uint8Array | undefined, after: Uint8Array): Map<string, Buffer> {
  const old = before === undefined ? undefined : unpackFolder(before).files;
  return new Map(
    [...unpackFolder(after).files].filter(
      ([name, content]) => old?.get(name)?.equals(content) !== true,
    ),
  );
}

/** The parts of the text, in its own characters. A text that is none of a folder has none. */
export function folderParts(text: string): FolderPart[] {
  const parts: FolderPart[] = [];
  if (!text.startsWith(FIRST)) {
    return parts;
  }
  for (let at = FIRST.length; text.startsWith(MARK, at); ) {
    const lineEnd = text.indexOf('\n', at);
    const start = lineEnd === -1 ? text.length : lineEnd + 1;
    const next = text.indexOf(`\n${MARK}`, start - 1);
    // Each part ends with a line break of its own, also the last one.
    const end = Math.max(start, next === -1 ? text.length - 1 : next);
    const heading = text.slice(at + MARK.length, start - 1);
    const [, kind, name] = /^(file|bytes|names|unread) (.*)$/s.exec(heading) ?? [];
    if (name !== undefined) {
      parts.push({ kind: kind as FolderPart['kind'], name, start, end });
    }
    at = next === -1 ? text.length : next + 1;
  }
  return parts;
}

/** Where a file that is not UTF-8 stops being text, in the text of the folder. */
export function offsetOfBytes(text: string, { end, start }: Span): number {
  const own = decodeText(Buffer.from(text.slice(start, end), 'latin1'));
  return start + Buffer.byteLength(own.text.slice(0, own.problem?.offset ?? 0));
}

/** Where a file that is new belongs in the text, and what is written there. Its content is in the text's characters. */
export function fileAddition(
  text: string,
  name: string,
  content: string,
): { readonly offset: number; readonly content: string } {
  const parts = folderParts(text);
  const order = inOrder([...parts.map(part => part.name), name]);
  const before = new Set(order.slice(0, order.indexOf(name)));
  const last = parts.findLast(part => before.has(part.name));
  return {
    offset: last === undefined ? FIRST.length : last.end + 1,
    content: `${FILE}${name}\n${withSlashes(content)}\n`,
  };
}

/** The text with another content of one of its files, in the text's characters; `undefined` if it has no such file. */
export function withFile(text: string, name: string, content: string): string | undefined {
  const part = folderParts(text).find(one => one.kind === 'file' && one.name === name);
  return part && text.slice(0, part.start) + withSlashes(content) + text.slice(part.end);
}

/** Where an offset of the text is in the content of one of its files. */
export function contentOffset(text: string, { end, start }: Span, offset: number): number {
  return withoutSlashes(text.slice(start, Math.min(offset, end))).length;
}

/** Numbers by their value: `task-2` before `task-10`. The same on every machine. */
export function inOrder(names: readonly string[]): string[] {
  const keys = new Map(
    names.map(name => [name, name.replaceAll(/\d+/g, digits => digits.padStart(15, '0'))]),
  );
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return [...names].sort((a, b) => compare(keys.get(a) ?? a, keys.get(b) ?? b) || compare(a, b));
}

function latin(text: string): string {
  return Buffer.from(text).toString('latin1');
}

function escaped(content: Buffer): string {
  return withSlashes(content.toString('latin1'));
}

function unescaped(text: string): Buffer {
  return Buffer.from(withoutSlashes(text), 'latin1');
}

function withSlashes(text: string): string {
  return text.includes(MARK) ? eachMark(text, slashes => `\\${slashes}`) : text;
}

function withoutSlashes(text: string): string {
  return text.includes(MARK) ? eachMark(text, slashes => slashes.slice(1)) : text;
}

/** Only a line feed begins a line here, unlike in a regular expression. */
function eachMark(text: string, change: (slashes: string) => string): string {
  return text.replaceAll(
    /(^|\n)(\\*)(?==== ralph-fresh )/g,
    (_, start: string, slashes: string) => start + change(slashes),
  );
}
