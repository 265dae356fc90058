import { checkedOutTexts, type TreeFile } from '../git/treeFiles.ts';
import type { CodeSymbol } from './symbols/symbol.ts';
import { symbolsOf } from './symbols/symbolsOf.ts';

/** As many files are remembered. */
const MAX_FILES = 200;

/**
 * The symbols of files by their contents. To parse a file takes longer than to find it, and most stories of a run lead to
 * files that others have led to before.
 */
export class SymbolMemory {
  /** Those that were asked for last at the end. */
  private readonly known = new Map<string, readonly CodeSymbol[]>();

  /** The symbols of each of a few files. @param files their paths relative to the folder */
  async symbolsOf(dir: string, files: readonly TreeFile[]): Promise<(readonly CodeSymbol[])[]> {
    const unknown = files.filter(file => !this.known.has(keyOf(file)));
    const texts = await checkedOutTexts(dir, unknown);
    const parsed = new Map(
      unknown.map((file, i) => [keyOf(file), symbolsOf(file.path, texts[i] ?? '')] as const),
    );
    return files.map(file => {
      const key = keyOf(file);
      const symbols = parsed.get(key) ?? this.known.get(key) ?? [];
      this.remember(key, symbols);
      return symbols;
    });
  }

  private remember(key: string, symbols: readonly CodeSymbol[]): void {
    this.known.delete(key);
    this.known.set(key, symbols);
    for (const oldest of this.known.keys()) {
      if (this.known.size <= MAX_FILES) {
        return;
      }
      this.known.delete(oldest);
    }
  }
}

/** The path says which language it is. */
function keyOf({ blob, path }: TreeFile): string {
  return `${blob} ${path}`;
}
