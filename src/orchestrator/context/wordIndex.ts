import { Vocabulary } from './vocabulary.ts';

/** The words of a document as numbers of a vocabulary, each once, with how often they occur. */
export interface WordCounts {
  readonly words: Uint32Array;
  readonly weights: Float32Array;
}

/** How often each word occurs in the text that is being counted; always empty between two texts. */
let scratch = new Float32Array(1 << 16);

/** Counts words, each given once or more. */
export function countsOf(...texts: readonly (readonly number[])[]): WordCounts {
  const words: number[] = [];
  for (const text of texts) {
    for (const word of text) {
      if (word >= scratch.length) {
        const larger = new Float32Array(2 * Math.max(word, scratch.length));
        larger.set(scratch);
        scratch = larger;
      }
      const before = scratch[word] ?? 0;
      if (before === 0) {
        words.push(word);
      }
      scratch[word] = before + 1;
    }
  }
  const weights = Float32Array.from(words, word => scratch[word] ?? 0);
  for (const word of words) {
    scratch[word] = 0;
  }
  return { words: Uint32Array.from(words), weights };
}

/** @param weights by word */
export function weighted(weights: ReadonlyMap<number, number>): WordCounts {
  return {
    words: Uint32Array.from(weights.keys()),
    weights: Float32Array.from(weights.values()),
  };
}

/**
 * An inverted index that scores documents by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
 * 2009). Words can have weights, and a score for every document comes back as one array: the ranking adds many of them.
 */
export class WordIndex {
  private readonly vocabulary: Vocabulary;
  /** By word: where its documents begin. */
  private readonly starts: Uint32Array;
  private readonly documents: Uint32Array;
  private readonly weights: Float32Array;
  private readonly lengths: Float64Array;
  private readonly meanLength: number;

  constructor(vocabulary: Vocabulary, counts: readonly WordCounts[]) {
    this.vocabulary = vocabulary;
    this.starts = new Uint32Array(vocabulary.size + 1);
    this.lengths = new Float64Array(counts.length);
    let total = 0;
    let filled = 0;
    counts.forEach(({ weights, words }, document) => {
      let length = 0;
      for (let i = 0; i < words.length; i++) {
        const word = words[i] ?? 0;
        this.starts[word + 1] = (this.starts[word + 1] ?? 0) + 1;
        length += weights[i] ?? 0;
      }
      this.lengths[document] = length;
      total += length;
      filled += length > 0 ? 1 : 0;
    });
    this.meanLength = total / (filled || 1) || 1;
    for (let word = 0; word < vocabulary.size; word++) {
      this.starts[word + 1] = (this.starts[word + 1] ?? 0) + (this.starts[word] ?? 0);
    }
    const all = this.starts[vocabulary.size] ?? 0;
    this.documents = new Uint32Array(all);
    this.weights = new Float32Array(all);
    const next = this.starts.slice();
    counts.forEach(({ weights, words }, document) => {
      for (let i = 0; i < words.length; i++) {
        const word = words[i] ?? 0;
        const place = next[word] ?? 0;
        this.documents[place] = document;
        this.weights[place] = weights[i] ?? 0;
        next[word] = place + 1;
      }
    });
  }

  /** An index with a vocabulary of its own. @param documents the words of each, with how often they occur */
  static of(documents: readonly ReadonlyMap<string, number>[]): WordIndex {
    const vocabulary = new Vocabulary();
    const counts = documents.map(words =>
      weighted(new Map(Array.from(words, ([word, weight]) => [vocabulary.add(word), weight]))),
    );
    return new WordIndex(vocabulary, counts);
  }

  /** Whether any document has the word. */
  has(word: string): boolean {
    const { from, to } = this.rangeOf(word);
    return to > from;
  }

  /** How much a word tells: the fewer documents have it, the more. Never negative. */
  rarity(word: string): number {
    const { from, to } = this.rangeOf(word);
    return Math.log(1 + (this.lengths.length - (to - from) + 0.5) / (to - from + 0.5));
  }

  /** The score of each document; 0 where none of the words occurs. */
  scores(words: Iterable<string>, { b = 0.75, k = 1.2 } = {}): Float64Array {
    const scores = new Float64Array(this.lengths.length);
    for (const word of words) {
      const { from, to } = this.rangeOf(word);
      const rarity = this.rarity(word);
      for (let at = from; at < to; at++) {
        const document = this.documents[at] ?? 0;
        const weight = this.weights[at] ?? 0;
        const length = (this.lengths[document] ?? 0) / this.meanLength;
        scores[document] =
          (scores[document] ?? 0) +
          (rarity * weight * (k + 1)) / (weight + k * (1 - b + b * length));
      }
    }
    return scores;
  }

  private rangeOf(word: string): { readonly from: number; readonly to: number } {
    const number = this.vocabulary.numberOf(word);
    // The vocabulary may have grown since.
    return number === undefined || number + 1 >= this.starts.length
      ? { from: 0, to: 0 }
      : { from: this.starts[number] ?? 0, to: this.starts[number + 1] ?? 0 };
  }
}
