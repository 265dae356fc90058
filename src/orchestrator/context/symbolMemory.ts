import { checkedOutTexts, type TreeFile } from '../git/treeFiles.ts';
import { type Definition, definitionsIn } from './signatures.ts';
import { symbolsOf } from './symbols/symbolsOf.ts';

/** What is remembered, in UTF-16 units: what some hundred usual files define, or a few dense ones. */
const MAX_UNITS = 4_000_000;

/**
 * What files define, by their contents. To parse a file takes longer than to find it, and most stories of a run lead to
 * files that others have led to before.
 */
export class SymbolMemory {
  /** As JSON: a string that was cut from a file would keep all of its text. Those that were asked for last at the end. */
  private readonly known = new Map<string, string>();
  private readonly max: number;
  private units = 0;

  constructor(max = MAX_UNITS) {
    this.max = max;
  }

  /** How much it keeps, in UTF-16 units. */
  get size(): number {
    return this.units;
  }

  /** What each of a few files defines. @param files their paths relative to the folder */
  async definitionsOf(dir: string, files: readonly TreeFile[]): Promise<(readonly Definition[])[]> {
    // Taken at once: what is remembered below may push them out.
    const stored = new Map(files.map(file => [keyOf(file), this.known.get(keyOf(file))] as const));
    const unknown = files.filter(file => stored.get(keyOf(file)) === undefined);
    const texts = await checkedOutTexts(dir, unknown);
    for (const [i, file] of unknown.entries()) {
      const text = texts[i];
      // Git may have it later, as a partial clone that has no connection now.
      if (text !== undefined) {
        const definitions = definitionsIn(symbolsOf(file.path, text));
        stored.set(keyOf(file), JSON.stringify(definitions));
      }
    }
    for (const [key, json] of stored) {
      this.remember(key, json);
    }
    return files.map(file => JSON.parse(stored.get(keyOf(file)) ?? '[]') as Definition[]);
  }

  private remember(key: string, json: string | undefined): void {
    if (json === undefined) {
      return;
    }
    this.forget(key);
    this.known.set(key, json);
    this.units += key.length + json.length;
    for (const oldest of this.known.keys()) {
      if (this.units <= this.max) {
        return;
      }
      this.forget(oldest);
    }
  }

  private forget(key: string): void {
    const json = this.known.get(key);
    if (json !== undefined) {
      this.known.delete(key);
      this.units -= key.length + json.length;
    }
  }
}

/** The path says which language it is. */
function keyOf({ blob, path }: TreeFile): string {
  return `${blob} ${path}`;
}
