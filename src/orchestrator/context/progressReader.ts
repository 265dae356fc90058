import { fenceAfter } from '../../base/codeFence.ts';
import { entryOf, isDated, type ProgressEntry } from './progressEntry.ts';
import {
  clean,
  headingOf,
  isCompacted,
  isLearnings,
  isPatterns,
  isPlaceholder,
  type Label,
  type Line,
  labelOf,
  toLine,
} from './progressLine.ts';

/** The notes of earlier iterations for later ones. */
export interface ProgressLog {
  /** Bullets under `## Codebase Patterns`. */
  readonly patterns: readonly string[];
  /** Bullets of learnings, oldest first, even if the newest entry is at the top of the file. */
  readonly learnings: readonly string[];
  /** In file order. Includes headings that are not iterations, such as `## Codebase Patterns`. */
  readonly entries: readonly ProgressEntry[];
}

/** In UTF-16 units. Longer lines are not useful, and the patterns below are fast for this length. */
const MAX_LINE = 2_000;
/** Deeper than any heading: a section that started with a bold line ends at every heading. */
const LABEL_LEVEL = 7;

const ONLY_LEARNING = /^(?:learnings?|learned|lessons?(?:\s+learned)?)$/i;
const BULLET = /^(?:[-*+\u2022]|\d{1,3}[.)])[ \t]+(.*)$/;
/** A line between entries. */
export const RULE = /^(?:-{3,}|\*{3,}|_{3,}|={3,})$/;
/** A line that starts with a time begins an entry. */
export const STAMP = /^\[\d{4}-\d\d-\d\d/;

export type Section = 'entry' | 'patterns' | 'learnings';

/** Where a line belongs. */
export interface LinePlace {
  readonly section: Section;
  /** Grows where a new entry begins. */
  readonly entry: number;
  readonly isInFence: boolean;
}

/** The content of an entry: its learnings, or otherwise all of it. */
interface Group {
  readonly date?: string;
  readonly iteration?: number;
  readonly learnings: string[];
  readonly others: string[];
}

/** Parses the sections of one log, line by line. */
export class ProgressReader {
  private readonly patterns: string[] = [];
  private readonly entries: ProgressEntry[] = [];
  private readonly groups: Group[] = [];
  private group: Group = { learnings: [], others: [] };
  private section: Section = 'entry';
  /** Level of the section's heading. */
  private level = 0;
  /** Level of the entry's heading. */
  private entryLevel = 0;
  /** Indentation of the bullet that contains the learnings; -1 if there is none. */
  private learningsIndent = -1;
  /** The marker of the open code block. */
  private fence: string | undefined;
  private closed = 0;
  /** Where to append the next line of a wrapped bullet. */
  private last: { readonly list: string[]; readonly indent: number } | undefined;

  /** Reads a part of the file that consists of complete lines. */
  read(text: string): void {
    this.closeEntry();
    this.begin('entry', 0);
    this.fence = undefined;
    for (const whole of text.replace(/^\uFEFF/, '').split(/\r\n?|\n/)) {
      this.place(whole);
    }
    this.closeEntry();
  }

  /** Reads the next line, without its line break. @returns where it belongs */
  place(whole: string): LinePlace {
    this.readLine(toLine(whole.slice(0, MAX_LINE)));
    return { section: this.section, entry: this.closed, isInFence: this.fence !== undefined };
  }

  /** The parsed log. */
  log(): ProgressLog {
    const learnings = oldestFirst(this.groups).flatMap(({ learnings, others }) =>
      learnings.length > 0 ? learnings : others,
    );
    return { patterns: this.patterns, learnings, entries: this.entries };
  }

  private readLine(line: Line): void {
    const heading = headingOf(line);
    if (this.fence !== undefined) {
      // An agent's summary may have been cut inside a code block; the next entry is not part of it.
      if (heading !== undefined && isDated(entryOf(heading.title))) {
        this.fence = undefined;
      } else {
        this.fence = fenceAfter(line.text, this.fence);
        return;
      }
    }
    this.fence = fenceAfter(line.text, undefined);
    if (this.fence !== undefined) {
      return;
    }
    if (line.text === '') {
      this.last = undefined;
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
    // The date of a compaction says nothing about the order of the entries.
    const isOld = isCompacted(title);
    const entry: ProgressEntry = isOld ? { heading: title } : entryOf(title);
    if (level === 2 || level === 3 || (level === 1 && isDated(entry))) {
      this.entries.push(entry);
    }
    const begins = isOld || isDated(entry) || entry.storyId !== undefined;
    const isDeeper = level > this.level && !begins;
    if (isPatterns(title)) {
      if (this.section !== 'patterns' || !isDeeper) {
        this.closeEntry();
        this.begin('patterns', level);
      }
    } else if (isLearnings(title)) {
      this.begin('learnings', level);
    } else if (this.section !== 'entry' && isDeeper) {
      // A subsection of the patterns or learnings.
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

  private begin(section: Section, level: number): void {
    this.section = section;
    this.level = level;
    this.learningsIndent = -1;
    this.last = undefined;
  }

  private closeEntry(next: Partial<ProgressEntry> = {}, level = 0): void {
    if (this.group.learnings.length > 0 || this.group.others.length > 0) {
      this.groups.push(this.group);
    }
    this.closed += 1;
    const { date, iteration } = next;
    this.group = {
      date,
      iteration,
      learnings: [],
      others: [],
    };
    this.entryLevel = level;
    this.last = undefined;
  }
}

/** Some agents insert the newest entry at the top. Text before the first dated entry remains the oldest. */
export function oldestFirst<T extends Dated>(groups: readonly T[]): readonly T[] {
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

type Dated = Pick<ProgressEntry, 'date' | 'iteration'>;

function compareTimes(a: Dated, b: Dated): number {
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
