/**
 * @returns an object with the property, or an empty one if there is no value: an optional property is omitted, not
 * undefined
 */
export function optional<K extends string, V>(
  key: K,
  value: V | undefined,
): { [P in K]?: V } | Record<never, never> {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
