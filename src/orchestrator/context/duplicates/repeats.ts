import path from 'node:path';
import type { Duplicate } from './duplicate.ts';
import { type Fingerprint, sameLiterals, similarity } from './fingerprint.ts';
import { functionsOf, type KnownFile, type KnownFunction, type NewCode } from './newCode.ts';
import { areVariants, isDistinctive } from './ordinary.ts';

/** What the project had before and still has. */
export interface OldCode {
  readonly functions: readonly KnownFunction[];
  readonly files: readonly KnownFile[];
}

/** A file with its content before and after; the same text if nobody has changed it. */
export interface OldSource {
  readonly path: string;
  readonly before: string;
  readonly after: string;
}

/** From here on, code is nearly the same. */
const SAME = 0.9;
/** Functions of the same name do the same if this much of them is the same. */
const ALIKE = 0.5;
/** Or if they take the same, as the words between their names and their bodies say, and other files can use the old one. */
const SAME_SIGNATURE = 0.75;
const MIN_TOKENS = 40;
/** Code that uses fewer names could be anything. */
const MIN_NAMES = 3;
const MIN_FILE_TOKENS = 80;
/** Below this share of common texts and numbers, two functions do the same with other things: a table, not a copy. */
const MIN_LITERALS = 0.5;

/** The functions that files had before and still have, unchanged in essence: what has been moved or rewritten is gone. */
export function keptFunctions({ after, before, path: file }: OldSource): KnownFunction[] {
  const old = functionsOf(file, before);
  if (after === before) {
    return old;
  }
  const now = new Map(functionsOf(file, after).map(known => [known.symbol.name, known]));
  return old.flatMap(({ print, symbol }) => {
    const known = now.get(symbol.name);
    return known !== undefined && isSame(known.print, print, 0.8) ? [known] : [];
  });
}

function isSame(a: Fingerprint, b: Fingerprint, share = SAME): boolean {
  const isEqual = a.tokens.join(' ') === b.tokens.join(' ');
  return isEqual || similarity(a, b) >= share;
}

/** The new code that repeats old code, in its order; each function once. Pure. */
export function repeatsOf(added: NewCode, old: OldCode): Duplicate[] {
  const files = added.files.flatMap(file => {
    const other = old.files.find(known => isSameFile(file, known));
    return other === undefined
      ? []
      : [
          {
            kind: 'file' as const,
            ...{ file: file.file, line: 1, name: path.posix.basename(file.file) },
            other: { file: other.file, line: 1, name: path.posix.basename(other.file) },
          },
        ];
  });
  const copied = new Set(files.map(({ file }) => file));
  const functions = added.functions.flatMap(known => {
    const { file, symbol } = known;
    if (copied.has(file)) {
      return [];
    }
    const byBody = old.functions.find(other => isSameBody(known, other));
    const other = byBody ?? sameName(known, old.functions);
    return other === undefined
      ? []
      : [
          {
            kind: byBody === undefined ? ('name' as const) : ('body' as const),
            ...{ file, line: symbol.line, name: symbol.name },
            other: { file: other.file, line: other.symbol.line, name: other.symbol.name },
          },
        ];
  });
  return [...files, ...functions];
}

function isSameFile(a: KnownFile, b: KnownFile): boolean {
  return a.file !== b.file && a.print.tokens.length >= MIN_FILE_TOKENS && isAlike(a, b);
}

function isSameBody(a: KnownFunction, b: KnownFunction): boolean {
  return a.print.tokens.length >= MIN_TOKENS && a.print.names.size >= MIN_NAMES && isAlike(a, b);
}

function isAlike(a: KnownFile, b: KnownFile): boolean {
  return (
    a.language === b.language &&
    !areVariants(a.file, b.file) &&
    isSame(a.print, b.print) &&
    sameLiterals(a.print, b.print) >= MIN_LITERALS
  );
}

/** The only other function of the name; several are a convention. */
function sameName(
  { file, language, print, symbol }: KnownFunction,
  functions: readonly KnownFunction[],
): KnownFunction | undefined {
  if (symbol.kind !== 'function' || !isDistinctive(symbol.name)) {
    return undefined;
  }
  const named = functions.filter(
    other =>
      other.language === language &&
      other.symbol.kind === 'function' &&
      other.symbol.name === symbol.name,
  );
  const [only] = named;
  if (named.length !== 1 || only === undefined || only.file === file) {
    return undefined;
  }
  const isAlike =
    similarity(print, only.print) >= ALIKE ||
    (only.symbol.isExported !== false && sameSignature(symbol.signature, only.symbol.signature));
  return isAlike && !areVariants(file, only.file) ? only : undefined;
}

function sameSignature(a: string, b: string): boolean {
  const [x, y] = [signatureWords(a), signatureWords(b)];
  const both = x.filter(word => y.includes(word)).length;
  return x.length > 0 && (2 * both) / (x.length + y.length) >= SAME_SIGNATURE;
}

/** What a function takes and returns. */
function signatureWords(signature: string): string[] {
  const [, taken = ''] = /\((.*)$/s.exec(signature) ?? [];
  return [...new Set(taken.match(/[\p{L}_$][\p{L}\p{N}_$]+/gu) ?? [])];
}
