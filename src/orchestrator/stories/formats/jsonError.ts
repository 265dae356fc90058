import { createScanner, type JSONScanner } from 'jsonc-parser';
import { type Message, say } from '../../../base/say.ts';
import { plainText } from './plainText.ts';
import type { TextLines } from './textLines.ts';

/** The first position at which a text is not JSON. `offset` in UTF-16 units. */
export interface JsonError {
  readonly offset: number;
  /** The problem and the fix. */
  readonly message: Message;
}

// Values of `SyntaxKind` in jsonc-parser, a const enum, which isolated modules cannot import.
const KIND = {
  openBrace: 1,
  closeBrace: 2,
  openBracket: 3,
  closeBracket: 4,
  comma: 5,
  colon: 6,
  string: 10,
  number: 11,
  lineComment: 12,
  blockComment: 13,
  lineBreak: 14,
  space: 15,
  unknown: 16,
  end: 17,
} as const;

type Expected = 'value' | 'valueOrEnd' | 'key' | 'keyOrEnd' | 'colon' | 'commaOrEnd' | 'nothing';

interface Token {
  readonly kind: number;
  readonly offset: number;
  readonly text: string;
}

/**
 * Finds the first error in strict JSON and describes it in helpful words; `JSON.parse` names neither the line nor
 * the fix. `undefined` if it finds no error. Open brackets are kept in an array, not on the stack.
 */
export function findJsonError(text: string, lines: Pick<TextLines, 'at'>): JsonError | undefined {
  const scanner = createScanner(text, false);
  const open: number[] = [];
  let expected: Expected = 'value';
  let last: Token | undefined;
  const lineOf = (offset: number) => lines.at(offset).line;

  for (;;) {
    const token = nextToken(scanner, text);
    const bad = badToken(token, scanner);
    if (bad !== undefined) {
      return bad;
    }
    const step = follow(expected, token, open, text);
    if (step === 'finished') {
      return undefined;
    }
    if (step === undefined) {
      return {
        // At the end, the place is where the text stops, not after its last line break.
        offset: token.kind === KIND.end ? endOf(last) : token.offset,
        message: complaint(expected, token, last, open, text, lineOf),
      };
    }
    expected = step;
    last = token;
  }
}

function endOf(token: Token | undefined): number {
  return token === undefined ? 0 : token.offset + token.text.length;
}

function nextToken(scanner: JSONScanner, text: string): Token {
  let kind: number = scanner.scan();
  while (kind === KIND.space || kind === KIND.lineBreak) {
    kind = scanner.scan();
  }
  const offset = scanner.getTokenOffset();
  return { kind, offset, text: text.slice(offset, offset + scanner.getTokenLength()) };
}

/** What to expect after `token`; `undefined` if it is not allowed here. Updates `open`. */
function follow(
  expected: Expected,
  token: Token,
  open: number[],
  text: string,
): Expected | 'finished' | undefined {
  const innermost = open.at(-1);
  const inObject = innermost !== undefined && text[innermost] === '{';
  const closed = (): Expected => {
    open.pop();
    return open.length === 0 ? 'nothing' : 'commaOrEnd';
  };
  switch (expected) {
    case 'value':
    case 'valueOrEnd':
      switch (token.kind) {
        case KIND.openBrace:
          open.push(token.offset);
          return 'keyOrEnd';
        case KIND.openBracket:
          open.push(token.offset);
          return 'valueOrEnd';
        case KIND.closeBracket:
          return expected === 'valueOrEnd' ? closed() : undefined;
        case KIND.closeBrace:
        case KIND.comma:
        case KIND.colon:
        case KIND.end:
          return undefined;
        default:
          return open.length === 0 ? 'nothing' : 'commaOrEnd';
      }
    case 'key':
    case 'keyOrEnd':
      if (token.kind === KIND.string) {
        return 'colon';
      }
      return expected === 'keyOrEnd' && token.kind === KIND.closeBrace ? closed() : undefined;
    case 'colon':
      return token.kind === KIND.colon ? 'value' : undefined;
    case 'commaOrEnd':
      if (token.kind === KIND.comma) {
        return inObject ? 'key' : 'value';
      }
      return token.kind === (inObject ? KIND.closeBrace : KIND.closeBracket) ? closed() : undefined;
    case 'nothing':
      return token.kind === KIND.end ? 'finished' : undefined;
  }
}

/** Tokens that are errors at any position. */
function badToken(token: Token, scanner: JSONScanner): JsonError | undefined {
  switch (token.kind) {
    case KIND.lineComment:
    case KIND.blockComment:
      return { offset: token.offset, message: say('JSON has no comments: remove this one.') };
    case KIND.string:
      return badString(token, scanner);
    case KIND.number:
      return scanner.getTokenError() === 0
        ? undefined
        : {
            offset: token.offset,
            message: say('{0} is not a complete number.', quote(token.text)),
          };
    case KIND.unknown:
      return { offset: token.offset, message: unknownText(token.text) };
    default:
      return undefined;
  }
}

function badString(token: Token, scanner: JSONScanner): JsonError | undefined {
  const error: number = scanner.getTokenError();
  if (error === 0) {
    return undefined;
  }
  const inside = token.text.slice(1);
  const sound = soundLength(inside);
  const offset = token.offset + 1 + sound;
  if (sound === inside.length) {
    return {
      offset,
      message: say(
        'The text {0} has no closing quote: add a " at its end, and write \\n for a line break within a text.',
        quote(inside),
      ),
    };
  }
  const isEscape = inside[sound] === '\\';
  return {
    offset: isEscape ? offset + 1 : offset,
    message: isEscape
      ? say(
          'A backslash in a text must be written twice (\\\\) unless it begins an escape such as \\n or \\".',
        )
      : say(
          'A text contains a raw control character: write it as an escape, such as \\t for a tab.',
        ),
  };
}

/**
 * Length of the valid part of a string literal. Uses a loop, because a regular expression would need a stack as
 * long as the text.
 */
function soundLength(inside: string): number {
  let at = 0;
  while (at < inside.length) {
    if (inside[at] === '\\') {
      const sequence = /^\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/.exec(inside.slice(at, at + 6));
      if (sequence === null) {
        return at;
      }
      at += sequence[0].length;
    } else if (inside.charCodeAt(at) < 32) {
      return at;
    } else {
      at++;
    }
  }
  return at;
}

function unknownText(text: string): Message {
  if (/^(<{7}|={7}|>{7}|\|{7})/.test(text)) {
    return say(
      'A merge conflict is left in the file: keep one of the two sides and remove the markers.',
    );
  }
  if (text.startsWith('`')) {
    return say('A Markdown fence does not belong in a JSON file: remove the lines with backticks.');
  }
  if (/^['\u2018\u2019\u201c\u201d\u00ab]/.test(text)) {
    return say(
      'Texts and keys need straight double quotes: write "…" instead of {0}.',
      quote(text),
    );
  }
  if (/^(true|false|none|null|undefined|nan)$/i.test(text)) {
    return say('{0} is not a JSON value: write true, false or null.', quote(text));
  }
  return say(
    '{0} is not JSON: texts need double quotes, and a file may contain nothing but JSON.',
    quote(text),
  );
}

function complaint(
  expected: Expected,
  token: Token,
  last: Token | undefined,
  open: readonly number[],
  text: string,
  lineOf: (offset: number) => number,
): Message {
  const opened = open.at(-1);
  if (last === undefined) {
    return token.kind === KIND.end
      ? say('The file is empty: write {"userStories": []} or restore it.')
      : say('A JSON file begins with { or [, not with {0}.', quote(token.text));
  }
  const close = opened !== undefined && text[opened] === '{' ? '}' : ']';
  if (token.kind === KIND.end && opened !== undefined) {
    return say(
      'The JSON ends before the {0} of line {1} is closed: the file was cut off, or a {2} is missing.',
      text[opened] ?? '',
      lineOf(opened),
      close,
    );
  }
  const lastLine = lineOf(last.offset);
  const afterComma = last.kind === KIND.comma;
  switch (expected) {
    case 'value':
    case 'valueOrEnd':
      return afterComma
        ? say(
            'Expected a value after the comma on line {0}: remove that comma or add the value.',
            lastLine,
          )
        : say(
            'Expected a value after the {0} on line {1}, found {2}.',
            last.text,
            lastLine,
            quote(token.text),
          );
    case 'key':
    case 'keyOrEnd':
      return afterComma && token.kind === KIND.closeBrace
        ? say(
            'Expected a key after the comma on line {0}: JSON allows no comma before }, remove it.',
            lastLine,
          )
        : say('Expected a key in double quotes, found {0}.', quote(token.text));
    case 'colon':
      return say(
        'Expected a colon and a value after the key {0} on line {1}: there is a text where a key belongs, or its value is missing.',
        quote(unquoted(last.text)),
        lastLine,
      );
    case 'commaOrEnd':
      return say(
        'Expected a comma or {0} after the value that ends on line {1}, found {2}: a comma is missing on line {1}, or a quote within a text is not written \\".',
        close,
        lastLine,
        quote(token.text),
      );
    case 'nothing':
      return say(
        'The JSON is already complete before {0}: remove what follows.',
        quote(token.text),
      );
  }
}

function unquoted(literal: string): string {
  return literal.replace(/^"|"$/g, '');
}

function quote(text: string): string {
  return `"${plainText(text)}"`;
}
