/** One value for each document, such as its score for a story. Never negative. */
export type Values = Float64Array;

/** The documents with the best scores, best first; equal ones in their order. */
export function best(scores: Values, count: number, withZero = false): number[] {
  // Few documents are among the best: only these are sorted, with their numbers.
  const least = leastOfBest(scores, count);
  const found: number[] = [];
  for (let document = 0; document < scores.length; document++) {
    const score = at(scores, document);
    if (score >= least && (withZero || score > 0)) {
      found.push(document);
    }
  }
  return found.sort((a, b) => at(scores, b) - at(scores, a) || a - b).slice(0, count);
}

/** The smallest of the best values; 0 if there are not so many. */
function leastOfBest(values: Values, count: number): number {
  /** The best so far, ascending. */
  const kept = new Float64Array(Math.min(count, values.length));
  for (let i = 0; i < values.length; i++) {
    const value = at(values, i);
    if (value > (kept[0] ?? 0)) {
      // The smallest one is dropped, and those below the new one move down.
      let place = 0;
      while (place + 1 < kept.length && at(kept, place + 1) < value) {
        kept[place] = at(kept, place + 1);
        place += 1;
      }
      kept[place] = value;
    }
  }
  return kept[0] ?? 0;
}

/** Values as parts of the largest one. */
export function inUnits(values: Values): Values {
  const most = largest(values) || 1;
  const parts = new Float64Array(values.length);
  for (let i = 0; i < values.length; i++) {
    parts[i] = at(values, i) / most;
  }
  return parts;
}

/** The same of their logarithms. */
export function logarithmic(values: Values): Values {
  return inUnits(values.map(value => Math.log(1 + value)));
}

/** The largest value, at least 0. */
export function largest(values: Values): number {
  let most = 0;
  for (let i = 0; i < values.length; i++) {
    most = Math.max(most, at(values, i));
  }
  return most;
}

/** One of the values; 0 for a document that there is not. */
export function at(values: Values, index: number): number {
  return values[index] ?? 0;
}
