import type { StoryFormatName } from './story.ts';

/** Deepest nesting of lists and objects that is read; stories have a handful. */
export const MAX_DEPTH = 200;

/**
 * Finds where brackets are nested deeper than {@link MAX_DEPTH}: parsers call themselves for each level. One pass
 * over the text; Markdown has no nesting that a parser follows.
 * @returns the offset of the first bracket that is too deep
 */
export function findTooDeep(text: string, format: StoryFormatName): number | undefined {
  switch (format) {
    case 'prd':
      return scan(text, { hasStrings: true, endsWithLine: false });
    case 'beads':
      // Each line is a value of its own.
      return scan(text, { hasStrings: true, endsWithLine: true });
    case 'orchestration':
      // In YAML a quotation mark may also be a part of a word.
      return scan(text, { hasStrings: false, endsWithLine: false });
    default:
      return undefined;
  }
}

interface ScanOptions {
  /** Brackets in double quotes are text. */
  readonly hasStrings: boolean;
  /** What a line leaves open is closed by its end. */
  readonly endsWithLine: boolean;
}

function scan(text: string, { hasStrings, endsWithLine }: ScanOptions): number | undefined {
  let depth = 0;
  let isInString = false;
  // Not more than the characters that matter, so that long texts are passed over quickly.
  for (const { 0: found, index } of text.matchAll(/\\.|["[\]{}\n]/g)) {
    if (found === '\n') {
      // No string of JSON goes over lines: this one was not closed.
      isInString = false;
      depth = endsWithLine ? 0 : depth;
    } else if (found === '"') {
      isInString = hasStrings && !isInString;
    } else if (!isInString && (found === '[' || found === '{')) {
      depth += 1;
      if (depth > MAX_DEPTH) {
        return index;
      }
    } else if (!isInString && (found === ']' || found === '}')) {
      depth = Math.max(0, depth - 1);
    }
  }
  return undefined;
}
