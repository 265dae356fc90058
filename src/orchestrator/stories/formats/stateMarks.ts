export const OTHER_BOX = /^[\u25A1\u25A2\u25FB\u25FD\u274F-\u2752\u2B1C\u{1F532}]\uFE0F?/u;
/** An empty box that is one character, as the source of a regular expression. */
export const BOX_SYMBOL = `(?:\\u2610|${OTHER_BOX.source.slice(1)})`;
/** A box, or another mark of a state. */
export const MARK =
  /[\u231B\u23F3\u25A0-\u25FF\u2610-\u2612\u2705\u2713-\u2718\u274C\u274E-\u2752\u26AA\u26AB\u2B1B\u2B1C\u{1F504}\u{1F532}-\u{1F535}\u{1F6A7}\u{1F7E0}-\u{1F7EB}]/gu;
/** A line that begins with one. */
const MARKED = new RegExp(
  `^[\\t ]*(?:[-*+][\\t ]+)?(${MARK.source})\\u{FE0F}?[\\t ]+(.{1,99})$`,
  'u',
);
/** A mark of work that has begun, as the source of a regular expression. */
export const BEGUN_MARK = String.raw`[\u231B\u23F3\u{1F504}\u{1F6A7}\u{1F7E1}\u{1F7E8}]`;
const BEGUN = new RegExp(BEGUN_MARK, 'u');
/** Of what explains a mark. */
const MOST_WORDS = 4;
/** Words in brackets in the place of a mark: `- [done] text`; as the source of a regular expression. */
export const DONE_WORDS = 'done|completed?|erledigt|fertig|\u5B8C\u4E86';
/** The same of work that is open. */
export const OPEN_WORDS = [
  'to[ -]?do|pending|in[ _-](?:progress|review)|not[ _-](?:started|done)|incomplete|wip|doing|planned',
  'tbd|blocked|partial|offen|in (?:arbeit|bearbeitung)|ausstehend|geplant',
  '\u672A\u7740\u624B|\u672A\u5B8C\u4E86|\u672A\u5BFE\u5FDC|\u9032\u884C\u4E2D|\u4F5C\u696D\u4E2D',
].join('|');
/** Words for a state, as the source of a regular expression. */
const STATES = [
  'open|pending|to-?do|not[ -](?:started|done|yet|completed?)(?: yet)?|in[ -]progress|incomplete',
  'unchecked|checked|blocked|done|completed?|finished|planned',
  'offen|(?:noch )?nicht begonnen|in (?:arbeit|bearbeitung)|ausstehend|geplant|blockiert|erledigt|fertig',
  '\u672A\u7740\u624B|\u672A\u5B8C\u4E86|\u672A\u5BFE\u5FDC|\u9032\u884C\u4E2D|\u4F5C\u696D\u4E2D|\u5B8C\u4E86',
].join('|');
/** What explains a mark, and is no work. */
const LEGEND = new RegExp(
  String.raw`^[^\p{L}\p{N}_]*(?:(?:(?:task|item|story) )?(?:is )?(?:${STATES})(?: (?:tasks?|items?|stor(?:y|ies)))?(?!\p{L})\P{L}*$|(?:means?|is|are)(?!\p{L}))`,
  'iu',
);
/** A text that begins with a word for a state. */
const STATE = new RegExp(String.raw`^[^\p{L}\p{N}]*(?:${STATES})(?!\p{L})`, 'iu');

/**
 * The mark that a line begins with, behind a bullet too, if only a few words follow; `undefined` if it has none. Several
 * lines with one mark each explain them. All empty boxes are one mark.
 */
export function markWithWords(
  text: string,
): { readonly mark: string; readonly isState: boolean } | undefined {
  const [, mark, words = ''] = MARKED.exec(text) ?? [];
  return mark !== undefined && words.trim().split(/\s+/).length <= MOST_WORDS
    ? { mark: mark.replace(OTHER_BOX, '\u2610'), isState: STATE.test(words) }
    : undefined;
}

/** Whether a line is a bullet with a mark of work that has begun, and says which work. */
export function isBegun(text: string): boolean {
  const [, mark = '', words = ''] = MARKED.exec(text) ?? [];
  return /^[-*+]/.test(text) && BEGUN.test(mark) && /\p{L}/u.test(words) && !LEGEND.test(words);
}

/** Whether a text has boxes, and marks that are none: of a legend, or of a bar. */
export function hasOtherMarks(text: string): boolean {
  return [...text.matchAll(MARK)].some(([mark]) => mark !== '\u2610' && !OTHER_BOX.test(mark));
}

/** Whether a text has a box, or another mark of a state. */
export function hasMark(text: string): boolean {
  return text.search(MARK) !== -1 || /\[[ xX~]?\]/.test(text);
}

/** Whether a text only explains a mark. */
export function isLegend(text: string): boolean {
  return LEGEND.test(text);
}
