import { shorten, withoutControls } from '../../../base/text.ts';
import { blocksOf, text } from '../jsonFields.ts';

/** Longest gist in UTF-16 units: fits into one line of a tree view or of a narrow terminal. */
const MAX_GIST = 120;
/** Maximum number of reported lines of a result. */
const HEAD_LINES = 3;
/**
 * Length of text in which the first line is searched; keeps huge tool results away from the regular expressions.
 */
const GIST_WINDOW = 4096;
/** Usually the text starts with its first line, and this length is enough. */
const SMALL_GIST_WINDOW = 4 * MAX_GIST;
/** Most gists are such a line, which needs no cleaning. */
const plainLine = /^[!-~]+(?: [!-~]+)*$/;

/** The first non-empty line, without control and direction characters, which could make it look different. */
export function gistOf(value: string): string {
  const end = value.indexOf('\n');
  const line = end < 0 ? value : value.slice(0, Math.min(end, MAX_GIST + 1));
  if (line.length <= MAX_GIST && plainLine.test(line)) return line;
  const small = firstLine(value.slice(0, SMALL_GIST_WINDOW));
  // The whole line was found, or more than is displayed anyway; otherwise it may continue in the rest.
  const isWhole = value.length <= SMALL_GIST_WINDOW || small.length > 2 * MAX_GIST;
  return shorten(isWhole ? small : firstLine(value.slice(0, GIST_WINDOW)), MAX_GIST);
}

function firstLine(value: string): string {
  for (const line of withoutControls(value).split('\n')) {
    if (line.trim() !== '') return line.replace(/\p{Bidi_Control}/gu, '');
  }
  return '';
}

/** The text of a tool's result, or the start of it. */
export function resultText(content: unknown): string {
  if (typeof content === 'string') {
    const start = content.slice(0, GIST_WINDOW);
    return start.includes('tool_use_error>') ? start.replace(/<\/?tool_use_error>/g, '') : start;
  }
  for (const block of blocksOf(content)) {
    const said = block.type === 'text' ? text(block.text) : undefined;
    if (said) return resultText(said);
  }
  return '';
}

/** The first lines of a multi-line result. */
export function headOf(content: unknown): { head: string; lines: number } | undefined {
  const whole = typeof content === 'string' ? content : firstText(content);
  const lines = lineCount(whole);
  if (lines < 2) return undefined;
  const shown = withoutControls(resultText(whole)).replace(/\p{Bidi_Control}/gu, '');
  const head = shown.trim().split('\n', HEAD_LINES);
  return { head: head.map(line => cutLine(line)).join('\n'), lines };
}

function firstText(content: unknown): string {
  for (const block of blocksOf(content)) {
    const said = block.type === 'text' ? text(block.text) : undefined;
    if (said) return said;
  }
  return '';
}

/** Indentation matters in output, so `shorten` cannot be used. */
function cutLine(line: string): string {
  return line.length > MAX_GIST ? `${line.slice(0, MAX_GIST - 1)}…` : line.trimEnd();
}

/** Line breaks at the start and the end are not content. */
function lineCount(value: string): number {
  let end = value.length;
  while (end > 0 && value.charCodeAt(end - 1) <= 0x20) end -= 1;
  let from = 0;
  while (from < end && value.charCodeAt(from) <= 0x20) from += 1;
  if (from === end) return 0;
  let lines = 1;
  for (let at = value.indexOf('\n', from); at >= 0 && at < end; at = value.indexOf('\n', at + 1)) {
    lines += 1;
  }
  return lines;
}
