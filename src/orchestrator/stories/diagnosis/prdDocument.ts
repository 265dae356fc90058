import { type Member, memberOf, membersOf, type Span, skipSpace } from '../formats/jsonOutline.ts';
import { type Entry, isEntry, ownId } from '../formats/prdEntry.ts';
import { findEntries } from '../formats/prdFormat.ts';
import { findStoryArray } from '../formats/prdRoot.ts';

/** A parsed `prd.json`, with the positions of its parts. */
export class PrdDocument {
  readonly text: string;
  readonly root: unknown;
  /** The key of the list; `undefined` if the file is the list. */
  readonly listKey: string | undefined;
  /** The items of the list in order, whether they are stories or not. */
  readonly entries: readonly unknown[];
  readonly spans: readonly Span[];
  private last: { readonly position: number; readonly members: readonly Member[] } | undefined;

  private constructor(
    text: string,
    root: unknown,
    key: string | undefined,
    entries: readonly unknown[],
  ) {
    this.text = text;
    this.root = root;
    this.listKey = key;
    this.entries = entries;
    this.spans = findEntries(text, key);
  }

  /** @param text accepted by `parseStoryText` as `prd` */
  static read(text: string): PrdDocument | undefined {
    const root: unknown = JSON.parse(text);
    const array = findStoryArray(root);
    return array && new PrdDocument(text, root, array.key, array.entries);
  }

  entry(position: number): Entry | undefined {
    const entry = this.entries[position];
    return isEntry(entry) ? entry : undefined;
  }

  span(position: number): Span {
    return this.spans[position] ?? { start: 0, end: 0 };
  }

  members(position: number): readonly Member[] {
    if (this.last?.position !== position) {
      this.last = { position, members: membersOf(this.text, this.span(position).start) };
    }
    return this.last.members;
  }

  member(position: number, key: string): Member | undefined {
    return memberOf(this.members(position), key);
  }

  /** The list itself, with its brackets. */
  listSpan(): Span | undefined {
    const { listKey, text } = this;
    const start = skipSpace(text, 0);
    return listKey === undefined
      ? { start, end: text.trimEnd().length }
      : memberOf(membersOf(text, start), listKey)?.value;
  }

  /** The explicit ids in the file, one for each story that has one. */
  ids(): string[] {
    return this.entries.flatMap(entry => (isEntry(entry) ? (ownId(entry) ?? []) : []));
  }
}
