import { applyEdits, type Edit } from 'jsonc-parser';
import { findJsonError } from '../formats/jsonError.ts';
import { TextLines } from '../formats/textLines.ts';
import type { StoryMend } from './storyDiagnosis.ts';

/**
 * The small mends of broken JSON: a comma too many or too few, a comment. Each was tried, and the text is sound at
 * least up to behind that place with it.
 * @param offset where the text stops being JSON
 */
export function syntaxMends(text: string, offset: number): StoryMend[] {
  const before = text.slice(0, offset).trimEnd();
  const candidates: (Pick<StoryMend, 'kind'> & { readonly edit: Edit })[] = [];
  if (/^[}\]]/.test(text.slice(offset, offset + 1)) && before.endsWith(',')) {
    const edit = { offset: before.length - 1, length: 1, content: '' };
    candidates.push({ kind: 'removeComma', edit });
  }
  const comment = /^(?:\/\/[^\r\n]*|\/\*[\s\S]*?\*\/)/.exec(text.slice(offset))?.[0];
  if (comment !== undefined) {
    candidates.push({ kind: 'removeComment', edit: withoutLine(text, offset, comment.length) });
  } else if (before !== '' && !before.endsWith(',')) {
    const edit = { offset: before.length, length: 0, content: ',' };
    candidates.push({ kind: 'insertComma', edit });
  }
  return candidates
    .filter(({ edit }) => reaches(text, edit, offset))
    .map(({ kind, edit }) => ({ kind, values: [], edits: [edit], isClear: true }));
}

/** The comment, with its line when nothing else is in it. */
function withoutLine(text: string, offset: number, length: number): Edit {
  const lineStart = Math.max(text.lastIndexOf('\n', offset), text.lastIndexOf('\r', offset)) + 1;
  const indent = text.slice(lineStart, offset);
  const rest = /^[\t ]*(\r\n|\n|\r)/.exec(text.slice(offset + length))?.[0];
  if (indent.trim() === '' && rest !== undefined) {
    return { offset: lineStart, length: indent.length + length + rest.length, content: '' };
  }
  const spaces = /[\t ]*$/.exec(indent)?.[0].length ?? 0;
  return { offset: offset - spaces, length: length + spaces, content: '' };
}

/** Whether the next mistake, if there is one, comes later than this one. */
function reaches(text: string, edit: Edit, offset: number): boolean {
  const mended = applyEdits(text, [edit]);
  const next = findJsonError(mended, new TextLines(mended));
  return next === undefined || next.offset > offset + edit.content.length - edit.length;
}
