import { type Language, languageOf } from '../symbols/language.ts';
import type { CodeSymbol } from '../symbols/symbol.ts';
import { symbolsOf } from '../symbols/symbolsOf.ts';
import { type Fingerprint, fingerprintOf } from './fingerprint.ts';
import { isOrdinary } from './ordinary.ts';

/** A source file before and after. */
export interface ChangedSource {
  /** After; before, if it is gone. */
  readonly path: string;
  /** Where it was before, if it was moved. */
  readonly oldPath?: string;
  /** Absent for a new file. */
  readonly before?: string;
  /** Absent if it is gone. */
  readonly after?: string;
}

/** A function with its place. */
export interface KnownFunction {
  readonly file: string;
  readonly language: Language;
  readonly symbol: CodeSymbol;
  readonly print: Fingerprint;
}

/** A file that is compared as a whole. */
export interface KnownFile {
  readonly file: string;
  readonly language: Language;
  readonly print: Fingerprint;
}

/** What changes have added. */
export interface NewCode {
  readonly functions: readonly KnownFunction[];
  readonly files: readonly KnownFile[];
}

/** More is the import of a library, not the work of an agent. */
const MAX_FUNCTIONS = 400;

/** The functions and methods of a file that have a body. */
export function functionsOf(file: string, text: string): KnownFunction[] {
  const language = languageOf(file);
  return language === undefined
    ? []
    : symbolsOf(file, text).flatMap(symbol => {
        const { from, to } = symbol.body;
        const isCode = (symbol.kind === 'function' || symbol.kind === 'method') && to > from;
        const print = isCode ? fingerprintOf(text.slice(from, to), language) : undefined;
        return print === undefined ? [] : [{ file, language, symbol, print }];
      });
}

/** The functions and files that are new in ordinary files; a name that the file had before is not. */
export function newCodeOf(changes: readonly ChangedSource[]): NewCode {
  const functions: KnownFunction[] = [];
  const files: KnownFile[] = [];
  for (const { after, before, oldPath, path } of changes) {
    const language = languageOf(path);
    if (after === undefined || language === undefined || !isOrdinary(path)) {
      continue;
    }
    const old = new Set(
      before === undefined ? [] : symbolsOf(oldPath ?? path, before).map(({ name }) => name),
    );
    functions.push(...functionsOf(path, after).filter(({ symbol }) => !old.has(symbol.name)));
    if (before === undefined) {
      files.push({ file: path, language, print: fingerprintOf(after, language) });
    }
  }
  return { functions: functions.slice(0, MAX_FUNCTIONS), files };
}
