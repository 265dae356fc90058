/** A count from outside as the journal takes it: whole and not negative; 0 for what is no number. */
export function whole(value: number): number {
  return Math.round(amount(value));
}

/** An amount from outside as the journal takes it: finite and not negative; 0 for what is no number. */
export function amount(value: number): number {
  return Number.isFinite(value) && value > 0 ? Math.min(value, Number.MAX_SAFE_INTEGER) : 0;
}
