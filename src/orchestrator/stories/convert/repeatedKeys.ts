import { createScanner } from 'jsonc-parser';
import { TextLines } from '../formats/textLines.ts';
import type { ParsedStoryFile } from '../storyFile.ts';

const JSON_FORMATS: ReadonlySet<string> = new Set([
  ...['prd', 'taskMaster', 'tasks', 'beads', 'ralphOrchestrator'],
]);
// Values of `SyntaxKind` in jsonc-parser, a const enum, which isolated modules cannot import.
const [OPEN_BRACE, CLOSE_BRACE, OPEN_BRACKET, CLOSE_BRACKET, COMMA, STRING, END] = [
  ...[1, 2, 3, 4, 5, 10, 17],
];

/**
 * The lines of keys that an object has again below, at any depth: a parser only keeps the last one. Keys that are
 * comments are left out.
 */
export function linesOfRepeatedKeys({ file, text }: ParsedStoryFile): number[] {
  if (!JSON_FORMATS.has(file.format)) {
    return [];
  }
  const lines = new TextLines(text);
  return repeatedKeys(text).map(offset => lines.at(offset).line);
}

/** Without recursion, which hostile nesting would overflow. */
function repeatedKeys(text: string): number[] {
  const scanner = createScanner(text, true);
  const found: number[] = [];
  /** The keys of each object around a token, by name; `undefined` for a list. */
  const around: (Map<string, number> | undefined)[] = [];
  let isKeyNext = false;
  for (let kind: number = scanner.scan(); kind !== END; kind = scanner.scan()) {
    const keys = around.at(-1);
    if (kind === OPEN_BRACE || kind === OPEN_BRACKET) {
      around.push(kind === OPEN_BRACE ? new Map() : undefined);
      isKeyNext = kind === OPEN_BRACE;
    } else if (kind === CLOSE_BRACE || kind === CLOSE_BRACKET) {
      around.pop();
      isKeyNext = false;
    } else if (kind === COMMA) {
      isKeyNext = keys !== undefined;
    } else if (kind === STRING && isKeyNext && keys !== undefined) {
      const key = scanner.getTokenValue();
      const before = keys.get(key);
      if (before !== undefined && !/^(?:\/\/|_)/.test(key)) {
        found.push(before);
      }
      keys.set(key, scanner.getTokenOffset());
      isKeyNext = false;
    }
  }
  return found;
}
