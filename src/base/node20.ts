/**
 * What the bundled libraries use and Node 20 lacks: `Set.prototype.union` (execa 10). Import it before
 * them. The same libraries run on Node 22 and later as they are.
 */
const prototype = Set.prototype as { union?: <T>(this: Set<T>, other: Iterable<T>) => Set<T> };
prototype.union ??= function union<T>(this: Set<T>, other: Iterable<T>): Set<T> {
  return new Set([...this, ...other]);
};
