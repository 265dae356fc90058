import { constants } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';

/** A heading of the log (levels 2 and 3, and dated ones of level 1), with what it says of its entry. */
export interface ProgressEntry {
  /** Without the marks of Markdown. */
  readonly heading: string;
  /** `2026-01-02` or `2026-01-02 10:00`, as the agent wrote it. */
  readonly date?: string;
  readonly storyId?: string;
  readonly iteration?: number;
}

/** What earlier iterations wrote down for later ones. */
export interface ProgressLog {
  /** Bullets under `## Codebase Patterns`. */
  readonly patterns: readonly string[];
  /** Bullets of learnings, oldest first, also where the newest entry is at the top of the file. */
  readonly learnings: readonly string[];
  /** In file order. Not every one is an iteration: `## Codebase Patterns` is a heading, too. */
  readonly entries: readonly ProgressEntry[];
}

/** What is read of either end of a file that is too long to be read as a whole. */
export const PROGRESS_WINDOW_BYTES = 256 * 1024;

/** Nobody reads more of a line, and no pattern below is slow for so little. */
const MAX_LINE = 2_000;
const MAX_HEADING = 200;
/** Deeper than any heading: a section that a bold line began ends at every heading. */
const LABEL_LEVEL = 7;

const PATTERNS_NAME =
  /^(?:(?:codebase|code|project|general|reusable|discovered|consolidated|key|important|common|useful)\s+){0,2}patterns\b/i;
const LEARNINGS_NAME =
  /^(?:(?:key|new|recent|important|main)\s+)?(?:learn(?:ings?|ed)|lessons?|gotchas?|insights?|(?:notes?|tips|advice)\s+(?:for|to)\s+(?:the\s+)?(?:future|next|later)|next\s+(?:developer|iteration|agent|session)s?\s+notes?|what\s+(?:i|we|was)\s+learn(?:ed|t))\b/i;
/** Names that say enough without a colon or bold letters. */
const BARE_LEARNINGS =
  /^(?:(?:key|new)\s+)?(?:learnings|lessons(?:\s+learned)?|(?:learnings|lessons|notes)\s+for\s+(?:the\s+)?(?:future|next|later)\s+\w+)$/i;
const ONLY_LEARNING = /^(?:learnings?|learned|lessons?(?:\s+learned)?)$/i;
const BULLET = /^(?:[-*+•]|\d{1,3}[.)])[ \t]+(.*)$/;
const RULE = /^(?:-{3,}|\*{3,}|_{3,}|={3,})$/;
const STAMP = /^\[\d{4}-\d\d-\d\d/;
const FENCE = /^(?:`{3,}|~{3,})/;
const DATE = /(?<!\d)(\d{4})([-/])(\d\d)\2(\d\d)(?:[T ]+(\d\d:\d\d))?/;
const ITERATION = /\biter(?:ation)?\s*#?(\d{1,9})\b/i;
const PLACEHOLDER =
  /^[\W_]*(?:(?:none|nothing|n\/a|tbd|todo|empty|to be (?:added|filled|discovered)|no (?:\w+ ){0,2}(?:patterns?|learnings?|lessons?|entries|notes))(?: (?:yet|so far|new|notable|special|found|discovered|recorded|added|here|in|for|this|iteration|story)){0,4}|yyyy-mm-dd\b.*)[\W_]*$/iu;

/**
 * Reads `progress.txt` in the styles found in the wild: dated headings with and without brackets, any
 * dash, `**Learnings for future iterations:**`, `## Iteration N - …`, bullets and numbered lists. Entries
 * without a learnings part give their own bullets, so that nothing an agent wrote down is lost to the next one.
 */
export function parseProgressLog(text: string): ProgressLog {
  const reader = new ProgressReader();
  reader.read(text);
  return reader.log();
}

/**
 * Reads a progress log from its file. Of a huge one only both ends are read: the patterns stand at the
 * top, what was learned last at the bottom.
 * @returns an empty log when there is no file
 * @throws when the file cannot be read, or is none
 */
export async function readProgressLog(
  file: string,
  windowBytes = PROGRESS_WINDOW_BYTES,
): Promise<ProgressLog> {
  const reader = new ProgressReader();
  for (const part of await readEnds(file, windowBytes)) {
    reader.read(part);
  }
  return reader.log();
}

async function readEnds(file: string, windowBytes: number): Promise<string[]> {
  let handle: FileHandle;
  try {
    // A pipe in the place of the file must not be waited for.
    handle = await open(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') {
      return [];
    }
    throw error;
  }
  try {
    const stat = await handle.stat();
    if (!stat.isFile()) {
      throw new Error(`${file} is not a file`);
    }
    if (stat.size <= 2 * windowBytes) {
      return [await readAt(handle, 0, stat.size)];
    }
    const head = await readAt(handle, 0, windowBytes);
    const tail = await readAt(handle, stat.size - windowBytes, windowBytes);
    // A line that was cut says something else than the whole one.
    return [head.slice(0, head.lastIndexOf('\n') + 1), tail.slice(tail.indexOf('\n') + 1)];
  } finally {
    await handle.close();
  }
}

async function readAt(handle: FileHandle, position: number, length: number): Promise<string> {
  const buffer = Buffer.alloc(length);
  let filled = 0;
  while (filled < length) {
    const { bytesRead } = await handle.read(buffer, filled, length - filled, position + filled);
    if (bytesRead === 0) {
      break;
    }
    filled += bytesRead;
  }
  return buffer.toString('utf8', 0, filled);
}

interface Line {
  /** Columns before the text; a tab counts as four. */
  readonly indent: number;
  readonly text: string;
}

/** What one entry holds: its learnings, or else all it says. */
interface Group {
  readonly date?: string;
  readonly iteration?: number;
  readonly learnings: string[];
  readonly others: string[];
}

class ProgressReader {
  private readonly patterns: string[] = [];
  private readonly entries: ProgressEntry[] = [];
  private readonly groups: Group[] = [];
  private group: Group = { learnings: [], others: [] };
  private section: 'entry' | 'patterns' | 'learnings' = 'entry';
  /** Level of the heading that began the section. */
  private level = 0;
  /** Level of the heading that began the entry. */
  private entryLevel = 0;
  /** Indentation of the bullet that the learnings are nested in; -1 when they are in none. */
  private learningsIndent = -1;
  private inFence = false;
  /** Where the text of a wrapped bullet goes on. */
  private last: { readonly list: string[]; readonly indent: number } | undefined;

  read(text: string): void {
    this.closeEntry();
    this.begin('entry', 0);
    this.inFence = false;
    for (const whole of text.replace(/^\uFEFF/, '').split(/\r\n?|\n/)) {
      this.readLine(toLine(whole.slice(0, MAX_LINE)));
    }
    this.closeEntry();
  }

  log(): ProgressLog {
    const learnings = oldestFirst(this.groups).flatMap(({ learnings, others }) =>
      learnings.length > 0 ? learnings : others,
    );
    return { patterns: this.patterns, learnings, entries: this.entries };
  }

  private readLine(line: Line): void {
    const heading = headingOf(line);
    if (this.inFence) {
      // An agent's summary may have been cut within a code block; the next entry is no part of it.
      if (heading !== undefined && isDated(entryOf(heading.title))) {
        this.inFence = false;
      } else {
        this.inFence = !FENCE.test(line.text);
        return;
      }
    }
    if (line.text === '') {
      this.last = undefined;
    } else if (FENCE.test(line.text)) {
      this.inFence = true;
    } else if (heading) {
      this.readHeading(heading.level, heading.title);
    } else if (RULE.test(line.text) || STAMP.test(line.text)) {
      this.closeEntry(entryOf(line.text));
      this.begin('entry', 0);
    } else {
      this.readText(line);
    }
  }

  private readHeading(level: number, title: string): void {
    const entry = entryOf(title);
    if (level === 2 || level === 3 || (level === 1 && isDated(entry))) {
      this.entries.push(entry);
    }
    const begins = isDated(entry) || entry.storyId !== undefined;
    const isDeeper = level > this.level && !begins;
    if (isPatterns(title)) {
      if (this.section !== 'patterns' || !isDeeper) {
        this.closeEntry();
        this.begin('patterns', level);
      }
    } else if (isLearnings(title)) {
      this.begin('learnings', level);
    } else if (this.section !== 'entry' && isDeeper) {
      // A part of the patterns or learnings.
      this.last = undefined;
    } else if (this.entryLevel > 0 && level > this.entryLevel && !begins) {
      this.begin('entry', level);
    } else {
      this.closeEntry(entry, level);
      this.begin('entry', level);
    }
  }

  private readText(line: Line): void {
    const [, bullet] = BULLET.exec(line.text) ?? [];
    const label = labelOf(bullet ?? line.text);
    if (this.section === 'learnings' && line.indent <= this.learningsIndent) {
      // The learnings were a nested list, and this is its parent's next sibling.
      this.begin('entry', this.entryLevel);
    }
    if (bullet !== undefined) {
      this.readBullet(line, bullet, label);
      return;
    }
    if (label && isLearnings(label.name)) {
      this.beginLearnings(line, -1, label.inline);
      return;
    }
    if (this.last && line.indent > this.last.indent) {
      append(this.last.list, line.text);
      return;
    }
    this.last = undefined;
    if (label?.inline !== '') {
      return;
    }
    if (isPatterns(label.name)) {
      this.begin('patterns', LABEL_LEVEL);
    } else if (this.level === LABEL_LEVEL) {
      this.begin('entry', this.entryLevel);
    }
  }

  private readBullet(line: Line, bullet: string, label: Label | undefined): void {
    const saysLearnings = label !== undefined && isLearnings(label.name);
    if (this.section === 'patterns') {
      this.keep(this.patterns, bullet, line.indent);
    } else if (this.section === 'learnings') {
      const says = saysLearnings && ONLY_LEARNING.test(label.name) ? label.inline : bullet;
      this.keep(this.group.learnings, says, line.indent);
    } else if (saysLearnings) {
      this.beginLearnings(line, line.indent, label.inline);
    } else {
      this.keep(this.group.others, bullet, line.indent);
    }
  }

  private beginLearnings(line: Line, indent: number, inline: string): void {
    this.begin('learnings', LABEL_LEVEL);
    this.learningsIndent = indent;
    this.keep(this.group.learnings, inline, line.indent);
  }

  private keep(list: string[], text: string, indent: number): void {
    const said = clean(text);
    if (isPlaceholder(said)) {
      this.last = undefined;
    } else {
      list.push(said);
      this.last = { list, indent };
    }
  }

  private begin(section: ProgressReader['section'], level: number): void {
    this.section = section;
    this.level = level;
    this.learningsIndent = -1;
    this.last = undefined;
  }

  private closeEntry(next: Partial<ProgressEntry> = {}, level = 0): void {
    if (this.group.learnings.length > 0 || this.group.others.length > 0) {
      this.groups.push(this.group);
    }
    const { date, iteration } = next;
    this.group = {
      ...(date === undefined ? {} : { date }),
      ...(iteration === undefined ? {} : { iteration }),
      learnings: [],
      others: [],
    };
    this.entryLevel = level;
    this.last = undefined;
  }
}

function isPatterns(name: string): boolean {
  return PATTERNS_NAME.test(withoutDecoration(name));
}

function isLearnings(name: string): boolean {
  return LEARNINGS_NAME.test(withoutDecoration(name));
}

function withoutDecoration(name: string): string {
  return name.replace(/^[^\p{L}\p{N}]+/u, '');
}

function toLine(whole: string): Line {
  let indent = 0;
  let at = 0;
  for (; whole[at] === ' ' || whole[at] === '\t'; at += 1) {
    indent += whole[at] === '\t' ? 4 : 1;
  }
  return { indent, text: whole.slice(at).trim() };
}

function headingOf({ indent, text }: Line): { level: number; title: string } | undefined {
  const [marks] = /^#{1,6}(?=[ \t])/.exec(text) ?? [];
  return marks === undefined || indent > 3
    ? undefined
    : { level: marks.length, title: clean(text.slice(marks.length).slice(0, MAX_HEADING)) };
}

interface Label {
  readonly name: string;
  /** What stands behind the label in its line. */
  readonly inline: string;
}

/** `**Name:** inline`, `**Name**`, `Name: inline`, or a name of learnings alone. */
function labelOf(text: string): Label | undefined {
  const [, bold, behind] =
    /^[^\p{L}\p{N}*_]{0,4}(?:\*\*|__)([^*_]{1,80})(?:\*\*|__)(.*)$/u.exec(text) ?? [];
  if (bold !== undefined && behind !== undefined) {
    const isLabel = /:\s*$/.test(bold) || /^\s*(?::|$)/.test(behind);
    return isLabel
      ? { name: bold.replace(/:\s*$/, '').trim(), inline: behind.replace(/^\s*:/, '').trim() }
      : undefined;
  }
  const [, plain, inline] = /^([^:*]{1,60}):(?=\s|$)(.*)$/.exec(text) ?? [];
  if (plain !== undefined && inline !== undefined) {
    return { name: plain.trim(), inline: inline.trim() };
  }
  return BARE_LEARNINGS.test(text) ? { name: text, inline: '' } : undefined;
}

/** What a heading, or a line that begins with a time stamp, says of its entry. */
function entryOf(title: string): ProgressEntry {
  const heading = title.slice(0, MAX_HEADING);
  const date = DATE.exec(heading);
  const iteration = ITERATION.exec(heading);
  const time = date?.[5] === undefined ? '' : ` ${date[5]}`;
  const storyId = storyIdOf(heading, date, iteration);
  return {
    heading,
    ...(date && { date: `${date[1]}-${date[3]}-${date[4]}${time}` }),
    ...(storyId === undefined ? {} : { storyId }),
    ...(iteration && { iteration: Number(iteration[1]) }),
  };
}

function isDated(entry: ProgressEntry): boolean {
  return entry.date !== undefined || entry.iteration !== undefined;
}

/** The first word behind date and iteration, when it looks like an id: `US-003`, `ralph-tui-45r.1`, `[docs]`, `setup:`. */
function storyIdOf(
  heading: string,
  date: RegExpExecArray | null,
  iteration: RegExpExecArray | null,
): string | undefined {
  const from = Math.max(
    date ? date.index + date[0].length : 0,
    iteration ? iteration.index + iteration[0].length : 0,
  );
  const rest = heading
    .slice(from)
    .replace(/^(?:\([^)]{0,60}\)|[^\p{L}\p{N}#[(]){0,8}/u, '')
    .replace(/^\]?[^\p{L}\p{N}#[]{0,8}/u, '');
  const [, bracketed] = /^\[([\p{L}\p{N}][\p{L}\p{N}_.-]{0,60})\]/u.exec(rest) ?? [];
  if (bracketed !== undefined && from > 0) {
    return bracketed;
  }
  const [, kind, word = '', behind = ''] =
    /^((?:story|task)\s+)?(#?[\p{L}\p{N}][\p{L}\p{N}_.-]{0,60})(.{0,3})/iu.exec(rest) ?? [];
  const looksLikeId =
    /^(?:#\d+|\p{L}[\p{L}\p{N}_.]*-[\p{L}\p{N}_.-]*)$/u.test(word) && /\d/.test(word);
  if (looksLikeId) {
    // `UTF-8 in names` is no story, `US-001: names` is.
    const isSetOff =
      from > 0 || kind !== undefined || /^(?:$|[:,)\]]|\s+[^\p{L}\p{N}])/u.test(behind);
    return isSetOff && /^(?:$|[\s:,)\]])/.test(behind) ? word.replace(/\.+$/, '') : undefined;
  }
  const isName = from > 0 && behind.startsWith(':') && /^\p{Ll}[\p{Ll}\p{N}_-]*$/u.test(word);
  return isName ? word : undefined;
}

/** Some agents put the newest entry at the top. What stands before the first dated entry stays the oldest. */
function oldestFirst(groups: readonly Group[]): readonly Group[] {
  const dated = groups.filter(group => group.date !== undefined || group.iteration !== undefined);
  let steps = 0;
  for (const [i, group] of dated.slice(1).entries()) {
    steps += Math.sign(compareTimes(group, dated[i] ?? group));
  }
  const [first] = dated;
  if (steps >= 0 || first === undefined) {
    return groups;
  }
  const from = groups.indexOf(first);
  return [...groups.slice(0, from), ...groups.slice(from).reverse()];
}

function compareTimes(a: Group, b: Group): number {
  if (a.date !== undefined && b.date !== undefined) {
    const length = Math.min(a.date.length, b.date.length);
    const [one, other] = [a.date.slice(0, length), b.date.slice(0, length)];
    if (one !== other) {
      return one < other ? -1 : 1;
    }
  }
  return a.iteration !== undefined && b.iteration !== undefined ? a.iteration - b.iteration : 0;
}

function append(list: string[], text: string): void {
  const end = list.length - 1;
  const whole = list[end];
  if (whole !== undefined && whole.length < MAX_LINE) {
    list[end] = `${whole} ${clean(text)}`.slice(0, MAX_LINE).trimEnd();
  }
}

/** Says nothing: `…`, `(none yet)`, `[your learning here]`, an empty check box. */
function isPlaceholder(text: string): boolean {
  return (
    !/[\p{L}\p{N}]/u.test(text) ||
    /^(?:\[[^\]]*\]|<[^>]*>|\{+[^}]*\}+)$/.test(text) ||
    (text.length <= 120 && PLACEHOLDER.test(text))
  );
}

function clean(text: string): string {
  return text.replaceAll('**', '').trim();
}
