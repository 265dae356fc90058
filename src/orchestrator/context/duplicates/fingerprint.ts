import type { Language } from '../symbols/language.ts';

/** Code without what two copies of it may differ in: comments, spaces, literals and the names of variables. */
export interface Fingerprint {
  /** Words and signs; a variable is `v`, a text `s`, a number `n`. */
  readonly tokens: readonly string[];
  /** The names of what it calls and of the fields and types that it uses, each once. */
  readonly names: ReadonlySet<string>;
  /** Its texts and its numbers of more than one digit. */
  readonly literals: readonly string[];
}

/** Everything with an end also ends with the text, so that no character is looked at twice. */
const STRINGS =
  String.raw`"(?:\\[\s\S]|[^"\\\n])*"?|` +
  '`' +
  String.raw`(?:\\[\s\S]|[^` +
  '`' +
  String.raw`\\])*` +
  '`?';
const WORDS = String.raw`\d[\w.]*|[\p{L}_$][\p{L}\p{N}_$]*|[^\s\w]`;
const C_COMMENTS = String.raw`//[^\n]*|/\*(?:[\s\S]*?\*/|[\s\S]*)`;
const QUOTED = String.raw`'(?:\\[\s\S]|[^'\\\n])*'?`;
/** In Rust, a single quote also starts a lifetime. */
const CHARACTER = String.raw`'(?:\\[^']{1,10}|[^'\\])'|'`;
const DOCUMENTED = String.raw`"""(?:[\s\S]*?"""|[\s\S]*)|'''(?:[\s\S]*?'''|[\s\S]*)|#[^\n]*`;

const tokenOf = (...parts: readonly string[]): RegExp => new RegExp(parts.join('|'), 'gu');
const DEFAULT_TOKEN = tokenOf(C_COMMENTS, STRINGS, QUOTED, WORDS);
const TOKENS: Partial<Readonly<Record<Language, RegExp>>> = {
  python: tokenOf(DOCUMENTED, STRINGS, QUOTED, WORDS),
  php: tokenOf(C_COMMENTS, String.raw`#[^\n]*`, STRINGS, QUOTED, WORDS),
  rust: tokenOf(C_COMMENTS, STRINGS, CHARACTER, WORDS),
};
const KEYWORDS = new Set(
  `and as async await break case catch chan class const continue def default defer del delete do elif else
  except export extends false final finally fn for from func function go if impl import in instanceof
  interface is lambda let loop match mod move mut new nil none not null or panic pass pub raise range ref return
  select self static struct super switch this throw throws trait true try type typeof undefined unsafe use var
  void where while with yield`.split(/\s+/),
);
const SHINGLE = 3;

/** @param code a body, or a whole file */
export function fingerprintOf(code: string, language: Language): Fingerprint {
  const tokens: string[] = [];
  const names = new Set<string>();
  const literals: string[] = [];
  for (const { 0: token, index } of code.matchAll(TOKENS[language] ?? DEFAULT_TOKEN)) {
    const isComment =
      /^(?:\/\/|\/\*|"""|''')/.test(token) || (/^#./.test(token) && token.length > 1);
    if (isComment) {
      continue;
    }
    if (/^["'`]/.test(token) && token.length > 1) {
      tokens.push('s');
      literals.push(token.slice(1, -1));
    } else if (/^\d/.test(token)) {
      tokens.push('n');
      if (token.length > 1) {
        literals.push(token);
      }
    } else if (!/^[\p{L}_$]/u.test(token)) {
      // Whether a list or a line ends with one is a matter of style.
      if (token !== ';' && token !== ',') {
        tokens.push(token);
      }
    } else if (KEYWORDS.has(token)) {
      tokens.push(token);
    } else if (isName(token, tokens, code[index + token.length])) {
      tokens.push(token);
      names.add(token);
    } else {
      tokens.push('v');
    }
  }
  return { tokens, names, literals };
}

/** Whether a word is what the code uses, not how it calls its variables: a field, a function, a type. */
function isName(word: string, tokens: readonly string[], next: string | undefined): boolean {
  const before = tokens.at(-1);
  const isField = before === '.' || (before === '>' && tokens.at(-2) === '-');
  return isField || next === '(' || /^\p{Lu}/u.test(word);
}

/** How much of the code is the same, from 0 to 1: the share of runs of three tokens that both have. */
export function similarity(a: Fingerprint, b: Fingerprint): number {
  const [x, y] = [a.tokens.length, b.tokens.length];
  if (Math.min(x, y) < SHINGLE || Math.min(x, y) / Math.max(x, y) < 0.3) {
    return 0;
  }
  return shared(shingles(a.tokens), shingles(b.tokens));
}

/** The share of the literals that both have, from 0 to 1; 1 if there are hardly any. */
export function sameLiterals(a: Fingerprint, b: Fingerprint): number {
  return Math.max(a.literals.length, b.literals.length) < 2 ? 1 : shared(a.literals, b.literals);
}

function shingles(tokens: readonly string[]): string[] {
  return tokens.slice(SHINGLE - 1).map((_, at) => tokens.slice(at, at + SHINGLE).join(' '));
}

function shared(a: readonly string[], b: readonly string[]): number {
  const counts = new Map<string, number>();
  for (const item of a) {
    counts.set(item, (counts.get(item) ?? 0) + 1);
  }
  let both = 0;
  for (const item of b) {
    const left = counts.get(item) ?? 0;
    if (left > 0) {
      both += 1;
      counts.set(item, left - 1);
    }
  }
  return (2 * both) / (a.length + b.length || 1);
}
