import { Vocabulary } from './vocabulary.ts';

/**
 * The words of a document as numbers of a vocabulary, each once, with how often they occur. Many documents share two
 * arrays: the views of an array for each would take as much memory as most of what they show.
 */
export interface WordCounts {
  readonly words: Uint32Array;
  readonly weights: Float32Array | Uint16Array;
  /** Where the document's own begin in both, and where they end. */
  readonly from: number;
  readonly to: number;
}

/** The usual parameters of BM25. */
const K = 1.2;
const B = 0.75;

const NO_WORDS: WordCounts = {
  ...{ words: new Uint32Array(), weights: new Uint16Array(), from: 0, to: 0 },
};

/** By word: how much of it the text has that is being counted; always empty between two texts. */
let scratch = new Float64Array(1 << 16);

/**
 * The numbers of many documents share one memory: with one for each, most of it would be lost between them.
 * In words.
 */
const ROOM = 1 << 18;
/** What fits into the numbers. */
const MAX_COUNT = 0xffff;
let room = { words: new Uint32Array(0), weights: new Uint16Array(0) };
let taken = 0;

/** Counts words, each given once or more. */
export function countsOf(...texts: readonly (readonly number[])[]): WordCounts {
  const words: number[] = [];
  for (const text of texts) {
    for (const word of text) {
      count(word, 1, words);
    }
  }
  if (words.length > room.words.length - taken) {
    const length = Math.max(words.length, ROOM);
    room = { words: new Uint32Array(length), weights: new Uint16Array(length) };
    taken = 0;
  }
  const from = taken;
  for (const word of words) {
    room.words[taken] = word;
    room.weights[taken] = Math.min(scratch[word] ?? 0, MAX_COUNT);
    taken += 1;
    scratch[word] = 0;
  }
  return { ...room, from, to: taken };
}

/** Counts a word. @param words the words so far, each once */
function count(word: number, weight: number, words: number[]): void {
  if (word >= scratch.length) {
    const larger = new Float64Array(2 * Math.max(word, scratch.length));
    larger.set(scratch);
    scratch = larger;
  }
  const before = scratch[word] ?? 0;
  if (before === 0) {
    words.push(word);
  }
  scratch[word] = before + weight;
}

/** @param weights by word */
export function weighted(weights: ReadonlyMap<number, number>): WordCounts {
  return {
    words: Uint32Array.from(weights.keys()),
    weights: Float32Array.from(weights.values()),
    from: 0,
    to: weights.size,
  };
}

/** The documents of each word, in one array after the other. */
interface Postings {
  /** What they were made from. */
  readonly counts: readonly WordCounts[];
  /** By document: how many words it has. */
  readonly lengths: Float64Array;
  /** By word: where its documents begin. */
  readonly starts: Uint32Array;
  readonly documents: Uint32Array | Uint16Array;
  readonly weights: WordCounts['weights'];
}

/** What is not in the postings. */
interface Replaced {
  /** By word: how many of the documents had it that are gone or have other words now. */
  readonly had: ReadonlyMap<number, number>;
  /** By word: the documents that have it now, of those that came or have other words. */
  readonly have: ReadonlyMap<
    number,
    readonly { readonly document: number; readonly weight: number }[]
  >;
}

/** If more documents came, went or have changed, new postings are faster. */
const MAX_REPLACED = 50;

/** What an index was made from before. */
export interface Earlier<Index> {
  readonly index: Index;
  /** By the number that a document had: its number now; -1 if it is gone. */
  readonly moved: Int32Array;
}

/**
 * An inverted index that scores documents by BM25 (Robertson and Zaragoza, "The Probabilistic Relevance Framework",
 * 2009). Words can have weights, and a score for every document comes back as one array: the ranking adds many of them.
 */
export class WordIndex {
  private readonly vocabulary: Vocabulary;
  private readonly postings: Postings;
  /** By document of the postings: its number; -1 if it is gone or has other words now. */
  private readonly numbers: Int32Array;
  private readonly replaced: Replaced;
  private readonly lengths: Float64Array;
  private readonly meanLength: number;

  /**
   * @param counts the words of each document
   * @param earlier an index with the same vocabulary: if only a few documents came, went or have changed, its postings are
   *   used again
   */
  constructor(vocabulary: Vocabulary, counts: readonly WordCounts[], earlier?: Earlier<WordIndex>) {
    this.vocabulary = vocabulary;
    const changes = earlier?.index.changesTo(counts, earlier.moved);
    this.postings =
      earlier && changes ? earlier.index.postings : postingsOf(counts, vocabulary.size);
    const { added, gone, numbers } = changes ?? allOf(counts);
    this.numbers = numbers;
    this.replaced = {
      had: countedIn(gone.map(place => this.postings.counts[place] ?? NO_WORDS)),
      have: listed(added, counts),
    };
    this.lengths = new Float64Array(counts.length);
    numbers.forEach((number, place) => {
      if (number >= 0) {
        this.lengths[number] = this.postings.lengths[place] ?? 0;
      }
    });
    for (const document of added) {
      this.lengths[document] = lengthOf(counts[document] ?? NO_WORDS);
    }
    this.meanLength = meanOfFilled(this.lengths);
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
    return this.countOf(word) > 0;
  }

  /** How much a word tells: the fewer documents have it, the more. Never negative. */
  rarity(word: string): number {
    return rarityOf(this.countOf(word), this.lengths.length);
  }

  /** How many words the document has. */
  lengthOf(document: number): number {
    return this.lengths[document] ?? 0;
  }

  /** Calls a function with each document that has the word. */
  forEach(word: string, use: (document: number, weight: number) => void): void {
    const { documents, weights } = this.postings;
    const { from, number, to } = this.rangeOf(word);
    for (let at = from; at < to; at++) {
      const document = this.numbers[documents[at] ?? 0] ?? -1;
      if (document >= 0) {
        use(document, weights[at] ?? 0);
      }
    }
    for (const { document, weight } of this.replaced.have.get(number) ?? []) {
      use(document, weight);
    }
  }

  /** The score of each document; 0 where none of the words occurs. */
  scores(words: Iterable<string>, { b = B, k = K } = {}): Float64Array {
    const scores = new Float64Array(this.lengths.length);
    for (const word of words) {
      const rarity = this.rarity(word);
      this.forEach(word, (document, weight) => {
        const length = (this.lengths[document] ?? 0) / this.meanLength;
        scores[document] = (scores[document] ?? 0) + rarity * bm25(weight, length, { b, k });
      });
    }
    return scores;
  }

  /** What is different between the postings and other documents. @param moved the numbers of this index's documents there */
  private changesTo(counts: readonly WordCounts[], moved: Int32Array): Changes | undefined {
    const numbers = this.numbers.map(number => moved[number] ?? -1);
    return changesSince(this.postings.counts, counts, numbers);
  }

  private countOf(word: string): number {
    const { from, number, to } = this.rangeOf(word);
    const { had, have } = this.replaced;
    return to - from - (had.get(number) ?? 0) + (have.get(number)?.length ?? 0);
  }

  private rangeOf(word: string): {
    readonly number: number;
    readonly from: number;
    readonly to: number;
  } {
    const { starts } = this.postings;
    const number = this.vocabulary.numberOf(word) ?? -1;
    // The vocabulary may have grown since.
    return number < 0 || number + 1 >= starts.length
      ? { number, from: 0, to: 0 }
      : { number, from: starts[number] ?? 0, to: starts[number + 1] ?? 0 };
  }
}

/** How much a word tells that so many documents have. */
export function rarityOf(count: number, documents: number): number {
  return Math.log(1 + (documents - count + 0.5) / (count + 0.5));
}

/** How much a word speaks for a document. @param length of the document, compared with the mean */
export function bm25(weight: number, length: number, { b = B, k = K } = {}): number {
  return (weight * (k + 1)) / (weight + k * (1 - b + b * length));
}

/** The mean of those that are not empty. */
export function meanOfFilled(lengths: Float64Array): number {
  let total = 0;
  let filled = 0;
  for (const length of lengths) {
    total += length;
    filled += length > 0 ? 1 : 0;
  }
  return total / (filled || 1) || 1;
}

function lengthOf({ from, to, weights }: WordCounts): number {
  let length = 0;
  for (let i = from; i < to; i++) {
    length += weights[i] ?? 0;
  }
  return length;
}

/** What is different between two lists of documents. */
interface Changes {
  /** By number before: the number now of a document that is the same; -1 for all others. */
  readonly numbers: Int32Array;
  /** The numbers before of those that are gone or have other words. */
  readonly gone: readonly number[];
  /** The numbers now of those that came or have other words. */
  readonly added: readonly number[];
}

/**
 * Compares two lists of documents.
 * @param moved by number before: the number now; -1 if it is gone
 * @returns `undefined` if too many are different
 */
export function changesSince<T>(
  before: readonly T[],
  now: readonly T[],
  moved: Int32Array,
): Changes | undefined {
  const numbers = new Int32Array(before.length);
  const isKept = new Uint8Array(now.length);
  const gone: number[] = [];
  for (let place = 0; place < before.length; place++) {
    const number = moved[place] ?? -1;
    const isSame = number >= 0 && now[number] === before[place];
    numbers[place] = isSame ? number : -1;
    if (isSame) {
      isKept[number] = 1;
    } else if (gone.push(place) > MAX_REPLACED) {
      return undefined;
    }
  }
  const added: number[] = [];
  for (let number = 0; number < now.length; number++) {
    if (isKept[number] === 0 && added.push(number) > MAX_REPLACED) {
      return undefined;
    }
  }
  return { numbers, gone, added };
}

/** No changes. */
function allOf({ length }: readonly unknown[]): Changes {
  const numbers = new Int32Array(length);
  for (let number = 0; number < length; number++) {
    numbers[number] = number;
  }
  return { numbers, gone: [], added: [] };
}

/** By word: how many of the documents have it. */
function countedIn(documents: readonly WordCounts[]): Map<number, number> {
  const counted = new Map<number, number>();
  for (const { from, to, words } of documents) {
    for (let i = from; i < to; i++) {
      const word = words[i] ?? 0;
      counted.set(word, (counted.get(word) ?? 0) + 1);
    }
  }
  return counted;
}

/** By word: which of the documents have it. */
function listed(
  documents: readonly number[],
  counts: readonly WordCounts[],
): Map<number, { document: number; weight: number }[]> {
  const have = new Map<number, { document: number; weight: number }[]>();
  for (const document of documents) {
    const { from, to, weights, words } = counts[document] ?? NO_WORDS;
    for (let i = from; i < to; i++) {
      const word = words[i] ?? 0;
      const known = have.get(word) ?? [];
      have.set(word, known);
      known.push({ document, weight: weights[i] ?? 0 });
    }
  }
  return have;
}

function postingsOf(counts: readonly WordCounts[], vocabularySize: number): Postings {
  const starts = new Uint32Array(vocabularySize + 1);
  for (const { from, to, words } of counts) {
    for (let i = from; i < to; i++) {
      const word = words[i] ?? 0;
      starts[word + 1] = (starts[word + 1] ?? 0) + 1;
    }
  }
  for (let word = 0; word < vocabularySize; word++) {
    starts[word + 1] = (starts[word + 1] ?? 0) + (starts[word] ?? 0);
  }
  const all = starts[vocabularySize] ?? 0;
  // Half of the memory if the numbers fit.
  const documents = counts.length > 1 << 16 ? new Uint32Array(all) : new Uint16Array(all);
  const areCounted = counts.every(({ weights }) => weights instanceof Uint16Array);
  const weightsOfAll = areCounted ? new Uint16Array(all) : new Float32Array(all);
  const next = starts.slice();
  counts.forEach(({ from, to, weights, words }, document) => {
    for (let i = from; i < to; i++) {
      const word = words[i] ?? 0;
      const place = next[word] ?? 0;
      documents[place] = document;
      weightsOfAll[place] = weights[i] ?? 0;
      next[word] = place + 1;
    }
  });
  return {
    counts,
    lengths: Float64Array.from(counts, lengthOf),
    starts,
    documents,
    weights: weightsOfAll,
  };
}
