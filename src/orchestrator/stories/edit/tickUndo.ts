import { createHash } from 'node:crypto';
import type { Edit } from 'jsonc-parser';
import type { Story } from '../story.ts';
import { type ParsedStoryFile, parseStoryText } from '../storyFile.ts';

/** More than this in one value is neither a status nor a list of commits; it is not kept. In UTF-16 units. */
const MAX_REPLACED = 8_000;
/** Edits of one tick: a few keys. */
const MAX_EDITS = 20;

/**
 * What a tick replaced, so that taking it back restores the story's entry byte for byte. It is valid as long as nobody
 * else has changed the entry.
 */
export interface TickUndo {
  /** SHA-256 of the entry's text after the tick, with the comments behind it that the edits reach; hex. */
  readonly entry: string;
  /** Relative to the start of the entry, in UTF-16 units. */
  readonly edits: readonly Edit[];
}

/**
 * The undo of edits of one story.
 * @returns `undefined` if the edits reach beyond the story's entry, or replaced more than is kept
 */
export function undoOf(
  { file, text, spanOf }: ParsedStoryFile,
  { position }: Story,
  changes: readonly Edit[],
  edited: string,
): TickUndo | undefined {
  const { start, end } = spanOf(position);
  const isInside = changes.every(
    ({ offset, length }) => start <= offset && offset + length <= end && length <= MAX_REPLACED,
  );
  if (!isInside || changes.length > MAX_EDITS) {
    return undefined;
  }
  let grown = -start;
  const edits: Edit[] = [];
  for (const { content, length, offset } of changes.toSorted((a, b) => a.offset - b.offset)) {
    edits.push({
      offset: offset + grown,
      length: content.length,
      content: text.slice(offset, offset + length),
    });
    grown += content.length - length;
  }
  const entry = hashOf(parseStoryText(file.path, edited), position, edits);
  return entry === undefined ? undefined : { entry, edits };
}

/** The edits of the text that take back one of these ticks; `undefined` if the entry is not as one of them left it. */
export function undoingEdits(
  parsed: ParsedStoryFile,
  { position }: Story,
  undos: readonly TickUndo[],
): readonly Edit[] | undefined {
  const { start } = parsed.spanOf(position);
  return undos
    .find(undo => undo.entry === hashOf(parsed, position, undo.edits))
    ?.edits.map(edit => ({ ...edit, offset: start + edit.offset }));
}

/** The text of a story in its file; `undefined` if there is no story at this position. */
export function entryOf({ spanOf, text }: ParsedStoryFile, position: number): string | undefined {
  const { end, start } = spanOf(position);
  return end > start ? text.slice(start, end) : undefined;
}

/** Of the text of a story, with the comments behind it that the edits reach; `undefined` if they reach further. */
function hashOf(parsed: ParsedStoryFile, position: number, edits: readonly Edit[]) {
  const { end, start } = parsed.spanOf(position);
  const reach = Math.max(end, ...edits.map(({ length, offset }) => start + offset + length));
  const isComment =
    parsed.text
      .slice(end, reach)
      .replaceAll(/#[^\r\n]*/g, '')
      .trim() === '';
  return end > start && isComment && reach <= parsed.text.length
    ? createHash('sha256').update(parsed.text.slice(start, reach)).digest('hex')
    : undefined;
}
