import { bm25, meanOfFilled, rarityOf, type WordIndex } from './wordIndex.ts';

/**
 * Scores files by the words of the commits that changed them, as if these words were in the files. The words of a file
 * are not collected, since most are never asked for: a word leads to its commits, and these to their files.
 */
export class HistoryIndex {
  private readonly messages: WordIndex;
  private readonly filesOf: readonly (readonly number[])[];
  private readonly factors: Float64Array;
  /** By file: the weight of all its words. */
  private readonly lengths: Float64Array;
  private readonly meanLength: number;

  /**
   * @param messages the words of the commits
   * @param filesOf by commit: the files that its words tell something about
   * @param factors by commit: how much its words count
   */
  constructor(
    messages: WordIndex,
    filesOf: readonly (readonly number[])[],
    factors: Float64Array,
    fileCount: number,
  ) {
    this.messages = messages;
    this.filesOf = filesOf;
    this.factors = factors;
    this.lengths = new Float64Array(fileCount);
    filesOf.forEach((files, commit) => {
      const length = messages.lengthOf(commit) * (factors[commit] ?? 0);
      for (const file of files) {
        this.lengths[file] = (this.lengths[file] ?? 0) + length;
      }
    });
    this.meanLength = meanOfFilled(this.lengths);
  }

  /** Whether any file has the word. */
  has(word: string): boolean {
    let isFound = false;
    this.messages.forEach(word, commit => {
      isFound ||= (this.filesOf[commit]?.length ?? 0) > 0;
    });
    return isFound;
  }

  /** The score of each file; 0 where none of the words occurs. */
  scores(words: Iterable<string>): Float64Array {
    const scores = new Float64Array(this.lengths.length);
    /** By file: how much of the word it has; always empty between two words. */
    const weights = new Float64Array(scores.length);
    for (const word of words) {
      const found: number[] = [];
      this.messages.forEach(word, (commit, weight) => {
        const share = weight * (this.factors[commit] ?? 0);
        for (const file of this.filesOf[commit] ?? []) {
          const before = weights[file] ?? 0;
          if (before === 0) {
            found.push(file);
          }
          weights[file] = before + share;
        }
      });
      const rarity = rarityOf(found.length, scores.length);
      for (const file of found) {
        const length = (this.lengths[file] ?? 0) / this.meanLength;
        scores[file] = (scores[file] ?? 0) + rarity * bm25(weights[file] ?? 0, length);
        weights[file] = 0;
      }
    }
    return scores;
  }
}
