import type { CodeIndex } from './codeIndex.ts';
import { signalsOf } from './signals.ts';
import { WEIGHTS } from './weights.ts';

/** Why a file was found: what spoke most for it, compared with the other candidates. */
export type Reason =
  /** A person chose it. */
  | 'pinned'
  /** Keywords of the Pin lead to it. */
  | 'pin'
  /** The story names it. */
  | 'named'
  | 'words'
  | 'path'
  | 'definition'
  /** Commits with similar messages changed it. */
  | 'history'
  /** This kind of work usually changes it. */
  | 'kind'
  /** It is changed often, or was lately. */
  | 'lately'
  /** It belongs to a file that was found, by its name. */
  | 'partner';

/** The signals of each reason, as they begin; the first that fits counts. */
const REASONS: readonly (readonly [RegExp, Reason])[] = [
  [/^mention/, 'named'],
  [/^partner|^hasPartner/, 'partner'],
  [/^(?:lately|often|ever|age)/, 'lately'],
  [/^kind|^\w+For[A-Z]/, 'kind'],
  [/^(?:history|similar|contentHistory|pathHistory)/, 'history'],
  [/^definition/, 'definition'],
  [/^(?:content|passage)/, 'words'],
  [/^(?:path|name|folder|leaders)/, 'path'],
];

/** Fewer commits that changed a file are not “often”. */
const LEAST_CHANGES = 3;

/** A file that matters for a story. */
export interface RankedFile {
  readonly path: string;
  /** Only comparable within one story. */
  readonly score: number;
  readonly reason: Reason;
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
  const reasons = new Map<Reason, Float64Array>();
  /** By reason: whether anything speaks for it, for each file. */
  const given = new Map<Reason, boolean[]>();
  for (const [signal, ofFiles] of values) {
    const weight = weights[signal] ?? 0;
    const reason = reasonOf(signal);
    const sums = reason && (reasons.get(reason) ?? new Float64Array(files.length));
    const own = (reason && given.get(reason)) ?? [];
    if (reason && sums) {
      reasons.set(reason, sums);
      given.set(reason, own);
    }
    ofFiles.forEach((value, i) => {
      own[i] ||= value > 0;
      scores[i] = (scores[i] ?? 0) + weight * value;
      if (sums) {
        sums[i] = (sums[i] ?? 0) + weight * value;
      }
    });
  }
  const strongest = strongestOf(
    reasons,
    files.length,
    (i, reason) =>
      given.get(reason)?.[i] === true &&
      (reason !== 'lately' || (index.past.changes[files[i] ?? -1] ?? 0) >= LEAST_CHANGES),
  );
  return files
    .map((file, i) => ({
      path: index.paths[file] ?? '',
      score: scores[i] ?? 0,
      reason: strongest[i] ?? 'words',
    }))
    .sort((a, b) => b.score - a.score)
    .slice(0, limit);
}

/** The reason that a signal speaks for, if it speaks for one. */
export function reasonOf(signal: string): Reason | undefined {
  return REASONS.find(([pattern]) => pattern.test(signal))?.[1];
}

/** @param may whether a reason can be given for the file at a position */
function strongestOf(
  reasons: ReadonlyMap<Reason, Float64Array>,
  count: number,
  may: (i: number, reason: Reason) => boolean,
): Reason[] {
  const compared = Array.from(reasons, ([reason, sums]) => ({
    reason,
    sums,
    mean: sums.reduce((sum, value) => sum + value, 0) / (count || 1),
  }));
  return Array.from({ length: count }, (_, i) => {
    const beyond = (sums: Float64Array, mean: number) => (sums[i] ?? 0) - mean;
    return (
      compared
        .toSorted((a, b) => beyond(b.sums, b.mean) - beyond(a.sums, a.mean))
        .find(({ reason }) => may(i, reason))?.reason ?? 'words'
    );
  });
}
