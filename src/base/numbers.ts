/**
 * A count from outside in the form the journal requires: a non-negative integer; 0 for anything that is not a
 * number.
 */
export function whole(value: number): number {
  return Math.round(amount(value));
}

/**
 * An amount from outside in the form the journal requires: finite and not negative; 0 for anything that is not a
 * number.
 */
export function amount(value: number): number {
  return Number.isFinite(value) && value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : 0;
}
