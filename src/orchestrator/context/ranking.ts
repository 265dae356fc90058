import type { CodeIndex } from './codeIndex.ts';
import { signalsOf } from './signals.ts';
import { WEIGHTS } from './weights.ts';

/** A file that matters for a story. */
export interface RankedFile {
  readonly path: string;
  /** Only comparable within one story. */
  readonly score: number;
}

/**
 * The files that a story most probably changes, best first.
 * @param story its title, or more of its text
 * @param limit at most 100
 */
export function rankedFiles(
  index: CodeIndex,
  story: string,
  limit: number,
  weights: Readonly<Record<string, number>> = WEIGHTS,
): RankedFile[] {
  const { files, values } = signalsOf(index, story);
  const scores = new Float64Array(files.length);
  for (const [signal, own] of values) {
    const weight = weights[signal] ?? 0;
    own.forEach((value, i) => {
      scores[i] = (scores[i] ?? 0) + weight * value;
    });
  }
  return files
    .map((file, i) => ({ path: index.files[file]?.path ?? '', score: scores[i] ?? 0 }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}
