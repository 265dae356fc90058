/** The value of a JSON text; `undefined` if it is none, such as a line that its writer did not finish. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
