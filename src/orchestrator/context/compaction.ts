import { shorten } from '../../base/text.ts';
import { type Block, blocksOf, linesOf, withoutBreak } from './progressBlocks.ts';
import { toLine } from './progressLine.ts';
import { parseProgressLog } from './progressLog.ts';
import { oldestFirst, RULE } from './progressReader.ts';

export interface CompactionOptions {
  /** Lines from which a log is compacted. The newest entries in half as many lines stay as they are. */
  readonly compactAt: number;
  /** Lines that the log should have at most afterwards. */
  readonly maxLines: number;
  /** Where the text from before is kept, as written into the log. */
  readonly archive: string;
  readonly now: Date;
  /** What an agent made of entries, by their text; it takes the place of their own learnings. */
  readonly summaries?: ReadonlyMap<string, readonly string[]>;
}

/** An entry that would be condensed. */
export interface OldEntry {
  readonly heading: string;
  /** Its lines, as in the file. */
  readonly text: string;
}

export interface Compaction {
  readonly text: string;
  readonly linesBefore: number;
  readonly linesAfter: number;
  /** How many entries were condensed, without those of an earlier compaction. */
  readonly condensedEntries: number;
}

const HEADING = '## Compacted History';
/** At the start of lines; the reader of the log passes over such lines. */
const POINTER = 'Archive: ';
const ENTRY = 'Entry: ';
const EARLIER = /^Earlier: (\d{1,9}) /;
const NO_HEADING = 'notes without a heading';
/** In UTF-16 units. */
const MAX_HEADING = 120;
const MAX_LEARNING = 240;
/** Of one entry. */
const MAX_LEARNINGS = 6;
/** Part of the trigger that a compacted log should not exceed: otherwise it would soon be compacted again. */
const FILL = 0.75;

/** An old entry, condensed. */
interface Item {
  readonly heading: string;
  readonly learnings: readonly string[];
}

/**
 * Condenses the older entries of a progress log to one section: each entry's heading, and its learnings, shortened
 * and without repetitions. The title, all sections with patterns and the newest entries stay byte for byte. What does
 * not fit is left to the archive, the oldest first.
 *
 * @param text with its byte order mark, if it has one
 * @returns `undefined` if nothing can be condensed
 */
export function compactLog(text: string, options: CompactionOptions): Compaction | undefined {
  const blocks = blocksOf(text);
  const old = oldOf(blocks, options);
  const compacted = blocks.filter(({ kind }) => kind === 'compacted');
  const target = Math.min(options.maxLines, Math.floor(options.compactAt * FILL));
  const linesBefore = linesOf(text).length;
  if (old.length === 0 && (compacted.length === 0 || linesBefore <= target)) {
    return undefined;
  }
  const condensed = new Set([...old, ...compacted]);
  const kept = blocks.filter(block => !condensed.has(block));
  const space = target - kept.reduce((sum, { lines }) => sum + lines.length, 0);
  const section = sectionOf(compacted, old, space, options);
  const lineBreak = /\r\n?|\n/.exec(text)?.[0] ?? '\n';
  const whole = assemble(blocks, condensed, section, lineBreak);
  const linesAfter = linesOf(whole).length;
  return linesAfter < linesBefore
    ? { text: whole, linesBefore, linesAfter, condensedEntries: old.length }
    : undefined;
}

/** The entries that a compaction of this text condenses, oldest first. */
export function oldEntriesOf(
  text: string,
  limits: Pick<CompactionOptions, 'compactAt'>,
): OldEntry[] {
  return oldOf(blocksOf(text), limits).map(({ heading, lines }) => ({
    heading,
    text: lines.join(''),
  }));
}

function oldOf(
  blocks: readonly Block[],
  { compactAt }: Pick<CompactionOptions, 'compactAt'>,
): Block[] {
  const entries = oldestFirst(blocks.filter(({ kind }) => kind === 'entry'));
  const recent = recentOf(entries, compactAt / 2);
  return entries.filter(entry => !recent.has(entry));
}

/** The newest entries that fit, at least one. */
function recentOf(oldestToNewest: readonly Block[], maxLines: number): ReadonlySet<Block> {
  const recent = new Set<Block>();
  let lines = 0;
  for (const entry of oldestToNewest.toReversed()) {
    lines += entry.lines.length;
    if (recent.size > 0 && lines > maxLines) {
      break;
    }
    recent.add(entry);
  }
  return recent;
}

/** The blocks in their order, with the section in the place of the first condensed one. */
function assemble(
  blocks: readonly Block[],
  condensed: ReadonlySet<Block>,
  section: readonly string[],
  lineBreak: string,
): string {
  const lines: string[] = [];
  let isWritten = false;
  // A byte order mark stays the first character.
  const bom = blocks[0] !== undefined && condensed.has(blocks[0]) ? bomOf(blocks[0]) : '';
  for (const block of blocks) {
    if (!condensed.has(block)) {
      lines.push(...block.lines);
    } else if (!isWritten) {
      isWritten = true;
      lines.push(...section.map(line => line + lineBreak));
    } else if (!RULE.test(lines.findLast(line => line.trim() !== '')?.trim() ?? '')) {
      // Otherwise the next entry could be taken for a part of the section above.
      lines.push(`---${lineBreak}`);
    }
  }
  return bom + lines.join('');
}

function bomOf({ lines: [first = ''] }: Block): string {
  return first.startsWith('\uFEFF') ? '\uFEFF' : '';
}

/** The lines of the section, without line breaks. @param space how many lines are left for it */
function sectionOf(
  compacted: readonly Block[],
  old: readonly Block[],
  space: number,
  { archive, now, summaries }: CompactionOptions,
): string[] {
  const before = compacted.map(readCompacted);
  const items = [
    ...before.flatMap(({ items }) => items),
    ...old.map(entry => condense(entry, summaries)),
  ];
  const pointers = new Set([...before.flatMap(({ pointers }) => pointers), POINTER + archive]);
  const head = [`${HEADING} (${now.toISOString().slice(0, 10)})`, '', ...pointers, ''];
  const label = ['**Learnings:**', ''];
  // Below: what was left out, an empty line, and a rule.
  const { lines, leftOut } = linesFor(items, space - head.length - label.length - 3);
  const earlier = before.reduce((sum, { earlier }) => sum + earlier, leftOut);
  return [
    ...head,
    ...(earlier === 0 ? [] : [`Earlier: ${earlier} entries are only in the archive.`]),
    ...label,
    ...lines,
    '',
    '---',
  ];
}

/** The lines of as many items as fit, oldest first; the newest have priority. */
function linesFor(items: readonly Item[], space: number): { lines: string[]; leftOut: number } {
  const said = new Set<string>();
  const chosen: Item[] = [];
  let left = space;
  let leftOut = 0;
  for (const { heading, learnings } of items.toReversed()) {
    const isSame = heading === '' && chosen.at(-1)?.heading === '';
    const own = isSame ? 0 : 1;
    const fresh = learnings.filter(text => !said.has(keyOf(text)));
    const taken = fresh.slice(0, Math.max(0, left - own));
    if (leftOut > 0 || left < own || (taken.length === 0 && (isSame || fresh.length > 0))) {
      // One that is left out ends it: what is missing is always the oldest. A mere repetition is not missing.
      leftOut += leftOut > 0 || fresh.length > 0 || !isSame ? 1 : 0;
      continue;
    }
    for (const text of taken) {
      said.add(keyOf(text));
    }
    left -= own + taken.length;
    chosen.push({ heading, learnings: taken });
  }
  const lines: string[] = [];
  let above: string | undefined;
  for (const { heading, learnings } of chosen.toReversed()) {
    if (heading !== '' || above !== '') {
      lines.push(ENTRY + (heading || NO_HEADING));
    }
    lines.push(...learnings.map(text => `- ${text}`));
    above = heading;
  }
  return { lines, leftOut };
}

function keyOf(text: string): string {
  return text.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, ' ');
}

function condense({ heading, lines }: Block, summaries?: CompactionOptions['summaries']): Item {
  const text = lines.join('');
  // Whatever an agent said, or did not say: an entry without usable words of it is condensed from its own.
  const said = shortened((summaries?.get(text) ?? []).map(inOneLine));
  const { learnings } = said.length > 0 ? { learnings: said } : parseProgressLog(text);
  const all = learnings.length > 0 ? learnings : [firstText(lines)];
  return {
    heading: shorten(heading, MAX_HEADING),
    learnings: shortened(all).slice(0, MAX_LEARNINGS),
  };
}

/** An agent's words without what Markdown could read as structure. */
function inOneLine(text: string): string {
  return text
    .replace(/<!--|-->/g, '')
    .replace(/\s+/gu, ' ')
    .replace(/^(?:[-*+\u2022#>~`=_\s]|\[[ xX~]?\])+/u, '');
}

function shortened(texts: readonly string[]): string[] {
  return [...new Set(texts.map(text => shorten(text, MAX_LEARNING)))].filter(text => text !== '');
}

/** What an entry without any list begins with. */
function firstText(lines: readonly string[]): string {
  return (
    lines
      .map(line => toLine(withoutBreak(line)).text.replace(/^\uFEFF/, ''))
      .find(text => text !== '' && !/^(?:#{1,6}\s|[`~]{3})/.test(text) && !RULE.test(text)) ?? ''
  );
}

interface EarlierCompaction {
  readonly pointers: readonly string[];
  /** How many entries it left to the archive. */
  readonly earlier: number;
  readonly items: readonly Item[];
}

function readCompacted({ lines }: Block): EarlierCompaction {
  const pointers: string[] = [];
  const items: { heading: string; learnings: string[] }[] = [];
  let earlier = 0;
  for (const line of lines.map(one => withoutBreak(one).trim())) {
    if (line.startsWith(POINTER)) {
      pointers.push(line);
    } else if (EARLIER.test(line)) {
      earlier += Number(EARLIER.exec(line)?.[1]);
    } else if (line.startsWith(ENTRY)) {
      const heading = line.slice(ENTRY.length);
      items.push({ heading: heading === NO_HEADING ? '' : heading, learnings: [] });
    } else if (line !== '' && !/^#/.test(line) && !RULE.test(line) && line !== '**Learnings:**') {
      if (items.length === 0) {
        items.push({ heading: '', learnings: [] });
      }
      items.at(-1)?.learnings.push(shorten(line.replace(/^[-*+]\s+/, ''), MAX_LEARNING));
    }
  }
  return { pointers, earlier, items };
}
