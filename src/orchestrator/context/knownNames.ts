/** As many names are remembered; then all are forgotten. */
const MAX_NAMES = 1 << 17;
const SLOTS = 2 * MAX_NAMES;

/**
 * Names of a code text with the numbers of their words. A name is found by two hashes of its letters, as FNV-1a makes
 * them (http://www.isthe.com/chongo/tech/comp/fnv): no string is made for the millions of names of a repository, which
 * would take most of the time of an index. Two names with both hashes alike are expected once in 10^9 repositories.
 */
export class KnownNames {
  private readonly hashes = new Int32Array(SLOTS);
  private readonly checks = new Int32Array(SLOTS);
  /** By slot: where the name's numbers begin, after their count; 0: the slot is free. */
  private readonly places = new Int32Array(SLOTS);
  private numbers: number[] = [0];
  private size = 0;

  /**
   * Adds the numbers of a name's words to a list.
   * @param numbersOf called if the name is not known
   */
  addTo(
    list: number[],
    text: string,
    from: number,
    to: number,
    numbersOf: (name: string) => readonly number[],
  ): void {
    let hash = 0x811c9dc5;
    let check = 0;
    for (let i = from; i < to; i++) {
      const letter = text.charCodeAt(i);
      hash = Math.imul(hash ^ letter, 0x01000193);
      check = Math.imul(check + letter, 0x85ebca6b) ^ (check >>> 13);
    }
    let slot = (hash ^ (hash >>> 15)) & (SLOTS - 1);
    while (
      this.places[slot] !== 0 &&
      !(this.hashes[slot] === hash && this.checks[slot] === check)
    ) {
      slot = (slot + 1) & (SLOTS - 1);
    }
    let place = this.places[slot] ?? 0;
    if (place === 0) {
      place = this.numbers.length;
      const numbers = numbersOf(text.slice(from, to));
      this.numbers.push(numbers.length, ...numbers);
      this.hashes[slot] = hash;
      this.checks[slot] = check;
      this.places[slot] = place;
      this.size += 1;
    }
    const end = place + (this.numbers[place] ?? 0);
    while (place < end) {
      place += 1;
      list.push(this.numbers[place] ?? 0);
    }
    if (this.size >= MAX_NAMES) {
      this.forget();
    }
  }

  private forget(): void {
    this.places.fill(0);
    this.numbers = [0];
    this.size = 0;
  }
}
