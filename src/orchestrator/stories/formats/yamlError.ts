import { type Document, visit } from 'yaml';
import { type Message, say } from '../../../base/say.ts';
import { shorten } from '../../../base/text.ts';

/** Why a text is no YAML. */
export interface Unreadable {
  readonly message: Message;
  readonly offset: number;
}

/** What stands before the text of a line: bullets, and a key. */
const BEFORE_TEXT = /^(?:[\t ]*-[\t ]+)*[\t ]*(?:(["']?)[A-Za-z_][\w.-]*\1[\t ]*:[\t ]+)?/;
/** A line that people read is mostly shown as a whole. */
const LONGEST_FIX = 160;

/** What keeps a parsed text from being YAML, with its fix; `undefined` if nothing does. */
export function findYamlError(
  text: string,
  document: Document,
  parse: (text: string) => Document,
): Unreadable | undefined {
  const [error] = document.errors;
  if (error === undefined) {
    return undefined;
  }
  const [offset] = error.pos;
  const quote = openQuote(text, document);
  if (quote !== undefined && quote <= offset) {
    // The library only says where the text ends that the quote takes in.
    return {
      message: say(
        'The quote that opens here is never closed: write {0} behind the text that it begins.',
        text.charAt(quote),
      ),
      offset: quote,
    };
  }
  return { message: messageOf(text, document, parse), offset };
}

function messageOf(
  text: string,
  { errors: [error, ...others] }: Document,
  parse: (text: string) => Document,
): Message {
  const offset = error?.pos[0] ?? 0;
  const isOverLines = others.some(
    ({ code, pos: [at] }) => code === 'MULTILINE_IMPLICIT_KEY' && at === offset,
  );
  if (error?.code === 'BLOCK_AS_IMPLICIT_KEY' && isOverLines) {
    return say(
      'The keys of an entry must begin in the same column: correct the spaces at the start of the next line.',
    );
  }
  switch (error?.code) {
    case 'MULTIPLE_DOCS':
      return say(
        'The file has several YAML documents, separated by "---": keep the one with the stories.',
      );
    case 'BAD_DQ_ESCAPE':
    case 'BAD_SCALAR_START':
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'UNEXPECTED_TOKEN': {
      const line = quotedLine(text, offset, parse);
      return line === undefined
        ? otherMessage(error.message)
        : say('YAML does not take this for one text. Put it in double quotes: {0}', line);
    }
    default:
      return otherMessage(error?.message ?? '');
  }
}

/** A reason in the words of the library, which names no fix. */
export function otherMessage(reason: string): Message {
  return say(
    'This is not valid YAML: {0}. Correct it here, or just before.',
    reason.replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]+/gu, ' ').slice(0, 200),
  );
}

/** Where a text begins whose closing quote is missing. */
function openQuote(text: string, document: Document): number | undefined {
  const ends = new Set(
    document.errors.filter(({ code }) => code === 'MISSING_CHAR').map(({ pos: [at] }) => at),
  );
  let open: number | undefined;
  if (ends.size > 0) {
    visit(document, {
      Scalar(_, { range, type }) {
        const [start = 0, end = 0] = range ?? [];
        const isQuoted = type === 'QUOTE_DOUBLE' || type === 'QUOTE_SINGLE';
        // The library has the same code for other characters that are missing behind a text.
        const isClosed = end > start + 1 && text.charAt(end - 1) === text.charAt(start);
        if (isQuoted && ends.has(end) && !isClosed) {
          open ??= start;
        }
      },
    });
  }
  return open;
}

/** The line of an error with its text in double quotes, if that is what it needs. */
function quotedLine(
  text: string,
  offset: number,
  parse: (text: string) => Document,
): string | undefined {
  const start =
    Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
  const [line = ''] = /^[^\r\n]*/.exec(text.slice(start)) ?? [];
  const [before = ''] = BEFORE_TEXT.exec(line) ?? [];
  const behind = line.slice(before.length);
  const comment = behind.search(/[\t ]#/);
  const value = (comment === -1 ? behind : behind.slice(0, comment)).trimEnd();
  // What is wrong inside of brackets, or in a list on the line of its key, is no text.
  const isText =
    value !== '' &&
    !/^-(?:\s|$)/.test(value) &&
    !/[\]}]/.test(text.charAt(offset)) &&
    isBalanced(text.slice(start + before.length, offset));
  if (!isText) {
    return undefined;
  }
  const fixed =
    before + JSON.stringify(withoutQuotes(value)) + behind.slice(value.length).trimEnd();
  const rest = text.slice(start + line.length);
  const [next] = parse(text.slice(0, start) + fixed + rest).errors;
  return next === undefined || next.pos[0] > start + fixed.length
    ? shorten(fixed, LONGEST_FIX)
    : undefined;
}

function isBalanced(text: string): boolean {
  const count = (bracket: RegExp) => text.match(bracket)?.length ?? 0;
  return count(/[[{]/g) === count(/[\]}]/g);
}

/** Without the quotes around a whole text: in `'it's five'`, the second one is none of them; in `"a" and "b"`, it is. */
function withoutQuotes(value: string): string {
  const [quote = ''] = /^["']/.exec(value) ?? [];
  const inner = value.slice(1, -1);
  const second = quote === '' ? -1 : inner.indexOf(quote);
  const isWhole = quote !== '' && value.length > 1 && value.endsWith(quote);
  return isWhole && !/^\s/.test(inner.slice(second + 1, second + 2)) ? inner : value;
}
