import assert from 'node:assert/strict';

/** Like `assert.deepEqual`, but an optional property may be absent in one value and undefined in the other. */
export function sameValue(actual: unknown, expected: unknown, message?: string): void {
  assert.deepEqual(copy(actual), copy(expected), message);
}

function copy(value: unknown): unknown {
  if (Array.isArray(value)) {
    return value.map(copy);
  }
  if (value instanceof Map) {
    return new Map([...value].map(([key, entry]) => [key, copy(entry)]));
  }
  if (
    typeof value === 'object' &&
    value !== null &&
    Object.getPrototypeOf(value) === Object.prototype
  ) {
    return Object.fromEntries(
      Object.entries(value).flatMap(([key, entry]) =>
        entry === undefined ? [] : [[key, copy(entry)]],
      ),
    );
  }
  return value;
}
