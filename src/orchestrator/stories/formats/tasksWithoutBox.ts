import { say } from '../../../base/say.ts';
import type { StoryProblem } from '../story.ts';
import { idInText, labelInText } from './idInText.ts';
import { indentOf, isAlmostCheckbox, type MarkdownLine, startOf } from './markdownBlocks.ts';
import { plainText } from './plainText.ts';
import { PARKED_WORDS } from './prdKeys.ts';
import { DONE_WORDS } from './stateMarks.ts';

/** `T001`: nothing else is called so, while UTF-8 and SHA-256 are. */
export const NUMBERED_TASK = /^T\d+$/;
/** In a text: as done. */
export const TICK =
  /[[\uFF3B]\s*(?:x{1,2}|done|completed?|erledigt|fertig|\u5B8C\u4E86)\s*\\?[\]\uFF3D]|[\u2611\u2705\u2713\u2714]/i;

/** A bullet or heading, and its text. */
const LISTED = /^(?:[-*+]|\d{1,9}[.)]|#{1,6})[\t ]+(\S.*)$/s;
/** `1.2 Text` and `2. Text`, behind a bullet. */
const BULLET_WITH_NUMBER =
  /^[\t ]*[-*+][\t ]+(?:\*\*)?(?:\d{1,4}(?:\.\d{1,4})+\.?|\d{1,4}\.):?(?:\*\*)?[\t ]+(?:\*\*|[`[])?\p{L}/u;
/** A bullet with another id, such as `US-002`. */
const BULLET = /^[\t ]*[-*+][\t ]/;
const TICKED = new RegExp(`^(?:${TICK.source})|(?:${TICK.source})\\s*$`, 'i');
/** In front of a word at the end of a text, and behind it: in brackets, in bold or behind a dash. */
const BEFORE_END = String.raw`(?:[([]|\*\*|\s[-\u2013\u2014]\s)`;
const END = String.raw`(?:[)\]]|\*\*)?[\s.!]{0,9}$`;
/** In the words of a text, at its start or at its end; there also with a date. */
const IS_DONE = new RegExp(
  String.raw`^(?:done|completed|finished|erledigt|fertig)(?!\p{L})|${BEFORE_END}(?:${DONE_WORDS}|finished)(?:\s(?:on\s)?[\d./-]{4,20})?${END}`,
  'iu',
);

/** What stands between an id and the words about it. */
const BEFORE_WORDS = /^[\s:,;.|\])*_`/&+]{0,9}/;
/** A range, or an arrow. */
const LEADS_ON =
  /^(?:[-\u2013\u2014=]{1,2}>|[\u2190-\u21FF]|[-\u2013\u2014~]{1,2}\s{0,4}(?:T\d|\d{1,4}\.\d))/;
/** Of a sentence about a task: a task itself begins with what is to be done. */
const VERBS = [
  ...['blocks', 'blocked', 'unblocks', 'depends', 'dependent', 'needs', 'requires', 'waits'],
  ...['before', 'after', 'follows', 'precedes', 'through', 'until', 'to', 'and', 'or', 'is', 'are'],
  ...['was', 'were', 'has', 'must', 'can', 'cannot', 'may', 'should', 'will', 'in'],
];
const GONE = ['removed', 'deleted', 'merged', 'moved', 'replaced', 'withdrawn', ...PARKED_WORDS];
const ABOUT = new RegExp(
  `^(?:${VERBS.join('|')}|T\\d{1,9}|\\d{1,4}\\.\\d{1,4})(?![\\p{L}\\d])`,
  'u',
);
const IS_GONE = new RegExp(`^(?:${GONE.join('|')})(?![\\p{L}\\d])`, 'u');
const NOT_WANTED = 'won.t do|rejected|out of scope|not needed';
/** With a capital, it may begin what is to be done: "Merged cells are split". */
const IS_ONLY_GONE = new RegExp(
  `^(?:(?:${GONE.join('|')})[*_)\\]]{0,3}\\s{0,4}(?:$|[-,.;:(\\u2013\\u2014]|(?:to|into|until|from|by)\\s)|(?:${NOT_WANTED})(?![\\p{L}\\d]))`,
  'iu',
);
const ENDS_GONE = new RegExp(
  String.raw`${BEFORE_END}(?:${GONE.join('|')}|${NOT_WANTED})(?:\s(?:(?:to|into|until|from)\s\S{1,20}|by\s\S{0,20}\d))?${END}`,
  'iu',
);

/** A line that begins with an id like those of the items, but has no checkbox. */
interface Candidate {
  readonly line: MarkdownLine;
  readonly id: string;
  /** It has the indentation of items with such ids, further in. */
  readonly isNested: boolean;
}

/**
 * Lines that begin with an id like those of the items, but have no checkbox. Prose does so, too: what is named stands
 * next to an item, at the indentation of one, and is no sentence about a task.
 * @param ids of the items
 */
export function withoutBox(
  lines: readonly MarkdownLine[],
  ids: readonly (string | undefined)[],
): StoryProblem[] {
  const numbering = new Numbering(lines, ids);
  if (!numbering.hasAny) {
    return [];
  }
  const candidates = lines.map(line => candidateIn(line, numbering));
  if (candidates.every(candidate => candidate === undefined)) {
    return [];
  }
  const places = [nextToItems(lines, candidates), groupless(lines, candidates)];
  const named = new Set<number>();
  const indexes = lines.flatMap((_, index) => (places.some(one => one.has(index)) ? [index] : []));
  // Backward, too: the number of a line may be next to that of a later one.
  for (const index of [...indexes, ...indexes.toReversed()]) {
    const id = candidates[index]?.id ?? '';
    if (numbering.goesOn(id)) {
      named.add(index);
      numbering.add(id);
    }
  }
  return lines.flatMap((line, index): StoryProblem[] => {
    const id = candidates[index]?.id;
    if (id === undefined || !named.has(index)) {
      return [];
    }
    const mark = isTickedText(LISTED.exec(line.text.trimStart())?.[1] ?? '') ? '- [x]' : '- [ ]';
    return [
      {
        code: 'notAStory',
        message: say(
          'This line begins with {0} like a task, but has no checkbox, so it is not read. Write it as "{1} {0} …".',
          plainText(id),
          mark,
        ),
        line: line.line,
        column: startOf(line.text) + 1,
      },
    ];
  });
}

/** The ids of the items, and which others are like them. */
class Numbering {
  private readonly known = new Set<string>();
  /** The last number behind each beginning, as {@link placeOf} has it. */
  private readonly last = new Map<string, number>();
  /** All numbers behind each beginning. */
  private readonly numbers = new Map<string, Set<number>>();
  /** The indentations of the items behind each beginning. */
  private readonly indents = new Map<string, Set<number>>();
  private shortest = Number.POSITIVE_INFINITY;
  private longest = 0;

  /** @param ids of the items, in their order */
  constructor(lines: readonly MarkdownLine[], ids: readonly (string | undefined)[]) {
    const items = lines.flatMap(line => (line.kind === 'checkbox' ? [line.checkbox] : []));
    items.forEach(({ indent, text }, position) => {
      const id = ids[position] ?? labelInText(text);
      if (id === undefined) {
        return;
      }
      this.add(id);
      const { start } = placeOf(id);
      this.indents.set(start, (this.indents.get(start) ?? new Set()).add(indent));
      if (NUMBERED_TASK.test(id)) {
        this.shortest = Math.min(this.shortest, id.length);
        // With zeros in front, all are equally long.
        this.longest = Math.max(this.longest, id.startsWith('T0') ? id.length : 0);
      }
    });
  }

  get hasAny(): boolean {
    return this.known.size > 0;
  }

  add(id: string): void {
    this.known.add(id);
    const { number, start } = placeOf(id);
    this.last.set(start, Math.max(number, this.last.get(start) ?? 0));
    this.numbers.set(start, (this.numbers.get(start) ?? new Set()).add(number));
  }

  /** Whether an id is like those of the items. A threat T1 is no task in a list that begins with T001. */
  isAlike(id: string): boolean {
    return NUMBERED_TASK.test(id)
      ? id.length >= this.shortest && (this.longest === 0 || id.length <= this.longest)
      : this.numbers.has(placeOf(id).start) || this.known.has(placeOf(id).above);
  }

  /**
   * Whether an id is new, and a number the next one at most: "4.2 MB" is none. Ids with a word, such as those of an issue
   * tracker, have an item next to them.
   */
  goesOn(id: string): boolean {
    const { above, number, start } = placeOf(id);
    if (hasWord(id)) {
      return (
        this.isNew(id) && [number - 1, number + 1].some(next => this.numbers.get(start)?.has(next))
      );
    }
    const last = this.last.get(start) ?? (this.known.has(above) ? 0 : Number.NEGATIVE_INFINITY);
    return this.isNew(id) && (NUMBERED_TASK.test(id) || number <= last + 1);
  }

  /** Whether items with this indentation have ids with the same beginning: `1.1`, for `1.2`. */
  hasNextTo(id: string, indent: number): boolean {
    return this.indents.get(placeOf(id).start)?.has(indent) === true;
  }

  isNew(id: string): boolean {
    return !this.known.has(id);
  }
}

/** Whether an id has a word, and is none of a list of tasks: `US-003`, `Task 3`. */
function hasWord(id: string): boolean {
  return /^\p{L}/u.test(id) && !NUMBERED_TASK.test(id);
}

/** Of `2.1`, the number is 1 behind `2.`, and it is the first one below `2`. */
function placeOf(id: string): {
  readonly start: string;
  readonly number: number;
  readonly above: string;
} {
  const [digits = ''] = /\d{0,9}$/.exec(id) ?? [];
  const start = id.slice(0, id.length - digits.length);
  return {
    start,
    number: digits === '' ? Number.NaN : Number(digits),
    above: start.replace(/\.$/, ''),
  };
}

function candidateIn(line: MarkdownLine, numbering: Numbering): Candidate | undefined {
  if (line.kind === 'checkbox' || (line.kind === 'plain' && line.isHidden)) {
    return undefined;
  }
  const [, text] = LISTED.exec(line.text.trimStart()) ?? [];
  const id = text === undefined ? undefined : (idInText(text) ?? labelInText(text));
  if (
    text === undefined ||
    id === undefined ||
    !numbering.isAlike(id) ||
    isAbout(behind(text, id))
  ) {
    return undefined;
  }
  const isNumber = /^\d/.test(id);
  const isListed =
    NUMBERED_TASK.test(id) || (isNumber ? BULLET_WITH_NUMBER : BULLET).test(line.text);
  const indent = indentOf(line.text);
  const isNested = isNumber && indent > 0;
  return isListed &&
    !isAlmostCheckbox(line, true) &&
    numbering.isNew(id) &&
    (!isNested || numbering.hasNextTo(id, indent))
    ? { line, id, isNested }
    : undefined;
}

function behind(text: string, id: string): string {
  return text.slice(text.indexOf(id) + id.length);
}

/** Whether the text of a line says that its task is gone: it is struck, or begins or ends with a word for that. */
export function isWordOfGone(text: string): boolean {
  return (
    /^[*_]{0,3}~~/.test(text) ||
    IS_ONLY_GONE.test(text.replace(/^[*_([]{1,4}/, '')) ||
    ENDS_GONE.test(text)
  );
}

/** Whether a text begins with an id or label, and tells of that task: `T002 blocks T003`. */
export function isAboutTask(text: string): boolean {
  const id = idInText(text) ?? labelInText(text);
  return id !== undefined && isAbout(behind(text, id));
}

/**
 * Whether a text says that its task is done, at its start, behind its id or at its end: a tick in the middle belongs to the
 * text.
 */
export function isTickedText(text: string): boolean {
  const id = idInText(text) ?? labelInText(text);
  const words = (id === undefined ? text : behind(text, id)).replace(BEFORE_WORDS, '');
  return TICKED.test(text) || [TICKED, IS_DONE].some(done => done.test(words));
}

/** @param rest of a line behind the id */
function isAbout(rest: string): boolean {
  const words = rest.replace(BEFORE_WORDS, '');
  // What is in brackets and no such word belongs to the task: "(depends on T001)".
  const state = words.replace(/^(?:[-\u2013\u2014]{1,2}\s{1,4})?[*_([]{0,3}/, '');
  return (
    [LEADS_ON, ABOUT].some(pattern => pattern.test(words)) ||
    [IS_GONE, IS_ONLY_GONE].some(pattern => pattern.test(state)) ||
    ENDS_GONE.test(rest)
  );
}

/** Whether a text that stands directly below a line of a list is a part of it for Markdown. */
export function isWrapped(text: string): boolean {
  return /^\s*(?!\d{1,9}[.)]\s)[\p{L}\p{N}]/u.test(text);
}

/**
 * The bullets in one list with items: no other text and no heading stands between them. None is part of what an item
 * says.
 */
function nextToItems(
  lines: readonly MarkdownLine[],
  candidates: readonly (Candidate | undefined)[],
): ReadonlySet<number> {
  const indents = new Set(
    lines.flatMap(line => (line.kind === 'checkbox' ? [line.checkbox.indent] : [])),
  );
  const found = new Set<number>();
  let list: number[] = [];
  /** Ids with a word: above the items, and apart from them, they are references. */
  let references: number[] = [];
  let hasItem = false;
  /** Of the item or candidate above, as long as what follows may belong to it. */
  let open = Number.POSITIVE_INFINITY;
  let isApart = false;
  const end = () => {
    for (const index of hasItem ? [...list, ...references] : []) {
      found.add(index);
    }
    [list, references, hasItem, open] = [[], [], false, Number.POSITIVE_INFINITY];
  };
  lines.forEach((line, index) => {
    const indent = indentOf(line.text);
    const candidate = candidates[index];
    const wasApart = isApart;
    isApart = line.text.trim() === '';
    if (isApart && !hasItem) {
      references = [];
    }
    if (line.kind === 'checkbox' || isAlmostCheckbox(line, true)) {
      // A line that is to become an item counts as one.
      [hasItem, open] = [true, indent];
    } else if (line.kind === 'heading') {
      end();
    } else if (candidate?.isNested === true) {
      list.push(index);
      open = indent;
    } else if (line.text.trim() !== '' && !line.isHidden && indent <= open) {
      if (candidate !== undefined && indents.has(indent)) {
        (hasWord(candidate.id) ? references : list).push(index);
        open = indent;
      } else if (wasApart || !isWrapped(line.text)) {
        end();
      }
    }
  });
  end();
  return found;
}

/**
 * The headings that are tasks, and not the groups of items: without items, and directly behind the items of a higher
 * heading, or next to another such heading.
 */
function groupless(
  lines: readonly MarkdownLine[],
  candidates: readonly (Candidate | undefined)[],
): ReadonlySet<number> {
  const empty = withoutItems(lines);
  const isTask = (index: number) => empty.has(index) && candidates[index] !== undefined;
  const ids = new Map<number, Set<string>>();
  lines.forEach((line, index) => {
    if (line.kind === 'heading' && isTask(index)) {
      const own = ids.get(line.level) ?? new Set();
      ids.set(line.level, own.add(candidates[index]?.id ?? ''));
    }
  });
  const found = new Set<number>();
  /** Of the heading of the item directly above, or of what is next to it. */
  let level = Number.POSITIVE_INFINITY;
  let above = 0;
  lines.forEach((line, index) => {
    if (line.kind === 'checkbox') {
      level = above;
    } else if (line.kind === 'heading') {
      const isBeside = line.level > level;
      if (isTask(index) && (isBeside || (ids.get(line.level)?.size ?? 0) > 1)) {
        found.add(index);
      }
      above = line.level;
      level = isTask(index) && isBeside ? level : Number.POSITIVE_INFINITY;
    } else if (/^\S/.test(line.text) && !line.isHidden && candidates[index] === undefined) {
      level = Number.POSITIVE_INFINITY;
    }
  });
  return found;
}

/** Of headings. */
const LEVELS: ReadonlySet<number> = new Set([1, 2, 3, 4, 5, 6]);

/** The headings below which no item stands, up to the next one of their level or a higher one. */
export function withoutItems(lines: readonly MarkdownLine[]): ReadonlySet<number> {
  const found = new Set<number>();
  /** The levels of headings that would have an item. */
  let having: ReadonlySet<number> = new Set();
  for (let index = lines.length - 1; index >= 0; index--) {
    const line = lines[index];
    if (line?.kind === 'checkbox') {
      having = LEVELS;
    } else if (line?.kind === 'heading') {
      if (!having.has(line.level)) {
        found.add(index);
      }
      having = new Set([...having].filter(one => one < line.level));
    }
  }
  return found;
}
