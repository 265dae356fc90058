import { applyEdits, type Edit } from 'jsonc-parser';
import { findJsonError } from '../formats/jsonError.ts';
import { TextLines } from '../formats/textLines.ts';
import type { StoryFix } from './storyDiagnosis.ts';

/**
 * The small fixes of broken JSON: a missing or extra comma, a comment. Each was tested: with it, the text is valid
 * at least up to a later position.
 * @param offset where the text stops being JSON
 */
export function syntaxFixes(text: string, offset: number): StoryFix[] {
  const before = text.slice(0, offset).trimEnd();
  const candidates: (Pick<StoryFix, 'kind'> & { readonly edit: Edit })[] = [];
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

/** The comment, including its line if it contains nothing else. */
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

/** Whether the next error, if there is one, is at a later position. */
function reaches(text: string, edit: Edit, offset: number): boolean {
  const fixed = applyEdits(text, [edit]);
  const next = findJsonError(fixed, new TextLines(fixed));
  return next === undefined || next.offset > offset + edit.content.length - edit.length;
}
