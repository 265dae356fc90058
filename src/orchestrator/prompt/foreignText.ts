import { fenceAfter } from '../codeFence.ts';
import { shorten } from '../text.ts';
import { PART } from './promptBudget.ts';
import { estimateTokens, shortenBlockToTokens, shortenToTokens } from './tokens.ts';

/** Longest id and path, in UTF-16 units. */
const ID_UNITS = 80;
const PATH_UNITS = 200;
/** A longer run of one fence character is cut to so many, so that a fence around a text stays short. */
const LONGEST_RUN = 8;

/** A block of somebody else's text, that cannot be taken for a part of the prompt. */
export function asData(text: string, tokens: number): string {
  const block = withoutStructure(shortRuns(shortenBlockToTokens(text, tokens)));
  return withinBudget(block, tokens);
}

/** A path, of a length that is bounded. */
export function pathText(file: string): string {
  return shorten(file, PATH_UNITS);
}

/** A story's id, of a length that is bounded. */
export function idText(id: string): string {
  return shorten(id, ID_UNITS);
}

/** A command as inline code that it cannot end. */
export function commandText(command: string): string {
  const text = shortRuns(shortenToTokens(command, PART.command));
  const mark = '`'.repeat(longestRun(text, '`') + 1);
  const gap = text.startsWith('`') || text.endsWith('`') ? ' ' : '';
  return `${mark}${gap}${text}${gap}${mark}`;
}

/** The last word on a section's size; its parts are cut with more care before. */
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

/** So that a fence around the text stays short. */
export function shortRuns(text: string): string {
  return text.replaceAll(/([`~])\1{8,}/g, (_, char: string) => char.repeat(LONGEST_RUN));
}

/**
 * What others wrote must not look like a part of ours: their headings are shown as text, and a code block
 * that they left open is closed.
 */
function withoutStructure(block: string): string {
  let fence: string | undefined;
  const lines = block.split('\n').map(line => {
    const before = fence;
    fence = fenceAfter(withoutMarker(line), fence);
    return before === undefined && fence === undefined ? withoutHeading(line) : line;
  });
  return closeFence(lines.join('\n'));
}

function withoutHeading(line: string): string {
  return line
    .replace(/^([ \t]*)(#{1,6})(?=\s|$)/, '$1\\$2')
    .replace(/^([ \t]*)(=+|-{2,})[ \t]*$/, '$1\\$2');
}

/** The mark of a list item may stand before a fence. */
function withoutMarker(line: string): string {
  return line.replace(/^[ \t]*(?:- )?/, '');
}

function closeFence(text: string): string {
  let fence: string | undefined;
  for (const line of text.split('\n')) {
    fence = fenceAfter(withoutMarker(line), fence);
  }
  return fence === undefined ? text : `${text}\n${fence}`;
}
