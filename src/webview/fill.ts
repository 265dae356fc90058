/** Inserts values for the placeholders `{0}`, `{1}`, … of a text. */
export function fill(text: string, ...values: readonly (string | number)[]): string {
  return text.replace(/\{(\d+)\}/g, (place, index) => String(values[Number(index)] ?? place));
}
