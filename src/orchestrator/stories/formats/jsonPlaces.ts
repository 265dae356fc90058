import { elementsOf, type Member, membersOf, type Span, skipSpace } from './jsonOutline.ts';

/** Finds where the parts of a JSON text begin. Each object and list is read once, however many parts are asked for. */
export class JsonPlaces {
  readonly #text: string;
  readonly #members = new Map<number, ReadonlyMap<string, Member>>();
  readonly #elements = new Map<number, readonly Span[]>();

  /** @param text that `JSON.parse` has accepted */
  constructor(text: string) {
    this.#text = text;
  }

  /** @returns in a list, the start of the value, and in an object, of the key */
  offsetOf(path: readonly (string | number)[]): number {
    let start = skipSpace(this.#text, 0);
    let found = start;
    for (const step of path) {
      if (typeof step === 'number') {
        start = this.#elementsAt(start)[step]?.start ?? start;
        found = start;
      } else {
        const member = this.#membersAt(start).get(step);
        start = member?.value.start ?? start;
        found = member?.name.start ?? found;
      }
    }
    return found;
  }

  #elementsAt(start: number): readonly Span[] {
    const found = this.#elements.get(start) ?? elementsOf(this.#text, start);
    this.#elements.set(start, found);
    return found;
  }

  #membersAt(start: number): ReadonlyMap<string, Member> {
    const found = this.#members.get(start) ?? lastMembers(this.#text, start);
    this.#members.set(start, found);
    return found;
  }
}

/** The members of an object by their keys. As in `JSON.parse`, the last one of repeated keys counts. */
export function lastMembers(text: string, start: number): ReadonlyMap<string, Member> {
  return new Map(membersOf(text, start).map(member => [member.key, member]));
}
