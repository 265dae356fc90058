import { applyEdits, type Edit } from 'jsonc-parser';
import { isNumberId } from '../../../base/numberId.ts';
import type { Story, StoryList } from '../story.ts';
import { parseStoryFile } from '../storyFile.ts';
import type { StoryFix } from './storyDiagnosis.ts';

/**
 * An item of a plan that is almost a checkbox: what is in front of its bullet by mistake, its last bullet if it has one,
 * its mark, what is bold, and the ends of lines before its text.
 */
const ALMOST =
  /^(?:[\t\v\f\u0085\p{Z}\p{Cf}]*>)*[\t\v\f\u0085\p{Z}\p{Cf}]*(?:[\p{L}\p{N}.,;]{1,2}(?=-[\t\v\f\u0085\p{Z}\p{Cf}]))?(?:(?:(?:[-*+\u2022\u2023\u25E6\u25AA\u2013\u2014]|\d+[.)]|[A-Za-z][.)])[\t\v\f\u0085\p{Z}\p{Cf}]+)*(?:([-*+]|\d{1,9}[.)])|\d+[.)]|[\u2022\u2023\u25E6\u25AA\u2013\u2014]|[A-Za-z][.)])|#+)?[\t\v\f\u0085\p{Z}\p{Cf}]*(?:\u2610|(\u2611)|(\*\*|__)?\\?\[[\t\v\f\u0085\p{Z}\p{Cf}]*(?:([^\s\]\\])[^\s\]\\]?[\t\v\f\u0085\p{Z}\p{Cf}]*)?\\?\](\3)?(\*?))(?:[\t\v\f\u0085\p{Z}\p{Cf}]*(?:\r\n|\n|\r)){0,2}[\t\v\f\u0085\p{Z}\p{Cf}]*/u;

/**
 * The fix that makes a line a checkbox. It was tried: with it, the list has one more item, and no other one is changed.
 * @param offset where the text of the line begins
 */
export function itemFix(list: StoryList, text: string, offset: number): StoryFix[] {
  const [old, bullet = '-', ticked, bold = '', own, boldEnd, star = ''] =
    ALMOST.exec(text.slice(offset)) ?? [];
  if (old === undefined) {
    return [];
  }
  const mark = ticked === undefined ? own : 'x';
  const item = `${bullet} [${mark ?? ' '}]${star} `;
  // What is bold from here on stays bold.
  const content = boldEnd === undefined ? item + bold : item;
  const edits = [onOwnLine(text, { offset, length: old.length, content })];
  const after = parseStoryFile(list.path, applyEdits(text, edits));
  return after.kind === 'stories' && isOneMore(list.stories, after.stories)
    ? [{ kind: 'makeItem', values: [`${item.trim()} …`], edits, isClear: false }]
    : [];
}

/** Behind a comment, an item needs a line of its own. */
function onOwnLine(text: string, { offset, length, content }: Edit): Edit {
  const start =
    Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  const before = text.slice(start, offset);
  const width = before.trim() === '' ? 0 : before.length - before.trimEnd().length;
  const eol = before.trim() === '' ? '' : (/\r\n|\n|\r/.exec(text)?.[0] ?? '\n');
  return { offset: offset - width, length: width + length, content: eol + content };
}

function isOneMore(before: readonly Story[], after: readonly Story[]): boolean {
  const [old, now] = [before.map(factsOf), after.map(factsOf)];
  const added = now.findIndex((facts, index) => facts !== old[index]);
  return (
    now.length === old.length + 1 && now.toSpliced(added, 1).every((facts, i) => facts === old[i])
  );
}

/** What an item below or above it does not change. A number counts the items. */
function factsOf({ done, epic, id, status, title }: Story): string {
  return JSON.stringify([isNumberId(id) ? '' : id, title, done, status, epic]);
}
