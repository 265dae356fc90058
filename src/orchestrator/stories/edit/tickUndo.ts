import { createHash } from 'node:crypto';
import type { Edit } from 'jsonc-parser';
import type { Story } from '../story.ts';
import { type ParsedStoryFile, parseStoryText } from '../storyFile.ts';

/** More than this in one value is not a status; it is not kept. In UTF-16 units. */
const MAX_REPLACED = 1_000;
/** Edits of one tick: a few keys. */
const MAX_EDITS = 20;

/**
 * What a tick replaced, so that taking it back restores the story's entry byte for byte. It is valid as long as nobody
 * else has changed the entry.
 */
export interface TickUndo {
  /** SHA-256 of the entry's text after the tick, hex. */
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
  const after = entryOf(parseStoryText(file.path, edited), position);
  const isInside = changes.every(
    ({ offset, length }) => start <= offset && offset + length <= end && length <= MAX_REPLACED,
  );
  if (after === undefined || !isInside || changes.length > MAX_EDITS) {
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
  return { entry: hashOf(after), edits };
}

/** The edits of the text that take back one of these ticks; `undefined` if the entry is not as one of them left it. */
export function undoingEdits(
  parsed: ParsedStoryFile,
  { position }: Story,
  undos: readonly TickUndo[],
): readonly Edit[] | undefined {
  const entry = entryOf(parsed, position);
  if (entry === undefined || undos.length === 0) {
    return undefined;
  }
  const hash = hashOf(entry);
  const { start } = parsed.spanOf(position);
  const fits = ({ length, offset }: Edit) => offset >= 0 && offset + length <= entry.length;
  return undos
    .find(undo => undo.entry === hash && undo.edits.every(fits))
    ?.edits.map(edit => ({ ...edit, offset: start + edit.offset }));
}

/** The text of a story in its file; `undefined` if there is no story at this position. */
export function entryOf({ spanOf, text }: ParsedStoryFile, position: number): string | undefined {
  const { end, start } = spanOf(position);
  return end > start ? text.slice(start, end) : undefined;
}

function hashOf(entry: string): string {
  return createHash('sha256').update(entry).digest('hex');
}
