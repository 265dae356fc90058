/**
 * `Set.prototype.union`, which a bundled library (execa 10) uses and Node 20 lacks. Import it before the library.
 * Node 22 and later do not need it.
 */
const prototype = Set.prototype as { union?: <T>(this: Set<T>, other: Iterable<T>) => Set<T> };
prototype.union ??= function union<T>(this: Set<T>, other: Iterable<T>): Set<T> {
  return new Set([...this, ...other]);
};
