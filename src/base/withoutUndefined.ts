/** The object without the properties that are undefined, as it is after it was written to JSON and read again. */
export function withoutUndefined<T extends object>(value: T): T {
  const defined: Partial<T> = {};
  for (const key of Object.keys(value) as (keyof T)[]) {
    if (value[key] !== undefined) {
      defined[key] = value[key];
    }
  }
  return defined as T;
}
