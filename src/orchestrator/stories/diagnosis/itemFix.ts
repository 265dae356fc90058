import { applyEdits, type Edit } from 'jsonc-parser';
import { isNumberId } from '../../../base/numberId.ts';
import { TICK } from '../formats/tasksWithoutBox.ts';
import type { Story, StoryList } from '../story.ts';
import { parseStoryFile } from '../storyFile.ts';
import type { StoryFix } from './storyDiagnosis.ts';

/**
 * An item of a plan that is almost a checkbox: what is in front of its bullet by mistake, its last bullet if it has one
 * (an asterisk at the bracket is none then), its mark, what is bold, and the ends of lines before its brackets and text.
 */
const ALMOST =
  /^(?:[\t\v\f\u0085\p{Z}\p{Cf}]*>)*[\t\v\f\u0085\p{Z}\p{Cf}]*(?![\t\v\f\u0085\p{Z}\p{Cf}])(?:[\p{L}\p{N}.,;]{1,2}(?=-[\t\v\f\u0085\p{Z}\p{Cf}]))?(?:(?:(?:[-*+\u2022\u2023\u25E6\u25AA\u2013\u2014\u00B7\u2043\u2212\u2219\u25A0\u25B6\u25B8\u25BA\u25CB\u25CF\u27A4\u30FB\uFF0A\uFF0B\uFF0D]|\d+[.)]|[A-Za-z][.)])[\t\v\f\u0085\p{Z}\p{Cf}]+(?![\t\v\f\u0085\p{Z}\p{Cf}]))*(?:([-+]|\*(?!\*|(?<=\S[\t ]\*)\\?\[)|\d{1,9}[.)])|\d+[.)]|[\u2022\u2023\u25E6\u25AA\u2013\u2014\u00B7\u2043\u2212\u2219\u25A0\u25B6\u25B8\u25BA\u25CB\u25CF\u27A4\u30FB\uFF0A\uFF0B\uFF0D]|[A-Za-z][.)])|#+)?[\t\v\f\u0085\p{Z}\p{Cf}]*(?:(?:\r\n|\n|\r)[\t ]+)?(?:[\u2610\u25A1\u25A2\u25FB\u25FD\u274F-\u2752\u2B1C\u{1F532}]\uFE0F?|(\u2611)|(\*{1,2}|_{1,2})?\\?[[\uFF3B][\t\v\f\u0085\p{Z}\p{Cf}]*(?:([^\s\]\uFF3D\\])[^\s\]\uFF3D\\]?[\t\v\f\u0085\p{Z}\p{Cf}]*)?\\?[\]\uFF3D](\3)?(\*?):?)(?:[\t\v\f\u0085\p{Z}\p{Cf}]*(?:\r\n|\n|\r)){0,2}[\t\v\f\u0085\p{Z}\p{Cf}]*/u;

/** With a number or an id before the brackets, which stays if it is an id. */
const LABELED =
  /^(?:([-*+])[\t ]+)?(?:\([^)]{1,4}\)|\d{1,4}:|([^\s[]{1,20}))[\t ]+\[ ?\](\*?)[\t ]+/u;
/** In a numbered list with items, but without a box. */
const NUMBERED = /^(\d{1,9}[.)])[\t ]+(?=\S)/;
/** What stands between an item and a second one on its line. */
const SEPARATOR = /(?:<br\s{0,9}\/?>|[;,]|\s){1,99}$/;
/** With a word for the mark. */
const WORDED = /^([-*+])[\t ]+\[(?:to[ -]?do|(done))\][\t ]+/iu;

/** The beginning of a line that is almost an item. */
interface Head {
  readonly length: number;
  /** Up to the bracket, as it should be. */
  readonly item: string;
  /** What stands behind it then. */
  readonly rest: string;
}

/**
 * The fix that makes a line a checkbox. It was tried: with it, the list has one more item, and no other one is changed.
 * @param offset where the text of the line begins
 */
export function itemFix(list: StoryList, text: string, offset: number): StoryFix[] {
  const head = headOf(text.slice(offset));
  if (head === undefined) {
    return [];
  }
  const { item, length, rest } = head;
  const edits = [onOwnLine(text, { offset, length, content: `${item} ${rest}` })];
  const after = parseStoryFile(list.path, applyEdits(text, edits));
  return after.kind === 'stories' && isOneMore(list.stories, after.stories)
    ? [{ kind: 'makeItem', values: [`${item} …`], edits, isClear: false }]
    : [];
}

function headOf(line: string): Head | undefined {
  const almost = ALMOST.exec(line);
  if (almost !== null) {
    const [{ length }, bullet = '-', ticked, bold = '', own, boldEnd, star = ''] = almost;
    const mark = ticked === undefined ? own : 'x';
    // What is bold from here on stays bold.
    const rest = boldEnd === undefined ? bold : '';
    return { length, item: `${bullet} [${mark ?? ' '}]${star}`, rest };
  }
  const [numbered, number] = NUMBERED.exec(line) ?? [];
  if (numbered !== undefined) {
    const mark = TICK.test(/^[^\r\n]*/.exec(line)?.[0] ?? '') ? 'x' : ' ';
    return { length: numbered.length, item: `${number} [${mark}]`, rest: '' };
  }
  const labeled = LABELED.exec(line);
  if (labeled !== null) {
    const [{ length }, bullet = '-', id, star = ''] = labeled;
    return { length, item: `${bullet} [ ]${star}`, rest: id === undefined ? '' : `${id} ` };
  }
  const [worded, bullet, done] = WORDED.exec(line) ?? [];
  return worded === undefined
    ? undefined
    : { length: worded.length, item: `${bullet} [${done === undefined ? ' ' : 'x'}]`, rest: '' };
}

/** Behind a comment, and behind another item, an item needs a line of its own. */
function onOwnLine(text: string, { offset, length, content }: Edit): Edit {
  const start =
    Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  const before = text.slice(start, offset);
  if (before.trim() === '') {
    return { offset, length, content };
  }
  const width = SEPARATOR.exec(before)?.[0].length ?? 0;
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const indent = /^[\t ]*(?=[-*+\d])/.exec(before)?.[0] ?? '';
  return { offset: offset - width, length: width + length, content: eol + indent + content };
}

function isOneMore(before: readonly Story[], after: readonly Story[]): boolean {
  // The title of an item no longer has what becomes one of its own.
  const old = before.map((story, index) => {
    const title = after[index]?.title ?? '';
    return factsOf(story.title.startsWith(title) ? { ...story, title } : story);
  });
  const now = after.map(factsOf);
  const added = now.findIndex((facts, index) => facts !== old[index]);
  return (
    now.length === old.length + 1 && now.toSpliced(added, 1).every((facts, i) => facts === old[i])
  );
}

/** What an item below or above it does not change. A number counts the items. */
function factsOf({ done, epic, id, status, title }: Story): string {
  return JSON.stringify([isNumberId(id) ? '' : id, title, done, status, epic]);
}
