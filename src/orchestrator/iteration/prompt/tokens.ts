import { shorten, shortenBlock } from '../../../base/text.ts';

/**
 * An estimate of tokens, without a tokenizer: the tokenizers of these models are not public, and a budget needs no
 * exact number, only one that is too high rather than too low.
 *
 * ASCII counts as 3.5 characters per token (English prose has about 4 to 4.5, code about 3 to 3.5); everything else
 * counts as 2 bytes of UTF-8 per token (Cyrillic about 1 token per letter, Chinese and Japanese about 1.5, an emoji
 * 2).
 */
const WEIGHT_PER_TOKEN = 14;
const ASCII_WEIGHT = 4;
const BYTE_WEIGHT = 7;
/** For the mark of a cut, `…`. */
const MARK_TOKENS = 2;
/**
 * Maximum number of UTF-16 units per token: a text within a budget is at most this many times longer than its
 * tokens.
 */
export const MAX_UNITS_PER_TOKEN = WEIGHT_PER_TOKEN / ASCII_WEIGHT;

/** @returns the estimated number of tokens; 0 for an empty text. Pure. */
export function estimateTokens(text: string): number {
  let weight = 0;
  for (let at = 0; at < text.length; at += 1) {
    weight += weightAt(text, at);
  }
  return Math.ceil(weight / WEIGHT_PER_TOKEN);
}

/** Like `shorten` (one line, cut at a word with a mark), with a limit in tokens. */
export function shortenToTokens(text: string, tokens: number): string {
  return within(shorten(text, unitsOf(tokens)), tokens, shorten);
}

/** Like `shortenBlock` (keeps line breaks), with a limit in tokens. */
export function shortenBlockToTokens(text: string, tokens: number): string {
  return within(shortenBlock(text, unitsOf(tokens)), tokens, shortenBlock);
}

/** The end of a text, with a limit in tokens, cut at a line or otherwise at a word, with a mark. */
export function tailToTokens(text: string, tokens: number): string {
  const enough = unitsOf(tokens) * 4 + 10_000;
  const end = shortenBlock(text.slice(-enough), enough);
  let from = end.length;
  for (let weight = 0; from > 0; from -= 1) {
    weight += weightAt(end, from - 1);
    if (weight > (tokens - MARK_TOKENS) * WEIGHT_PER_TOKEN) {
      break;
    }
  }
  if (from === 0 && text.length <= enough) {
    return end;
  }
  const kept = end.slice(from);
  const [cut = ''] = /^[^\n]*\n/.exec(kept) ?? /^\S*\s/.exec(kept) ?? [];
  // A single long line may not have a better place to cut: giving up half of the text would be too much.
  const clean = cut.length < kept.length / 2 ? kept.slice(cut.length) : kept;
  return `…${clean.replace(/^[\uDC00-\uDFFF]/, '')}`;
}

function within(
  text: string,
  tokens: number,
  cut: (text: string, maxUnits: number) => string,
): string {
  if (estimateTokens(text) <= tokens) {
    return text;
  }
  let units = 0;
  for (let weight = 0; units < text.length; units += 1) {
    weight += weightAt(text, units);
    if (weight > (tokens - MARK_TOKENS) * WEIGHT_PER_TOKEN) {
      break;
    }
  }
  return cut(text, units + 1);
}

function unitsOf(tokens: number): number {
  return Math.ceil(tokens * MAX_UNITS_PER_TOKEN) + 1;
}

/** The two halves of a surrogate pair together weigh four bytes. */
function weightAt(text: string, at: number): number {
  const code = text.charCodeAt(at);
  if (code < 0x80) {
    return ASCII_WEIGHT;
  }
  if (code < 0x800 || (code >= 0xd800 && code <= 0xdfff)) {
    return 2 * BYTE_WEIGHT;
  }
  return 3 * BYTE_WEIGHT;
}
