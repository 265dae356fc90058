import { codeWords } from './codeWords.ts';
import type { CodeSymbol } from './symbols/symbol.ts';

/** Signatures of a file in a prompt. */
const MAX_SIGNATURES = 3;
/** In UTF-16 units. */
const MAX_LENGTH = 120;

/** Of a symbol, what its signature in a prompt needs. */
export type Definition = Pick<CodeSymbol, 'isExported' | 'kind' | 'name' | 'signature'>;

/** What a prompt may show. No constants, whose values may be secrets. */
export function definitionsIn(symbols: readonly CodeSymbol[]): Definition[] {
  return symbols
    .filter(({ kind }) => kind !== 'constant')
    .map(({ isExported, kind, name, signature }) => ({
      ...{ kind, name, signature },
      isExported,
    }));
}

/**
 * What a file defines, as lines without bodies: first what fits the story, then what other files can use, then the
 * rest, in their order.
 * @param words of the story
 */
export function signaturesOf(
  definitions: readonly Definition[],
  words: ReadonlySet<string>,
): string[] {
  return definitions
    .map(({ isExported, kind, name, signature }) => ({
      signature: signature.slice(0, MAX_LENGTH),
      rank:
        codeWords(name).filter(word => words.has(word)).length +
        (isExported === true ? 0.5 : 0) +
        (kind === 'method' ? 0 : 0.2),
    }))
    .toSorted((a, b) => b.rank - a.rank)
    .slice(0, MAX_SIGNATURES)
    .map(({ signature }) => signature);
}
