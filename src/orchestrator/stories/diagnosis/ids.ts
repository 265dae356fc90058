import { editDistance } from '../../../base/editDistance.ts';

/** Returns the first free id like `model` (`US-002`, `7`), and marks it as taken. */
export function takeFreeId(taken: Set<string>, model: string): string {
  return freeIdsLike(taken, model)();
}

/** Returns free ids like `model`, one at each call, and marks them as taken; the ids are searched only once. */
export function freeIdsLike(taken: Set<string>, model: string): () => string {
  const [, stem = '', digits = ''] = /^(.*?)(\d*)$/su.exec(model) ?? [];
  const name = (number: number) =>
    digits === '' ? `${model}-${number}` : `${stem}${String(number).padStart(digits.length, '0')}`;
  // After the highest one, so that a number that was used once is not reused.
  let number = digits === '' ? 2 : highest(taken, stem) + 1;
  return () => {
    while (taken.has(name(number))) {
      number += 1;
    }
    const id = name(number);
    taken.add(id);
    return id;
  };
}

function highest(taken: ReadonlySet<string>, stem: string): number {
  let most = 0;
  for (const id of taken) {
    const number = id.startsWith(stem) ? id.slice(stem.length) : '';
    if (/^\d{1,9}$/.test(number)) {
      most = Math.max(most, Number(number));
    }
  }
  return most;
}

/**
 * The one id, or title, that was probably meant: the same numbers, and almost the same letters.
 * @param ids its keys are tried
 * @param canBe only called for ids with the same numbers
 */
export function closestId(
  wrong: string,
  ids: Pick<ReadonlySet<string>, 'keys'>,
  canBe: (id: string) => boolean,
): string | undefined {
  if (isLong(wrong)) {
    return undefined;
  }
  const meant = partsOf(wrong);
  let best: string | undefined;
  let least = Number.POSITIVE_INFINITY;
  let isOnly = true;
  for (const id of ids.keys()) {
    const { letters, numbers } = partsOf(id);
    if (id === wrong || isLong(id) || numbers !== meant.numbers || !canBe(id)) {
      continue;
    }
    const changes = distance(meant.letters, letters);
    if (changes < least) {
      [best, least, isOnly] = [id, changes, true];
    } else if (changes === least) {
      isOnly = false;
    }
  }
  const longest = Math.max(meant.letters.length, best === undefined ? 0 : best.length);
  // Without numbers, the letters are all that speaks for it: of two, one could be any.
  const share = meant.numbers === '' ? 1 / 3 : 1 / 2;
  return isOnly && least <= Math.min(MAX_CHANGES, longest * share) ? best : undefined;
}

const MAX_CHANGES = 2;
/** Longer ids and titles may differ in many ways. */
const MAX_LENGTH = 60;

function isLong(id: string): boolean {
  return id.length > MAX_LENGTH;
}

interface IdParts {
  readonly letters: string;
  readonly numbers: string;
}

/** A cache of parsed ids, because every unknown one is compared with all ids of a file. */
const knownParts = new Map<string, IdParts>();
const MAX_KNOWN = 20_000;

function partsOf(id: string): IdParts {
  const known = knownParts.get(id);
  if (known !== undefined) {
    return known;
  }
  if (knownParts.size >= MAX_KNOWN) {
    knownParts.clear();
  }
  const parts = readParts(id);
  knownParts.set(id, parts);
  return parts;
}

function readParts(id: string): IdParts {
  const text = id.toLowerCase();
  return {
    letters: text.replaceAll(/[^\p{L}]/gu, ''),
    numbers: (text.match(/\d+/g) ?? []).map(digits => digits.replace(/^0+(?=\d)/, '')).join('.'),
  };
}

/** Limited edit distance: larger distances are not computed. */
function distance(a: string, b: string): number {
  return Math.abs(a.length - b.length) > MAX_CHANGES
    ? Number.POSITIVE_INFINITY
    : editDistance(a, b);
}
