import { codeWords } from './codeWords.ts';
import { KnownNames } from './knownNames.ts';

/** The words of an index as numbers, from 0 on. It only grows. */
export class Vocabulary {
  private readonly numbers: Map<string, number>;
  /** Names that occurred, so that each is cut only once. */
  private names: KnownNames | undefined;
  private readonly cut = (name: string) => codeWords(name).map(word => this.add(word));

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
    this.names ??= new KnownNames();
    for (let at = 0; at < text.length; ) {
      if (!isLetter(text.charCodeAt(at))) {
        at += 1;
        continue;
      }
      const end = endOfName(text, at);
      this.names.addTo(found, text, at, end, this.cut);
      at = end;
    }
    return found;
  }

  /** Frees what only a next text would need. */
  forgetNames(): void {
    this.names = undefined;
  }
}

/** Where the name ends that starts at a letter: it consists of letters, digits, and single `_` between them. */
function endOfName(text: string, start: number): number {
  let at = start + 1;
  for (; at < text.length; at++) {
    const letter = text.charCodeAt(at);
    const isPart =
      isLetter(letter) ||
      isDigit(letter) ||
      // Beyond the end of the text is NaN, which is neither.
      (letter === UNDERSCORE &&
        (isLetter(text.charCodeAt(at + 1)) || isDigit(text.charCodeAt(at + 1))));
    if (!isPart) {
      break;
    }
  }
  return at;
}

const UNDERSCORE = 0x5f;

function isLetter(code: number): boolean {
  const lower = code | 0x20;
  return lower >= 0x61 && lower <= 0x7a;
}

function isDigit(code: number): boolean {
  return code >= 0x30 && code <= 0x39;
}
