import { shortenBlock, withoutControls } from '../../base/text.ts';

/** Number of last lines of an output in which the cause of a failure is searched. */
const LAST_LINES = 6;
/** Of one line, in UTF-16 units. */
const MAX_LINE = 1_000;
/** Number of last lines in which a stack trace is searched. */
const MAX_TRACE = 500;
/** Number of lines above a stack trace in which the name of its error is searched: its text may have several. */
const MAX_ERROR_LINES = 30;

/** A call in a stack trace of JavaScript or Java, below the error. */
const CALL = /^\s+(?:at |\.\.\. \d+ (?:more|lines matching))/;
/** A call in a stack trace of Python, above the error. */
const PYTHON_CALL = /^\s+File ".*", line \d/;
/** What Node writes last when an error ends it. */
const NODE_VERSION = /^Node\.js v\d/;
/** The first line of an error. */
const ERROR_NAME = /^(?:Uncaught |Caused by: |\[cause\]: )?[\w.$]*(?:Error|Exception)\b/;

/**
 * What a program said at the end of its output, without control sequences: its last lines; if these are a stack trace, the
 * error whose trace it is, because a list of calls does not say what is wrong.
 * @param max in UTF-16 units
 */
export function lastWords(output: string, max: number): string {
  const lines = linesOf(output);
  return shortenBlock((errorOfTrace(lines) ?? lines).slice(-LAST_LINES).join('\n'), max);
}

/** The last lines of an output, also those of a stack trace. */
export function lastLines(output: string): string {
  return linesOf(output).slice(-LAST_LINES).join('\n');
}

function linesOf(output: string): readonly string[] {
  return withoutControls(output)
    .split('\n')
    .filter(line => line.trim() !== '')
    .slice(-MAX_TRACE)
    .map(line => line.slice(0, MAX_LINE));
}

/** The error, and what the program said after it; `undefined` if there is no trace, or not its error. */
function errorOfTrace(lines: readonly string[]): readonly string[] | undefined {
  const last = lines.findLastIndex(line => CALL.test(line) || PYTHON_CALL.test(line));
  if (last < 0) {
    return undefined;
  }
  if (PYTHON_CALL.test(lines[last] ?? '')) {
    // Between the call and its error stands the line of code, which is indented.
    const error = lines.findIndex((line, index) => index > last && !/^\s/.test(line));
    return error < 0 ? undefined : lines.slice(error);
  }
  const after = lines.slice(endOfTrace(lines, last)).filter(line => !NODE_VERSION.test(line));
  return after.length > 0 ? after : errorAbove(lines, last);
}

/** Where a trace ends: Node writes the properties of an error below its last call, up to a brace. */
function endOfTrace(lines: readonly string[], last: number): number {
  const next = lines.findIndex((line, index) => index > last && !/^\s/.test(line));
  return lines[next]?.trimEnd() === '}' ? next + 1 : last + 1;
}

/** The error above its calls: from its name on, or the line that is next to them. */
function errorAbove(lines: readonly string[], lastCall: number): readonly string[] | undefined {
  const end = lines.findLastIndex((line, index) => index < lastCall && !CALL.test(line)) + 1;
  if (end === 0) {
    return undefined;
  }
  const trace = lines.findLastIndex((line, index) => index < end && CALL.test(line)) + 1;
  const text = lines.slice(Math.max(trace, end - MAX_ERROR_LINES), end).map(line => line.trim());
  const name = text.findLastIndex(line => ERROR_NAME.test(line));
  return name < 0 ? text.slice(-1) : text.slice(name, name + LAST_LINES);
}
