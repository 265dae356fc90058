/**
 * Text from outside, sanitized for a message: at most 40 characters, one line, without terminal control characters.
 */
export function plainText(text: string): string {
  const plain = text.slice(0, 41).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
  return plain.length > 40 ? `${plain.slice(0, 39)}…` : plain;
}

/** A value from outside, sanitized for a message. */
export function quoted(value: unknown): string {
  return `"${plainText(typeof value === 'string' ? value : JSON.stringify(value))}"`;
}
