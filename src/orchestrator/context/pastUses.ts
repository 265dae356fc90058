import { readPlainFile, writeDerivedFile } from '../../base/plainFile.ts';

/** What an agent was told about the code, and what it then used. */
export interface PastUse {
  /** Of its end, in seconds since 1970. */
  readonly time: number;
  readonly title: string;
  /** Files that were in its prompt. */
  readonly given: readonly string[];
  /** Files that it read or changed. */
  readonly used: readonly string[];
}

/** Older ones are forgotten. */
const MAX_USES = 500;
const MAX_BYTES = 4 * 1024 * 1024;
/** A use counts half after so many newer ones. */
const HALF_LIFE = 50;
/** What is left of the score of a file that was often given and never used. */
const LEAST = 0.5;

/** Reads what was remembered, oldest first; nothing if the file is missing or damaged. */
export async function readUses(file: string): Promise<PastUse[]> {
  const bytes = await readPlainFile(file, MAX_BYTES).catch(() => undefined);
  try {
    const value: unknown = JSON.parse(bytes?.toString('utf8') ?? '[]');
    return Array.isArray(value) ? value.filter(isUse) : [];
  } catch {
    return [];
  }
}

/** Adds a use, and forgets the oldest one if there are too many. */
export async function rememberUse(file: string, use: PastUse): Promise<PastUse[]> {
  const uses = [...(await readUses(file)), use].slice(-MAX_USES);
  await writeDerivedFile(file, `${JSON.stringify(uses)}\n`);
  return uses;
}

/**
 * How much a file's score counts: less if it was given again and again and not used.
 * @returns by path, from {@link LEAST} to 1; files that are not in it count fully
 */
export function trustOf(uses: readonly PastUse[]): Map<string, number> {
  const given = new Map<string, number>();
  const used = new Map<string, number>();
  uses.toReversed().forEach((use, age) => {
    const weight = 0.5 ** (age / HALF_LIFE);
    const touched = new Set(use.used);
    for (const file of use.given) {
      given.set(file, (given.get(file) ?? 0) + weight);
      if (touched.has(file)) {
        used.set(file, (used.get(file) ?? 0) + weight);
      }
    }
  });
  return new Map(
    Array.from(given, ([file, times]) => {
      // Two imagined uses: a single miss says little.
      const share = ((used.get(file) ?? 0) + 2) / (times + 2);
      return [file, Math.max(LEAST, Math.min(1, share))];
    }),
  );
}

function isUse(value: unknown): value is PastUse {
  const { given, time, title, used } = (value ?? {}) as Partial<PastUse>;
  const areTexts = (list: unknown) =>
    Array.isArray(list) && list.every(one => typeof one === 'string');
  return typeof time === 'number' && typeof title === 'string' && areTexts(given) && areTexts(used);
}
