/** @returns a function that calls `make` the first time and caches its result */
export function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}

/**
 * Like {@link once}, for what may fail, such as loading code: calls share one attempt, and the first call after a failure
 * tries again.
 */
export function onceItSucceeds<T>(make: () => Promise<T>): () => Promise<T> {
  let attempt: Promise<T> | undefined;
  return () => {
    attempt ??= make().catch((error: unknown) => {
      attempt = undefined;
      throw error;
    });
    return attempt;
  };
}
