import { codeWords } from './codeWords.ts';

/** Names that are remembered with their words, so that each is cut only once. */
const MAX_REMEMBERED = 50_000;
const NAME = /[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)*/g;

/** The words of an index as numbers, from 0 on. It only grows. */
export class Vocabulary {
  private readonly numbers: Map<string, number>;
  private readonly remembered = new Map<string, readonly number[]>();

  /** @param words the words with the numbers 0, 1, … */
  constructor(words: readonly string[] = []) {
    this.numbers = new Map(words.map((word, number) => [word, number]));
  }

  get size(): number {
    return this.numbers.size;
  }

  /** All words, in the order of their numbers. */
  get words(): string[] {
    return [...this.numbers.keys()];
  }

  numberOf(word: string): number | undefined {
    return this.numbers.get(word);
  }

  /** The number of a word, which is added if it is new. */
  add(word: string): number {
    const known = this.numbers.get(word);
    if (known !== undefined) {
      return known;
    }
    this.numbers.set(word, this.numbers.size);
    return this.numbers.size - 1;
  }

  /** The numbers of {@link codeWords} of a text; new words are added. */
  numbersOf(text: string): number[] {
    const found: number[] = [];
    for (const name of text.match(NAME) ?? []) {
      for (const number of this.partsOf(name)) {
        found.push(number);
      }
    }
    return found;
  }

  /** Frees what only a next text would need. */
  forgetNames(): void {
    this.remembered.clear();
  }

  private partsOf(name: string): readonly number[] {
    const known = this.remembered.get(name);
    if (known !== undefined) {
      return known;
    }
    const numbers = codeWords(name).map(word => this.add(word));
    if (this.remembered.size >= MAX_REMEMBERED) {
      this.remembered.clear();
    }
    this.remembered.set(name, numbers);
    return numbers;
  }
}
