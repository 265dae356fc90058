/**
 * An inverted index that scores documents by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
 * 2009). Words can have weights, and a score for every document comes back as one array: the ranking adds many of them.
 */
export class WordIndex {
  /** By word: document and weight, one after the other. */
  private readonly postings = new Map<string, number[]>();
  private readonly lengths: Float64Array;
  private meanLength = 1;

  /** @param documents the words of each document, with how often they occur */
  constructor(documents: readonly ReadonlyMap<string, number>[]) {
    this.lengths = new Float64Array(documents.length);
    let total = 0;
    let filled = 0;
    documents.forEach((words, document) => {
      let length = 0;
      for (const [word, weight] of words) {
        let list = this.postings.get(word);
        if (list === undefined) {
          list = [];
          this.postings.set(word, list);
        }
        list.push(document, weight);
        length += weight;
      }
      this.lengths[document] = length;
      total += length;
      filled += length > 0 ? 1 : 0;
    });
    this.meanLength = total / (filled || 1) || 1;
  }

  /** How much a word tells: the fewer documents have it, the more. Never negative. */
  rarity(word: string): number {
    const found = (this.postings.get(word)?.length ?? 0) / 2;
    return Math.log(1 + (this.lengths.length - found + 0.5) / (found + 0.5));
  }

  /** The score of each document; 0 where none of the words occurs. */
  scores(words: Iterable<string>, { b = 0.75, k = 1.2 } = {}): Float64Array {
    const scores = new Float64Array(this.lengths.length);
    for (const word of words) {
      const list = this.postings.get(word);
      if (list === undefined) {
        continue;
      }
      const rarity = this.rarity(word);
      for (let at = 0; at < list.length; at += 2) {
        const document = list[at] ?? 0;
        const weight = list[at + 1] ?? 0;
        const length = (this.lengths[document] ?? 0) / this.meanLength;
        scores[document] =
          (scores[document] ?? 0) +
          (rarity * weight * (k + 1)) / (weight + k * (1 - b + b * length));
      }
    }
    return scores;
  }
}
