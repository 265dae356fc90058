import type { Vocabulary } from './vocabulary.ts';
import { changesSince, type Earlier, type WordCounts } from './wordIndex.ts';

const K = 1.2;
const B = 0.75;

/**
 * Scores the passages of single files by BM25, as in `WordIndex`. Only the files that a ranking looks at closely are
 * asked for, so there are no lists of passages by word.
 */
export class PassageIndex {
  private readonly vocabulary: Vocabulary;
  private readonly files: readonly (readonly WordCounts[])[];
  /** By word: how many passages have it. */
  private readonly found: Uint32Array;
  private readonly count: number;
  /** Of all passages together. */
  private readonly length: number;

  /**
   * @param files the passages of each file
   * @param earlier an index with the same vocabulary: if only a few files came, went or have changed, only these are
   *   counted
   */
  constructor(
    vocabulary: Vocabulary,
    files: readonly (readonly WordCounts[])[],
    earlier?: Earlier<PassageIndex>,
  ) {
    this.vocabulary = vocabulary;
    this.files = files;
    this.found = new Uint32Array(vocabulary.size);
    const changes = earlier && changesSince(earlier.index.files, files, earlier.moved);
    const totals = { count: 0, length: 0 };
    const add = (passages: readonly WordCounts[] = [], sign: 1 | -1 = 1): void => {
      for (const { from, to, weights, words } of passages) {
        for (let i = from; i < to; i++) {
          const word = words[i] ?? 0;
          this.found[word] = (this.found[word] ?? 0) + sign;
          totals.length += sign * (weights[i] ?? 0);
        }
        totals.count += sign;
      }
    };
    if (earlier && changes) {
      const before = earlier.index;
      this.found.set(before.found);
      totals.count = before.count;
      totals.length = before.length;
      for (const file of changes.gone) {
        add(before.files[file], -1);
      }
      for (const file of changes.added) {
        add(files[file]);
      }
    } else {
      for (const passages of files) {
        add(passages);
      }
    }
    this.count = totals.count;
    this.length = totals.length;
  }

  /** @returns a function that gives the score of a file's best passage; 0 if none has any of the words */
  scorer(words: Iterable<string>): (file: number) => number {
    const rarities = new Map<number, number>();
    for (const word of words) {
      const number = this.vocabulary.numberOf(word);
      const found = number === undefined ? 0 : (this.found[number] ?? 0);
      if (number !== undefined && found > 0) {
        rarities.set(number, Math.log(1 + (this.count - found + 0.5) / (found + 0.5)));
      }
    }
    return file => {
      const scores = (this.files[file] ?? []).map(passage => this.scoreOf(passage, rarities));
      return Math.max(0, ...scores);
    };
  }

  private scoreOf(
    { from, to, weights, words }: WordCounts,
    rarities: ReadonlyMap<number, number>,
  ): number {
    let length = 0;
    const hits: { rarity: number; weight: number }[] = [];
    for (let i = from; i < to; i++) {
      const weight = weights[i] ?? 0;
      length += weight;
      const rarity = rarities.get(words[i] ?? 0);
      if (rarity !== undefined) {
        hits.push({ rarity, weight });
      }
    }
    const share = 1 - B + (B * length) / (this.length / (this.count || 1) || 1);
    return hits.reduce(
      (sum, { rarity, weight }) => sum + (rarity * weight * (K + 1)) / (weight + K * share),
      0,
    );
  }
}
