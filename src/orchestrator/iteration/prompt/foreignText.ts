import { fenceAfter } from '../../../base/codeFence.ts';
import { shorten } from '../../../base/text.ts';
import { PART } from './promptBudget.ts';
import { estimateTokens, shortenBlockToTokens, shortenToTokens } from './tokens.ts';

/** Longest id and path, in UTF-16 units. */
const ID_UNITS = 80;
const PATH_UNITS = 200;
/** Longer runs of a fence character are shortened to this length, so that the fence around a text stays short. */
const LONGEST_RUN = 8;

/** A block of text from outside that cannot be mistaken for a part of the prompt. */
export function asData(text: string, tokens: number): string {
  const block = withoutStructure(shortRuns(shortenBlockToTokens(text, tokens)));
  return withinBudget(block, tokens);
}

/** A path, shortened if necessary. */
export function pathText(file: string): string {
  return shorten(file, PATH_UNITS);
}

/** A story's id, shortened if necessary. */
export function idText(id: string): string {
  return shorten(id, ID_UNITS);
}

/** A command as inline code that it cannot close. */
export function commandText(command: string): string {
  const text = shortRuns(shortenToTokens(command, PART.command));
  const mark = '`'.repeat(longestRun(text, '`') + 1);
  const gap = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${mark}${gap}${text}${gap}${mark}`;
}

/** Enforces a section's limit; its parts have already been shortened more carefully. */
export function withinBudget(text: string, tokens: number): string {
  return estimateTokens(text) <= tokens
    ? text
    : closeFence(shortenBlockToTokens(text, tokens - LONGEST_RUN));
}

function longestRun(text: string, char: string): number {
  let longest = 0;
  let run = 0;
  for (const at of text) {
    run = at === char ? run + 1 : 0;
    longest = Math.max(longest, run);
  }
  return longest;
}

/** Shortens runs of fence characters, so that a fence around the text stays short. */
export function shortRuns(text: string): string {
  return text.replaceAll(/([`~])\1{8,}/g, (_, char: string) => char.repeat(LONGEST_RUN));
}

/** Text from outside must not look like our own: its headings are escaped, and an open code block is closed. */
function withoutStructure(block: string): string {
  let open: CodeBlock | undefined;
  const lines = block.split('\n').map(line => {
    open = blockAfter(line, open);
    return open === undefined ? withoutHeading(line) : line;
  });
  return closeFence(lines.join('\n'));
}

function withoutHeading(line: string): string {
  return line
    .replace(/^([ \t]*)(#{1,6})(?=\s|$)/, '$1\\$2')
    .replace(/^([ \t]*)(=+|-{2,})[ \t]*$/, '$1\\$2');
}

/** A code block that is open. */
interface CodeBlock {
  readonly mark: string;
  /** The minimum indentation of its lines: the width of the list item's marker, if the block started after one. */
  readonly indent: number;
}

/** @returns the code block that is open after the line */
function blockAfter(line: string, before: CodeBlock | undefined): CodeBlock | undefined {
  // A list item ends with its last indented line, and so does a block in it (CommonMark 5.2).
  const open = before === undefined || isWithin(line, before) ? before : undefined;
  const [item = ''] = (open === undefined && /^[ \t]*- /.exec(line)) || [];
  const mark = fenceAfter(line.slice(item.length).trimStart(), open?.mark);
  return mark === undefined ? undefined : (open ?? { mark, indent: item.length });
}

function isWithin(line: string, { indent }: CodeBlock): boolean {
  return line.trim() === '' || line.search(/[^ \t]/) >= indent;
}

function closeFence(text: string): string {
  let open: CodeBlock | undefined;
  for (const line of text.split('\n')) {
    open = blockAfter(line, open);
  }
  return open === undefined ? text : `${text}\n${' '.repeat(open.indent)}${open.mark}`;
}
