import { entryOf, isDated, type ProgressEntry } from './progressEntry.ts';
import { headingOf, isCompacted, toLine } from './progressLine.ts';
import { ProgressReader, RULE, STAMP } from './progressReader.ts';

/** The head of a log says what it is; a longer one is text like any other. */
const MAX_HEAD = 20;
/** Undated text with more lines than this is divided at its bullets and paragraphs. */
const MAX_UNDATED = 40;
const BULLET = /^(?:[-*+\u2022]|\d{1,3}[.)])[ \t]/;

/** A part of the log's text: complete lines, which belong together. */
export interface Block {
  /** `head`: the title of the log. `compacted`: what an earlier compaction has left of older entries. */
  readonly kind: 'head' | 'patterns' | 'entry' | 'compacted';
  /** Each with its line break. */
  readonly lines: readonly string[];
  /** Of the heading; '' without one. */
  readonly heading: string;
  readonly date?: string | undefined;
  readonly iteration?: number | undefined;
}

/** @returns the lines of a text, each with its line break */
export function linesOf(text: string): string[] {
  return text.match(/[^\r\n]*(?:\r\n?|\n)|[^\r\n]+$/g) ?? [];
}

/** The text of a line without its line break. */
export function withoutBreak(line: string): string {
  return line.replace(/[\r\n]+$/, '');
}

/**
 * Divides a log into its blocks, in file order; together, their lines are the text. The sections are those that
 * agents are told about: the same reader finds them.
 */
export function blocksOf(text: string): Block[] {
  const reader = new ProgressReader();
  const groups: { place: string; isPatterns: boolean; lines: PlacedLine[] }[] = [];
  for (const line of linesOf(text)) {
    const { section, entry, isInFence } = reader.place(withoutBreak(line));
    const place = `${entry} ${section === 'patterns'}`;
    const last = groups.at(-1);
    if (last?.place === place) {
      last.lines.push({ text: line, isInFence });
    } else {
      groups.push({
        place,
        isPatterns: section === 'patterns',
        lines: [{ text: line, isInFence }],
      });
    }
  }
  const merged: Omit<(typeof groups)[number], 'place'>[] = [];
  for (const group of groups) {
    const last = merged.at(-1);
    if (last !== undefined && group.lines.every(isBetween)) {
      // A rule ends what stands above it.
      last.lines.push(...group.lines);
    } else {
      merged.push(group);
    }
  }
  return merged.flatMap(({ isPatterns, lines }, index) => toBlocks(lines, isPatterns, index === 0));
}

interface PlacedLine {
  readonly text: string;
  /** Whether a code block is open behind it. */
  readonly isInFence: boolean;
}

function isBetween({ text, isInFence }: PlacedLine): boolean {
  const line = text.trim();
  return !isInFence && (line === '' || RULE.test(line));
}

function toBlocks(lines: readonly PlacedLine[], isPatterns: boolean, isFirst: boolean): Block[] {
  const own = lines.map(({ text }) => text);
  const { level, entry } = titleOf(own);
  const facts = { heading: entry.heading, date: entry.date, iteration: entry.iteration };
  if (isPatterns) {
    return [{ kind: 'patterns', lines: own, heading: entry.heading }];
  }
  if (isCompacted(entry.heading)) {
    return [{ kind: 'compacted', lines: own, heading: entry.heading }];
  }
  const isOpen = !isDated(entry) && entry.storyId === undefined;
  if (isFirst && level === 1 && isOpen && own.length <= MAX_HEAD) {
    return [{ kind: 'head', lines: own, ...facts }];
  }
  if (!isOpen || own.length <= MAX_UNDATED) {
    return [{ kind: 'entry', lines: own, ...facts }];
  }
  return piecesOf(lines).map(piece => ({
    kind: 'entry',
    lines: piece,
    heading: titleOf(piece).entry.heading,
  }));
}

/** The heading at the beginning of a block, if there is one. */
function titleOf(lines: readonly string[]): { level: number; entry: ProgressEntry } {
  const first = lines.find(line => line.trim() !== '' && !RULE.test(line.trim())) ?? '';
  const line = toLine(withoutBreak(first.replace(/^\uFEFF/, '')));
  const heading = headingOf(line);
  if (heading === undefined) {
    return { level: 0, entry: STAMP.test(line.text) ? entryOf(line.text) : { heading: '' } };
  }
  return { level: heading.level, entry: { ...entryOf(heading.title), heading: heading.title } };
}

/** Divides undated text at its bullets, headings and paragraphs; code blocks and nested lists stay whole. */
function piecesOf(lines: readonly PlacedLine[]): string[][] {
  const pieces: string[][] = [];
  let isInFence = false;
  let isAfterBlank = false;
  for (const line of lines) {
    const { indent, text } = toLine(withoutBreak(line.text));
    const last = pieces.at(-1);
    const isLong = last !== undefined && last.length >= MAX_UNDATED;
    const begins =
      !isInFence &&
      indent === 0 &&
      text !== '' &&
      (BULLET.test(text) || /^#{1,6}\s/.test(text) || isAfterBlank || isLong);
    if (last === undefined || begins) {
      pieces.push([line.text]);
    } else {
      last.push(line.text);
    }
    isAfterBlank = text === '';
    isInFence = line.isInFence;
  }
  return pieces;
}
