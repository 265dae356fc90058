import { applyEdits, type Edit } from 'jsonc-parser';
import { isNumberId } from '../../../base/numberId.ts';
import { once } from '../../../base/once.ts';
import { isState } from '../formats/headingStates.ts';
import { indentOf, OTHER_BULLETS } from '../formats/markdownBlocks.ts';
import { numberedHead } from '../formats/numberedLines.ts';
import { BOX_SYMBOL, DONE_WORDS, OPEN_WORDS } from '../formats/stateMarks.ts';
import { isTickedText } from '../formats/tasksWithoutBox.ts';
import type { Story, StoryList } from '../story.ts';
import { parseStoryFile } from '../storyFile.ts';
import type { StoryFix } from './storyDiagnosis.ts';

/** White space of any kind, and what is not seen. */
const SPACE = String.raw`[\t\v\f\u0085\p{Z}\p{Cf}]`;
/**
 * An item of a plan that is almost a checkbox: what is in front of its bullet by mistake, its last bullet if it has one
 * (an asterisk at the bracket is none then), its mark, what is bold, and the ends of lines before its brackets and text.
 * Made when it is needed: its classes take a millisecond.
 */
const ALMOST = once(
  () =>
    new RegExp(
      String.raw`^(?:${SPACE}*>)*${SPACE}*(?!${SPACE})(?:[\p{L}\p{N}.,;]{1,2}(?=-${SPACE}))?(?:(?:(?:[-*+\u2022\u2023\u25E6\u25AA\u2013\u2014${OTHER_BULLETS}]|\d+[.)]|[A-Za-z][.)])${SPACE}+(?!${SPACE}))*(?:([-+]|\*(?!\*|(?<=\S[\t ]\*)\\?\[)|\d{1,9}[.)])|\d+[.)]|[\u2022\u2023\u25E6\u25AA\u2013\u2014${OTHER_BULLETS}]|[A-Za-z][.)])|#+)?${SPACE}*(?:(?:\r\n|\n|\r)[\t ]+)?(?:${BOX_SYMBOL}|(\u2611)|(\*{1,2}|_{1,2})?\\?[[\uFF3B]${SPACE}*(?:([^\s\]\uFF3D\\])[^\s\]\uFF3D\\]?${SPACE}*)?\\?[\]\uFF3D](\3)?(\*?):?)(?:${SPACE}*(?:\r\n|\n|\r)){0,2}${SPACE}*`,
      'u',
    ),
);

/** With a number or an id before the brackets, which stays if it is an id. */
const LABELED =
  /^(?:([-*+])[\t ]+)?(?:\([^)]{1,4}\)|\d{1,4}:|(\p{L}{1,20} \d{1,4}(?:[:.\uFF1A]| [-\u2013\u2014])?|[^\s[<#]{1,20}))[\t ]+(?:\[ ?\](\*?)|\u2610)[\t ]+/u;
/** What stands between an item and a second one on its line. */
const SEPARATOR = /(?:<br ?\/?>|[,;|/\u00B7\u3001\u3002\uFF0C\uFF1B\s]){1,99}$/i;
/** With a word for the mark, or round brackets. */
const WORDED = new RegExp(
  String.raw`^([-*+]|\d{1,9}[.)])[\t ]+(?:\[ ?(?:(${DONE_WORDS})|${OPEN_WORDS}) ?\]|\([\t ]\))[\t ]+`,
  'iu',
);

/** The beginning of a line that is almost an item. */
interface Head {
  readonly length: number;
  /** Up to the bracket, as it should be. */
  readonly item: string;
  /** What stands behind it then. */
  readonly rest: string;
}

/**
 * The fix that makes a line a checkbox, or gives one that stands behind another one a line of its own. It was tried: with
 * it, the list has one more item, and no other one is changed, but for the title of an item that had both on its line.
 * @param offset where the text of the line, or the second checkbox, begins
 */
export function itemFix(list: StoryList, text: string, offset: number): StoryFix[] {
  const start =
    Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  const before = text.slice(start, offset);
  // Only at the start of a line, what is below may be the text of an item.
  const isLater = before.trim() !== '';
  const line = isLater ? (/^[^\r\n]*/.exec(text.slice(offset))?.[0] ?? '') : text.slice(offset);
  const whole = /^[^\r\n]*/.exec(text.slice(start))?.[0] ?? '';
  if ((isLater && hasLinesBelow(text, start)) || isState(whole)) {
    return [];
  }
  for (const { item, length, rest } of headsOf(line)) {
    if (isLater && length === line.length) {
      continue;
    }
    const edits = [onOwnLine(text, before, { offset, length, content: `${item} ${rest}` })];
    const after = parseStoryFile(list.path, applyEdits(text, edits));
    if (after.kind === 'stories' && isOneMore(list.stories, after.stories, before)) {
      return [{ kind: 'makeItem', values: [`${item} …`], edits, isClear: false }];
    }
  }
  return [];
}

/** Whether what follows a line is indented below it: it would belong to another item then. */
function hasLinesBelow(text: string, start: number): boolean {
  const [, indent = '', below] =
    /^([\t ]*)[^\r\n]*(?:\r\n|\n|\r)([\t ]*)\S/.exec(text.slice(start)) ?? [];
  return below !== undefined && indentOf(below) > indentOf(indent);
}

/** What the beginning of a line may become; the first one that makes it an item is right. */
function* headsOf(line: string): Generator<Head> {
  const almost = ALMOST().exec(line);
  if (almost !== null) {
    const [{ length }, bullet = '-', ticked, bold = '', own, boldEnd, star = ''] = almost;
    const mark = ticked === undefined ? own : 'x';
    // What is bold from here on stays bold.
    const rest = boldEnd === undefined ? bold : '';
    yield { length, item: `${bullet} [${mark ?? ' '}]${star}`, rest };
  }
  const labeled = LABELED.exec(line);
  if (labeled !== null) {
    const [{ length }, bullet = '-', id, star = ''] = labeled;
    yield { length, item: `${bullet} [ ]${star}`, rest: id === undefined ? '' : `${id} ` };
  }
  const [worded, bullet, done] = WORDED.exec(line) ?? [];
  if (worded !== undefined) {
    yield {
      length: worded.length,
      item: `${bullet} [${done === undefined ? ' ' : 'x'}]`,
      rest: '',
    };
  }
  const numbered = numberedHead(line);
  if (numbered !== undefined) {
    yield { ...numbered, rest: '' };
  }
  const [plain, ownBullet] = /^([-*+])[\t ]+(?=(?:\*\*|`)?[\p{L}\p{N}])/u.exec(line) ?? [];
  if (plain !== undefined) {
    const [text = ''] = /^.*/.exec(line.slice(plain.length)) ?? [];
    const item = `${ownBullet} [${isTickedText(text) ? 'x' : ' '}]`;
    yield { length: plain.length, item, rest: '' };
  }
}

/** Behind a comment, and behind another item, an item needs a line of its own. @param before on its line */
function onOwnLine(text: string, before: string, { offset, length, content }: Edit): Edit {
  if (before.trim() === '') {
    return { offset, length, content };
  }
  const width = SEPARATOR.exec(before)?.[0].length ?? 0;
  const eol = /\r\n|\n|\r/.exec(text)?.[0] ?? '\n';
  const indent = /^[\t ]*(?=[-*+\d])/.exec(before)?.[0] ?? '';
  return { offset: offset - width, length: width + length, content: eol + indent + content };
}

function isOneMore(before: readonly Story[], after: readonly Story[], onLine: string): boolean {
  const [old, now] = [before.map(factsOf), after.map(factsOf)];
  const at = now.findIndex((facts, index) => facts !== old[index]);
  if (now.length !== old.length + 1) {
    return false;
  }
  const isSplit = isWhole(onLine) && isShorter(before[at], after[at]);
  const added = isSplit ? at + 1 : at;
  return now
    .toSpliced(added, 1)
    .every((facts, index) => facts === old[index] || (isSplit && index === at));
}

/** Whether an item is the same, without the end of its title. */
function isShorter(old: Story | undefined, now: Story | undefined): boolean {
  return (
    old !== undefined &&
    now !== undefined &&
    now.title !== old.title &&
    old.title.startsWith(now.title) &&
    factsOf({ ...old, title: now.title }) === factsOf(now)
  );
}

/** Whether a text in front of a second checkbox ends what it begins, such as bold words. */
function isWhole(before: string): boolean {
  return (
    before.trim() !== '' &&
    ['**', '__', '`', '<!--'].every(mark => before.split(mark).length % 2 === 1)
  );
}

/** What an item below or above it does not change. A number counts the items. */
function factsOf({ done, epic, id, status, title }: Story): string {
  return JSON.stringify([isNumberId(id) ? '' : id, title, done, status, epic]);
}
