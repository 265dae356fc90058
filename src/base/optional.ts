/** @returns the property, or none where there is no value: an optional property is left out, not undefined */
export function optional<K extends string, V>(
  key: K,
  value: V | undefined,
): { [P in K]?: V } | Record<never, never> {
  return value === undefined ? {} : ({ [key]: value } as { [P in K]?: V });
}
