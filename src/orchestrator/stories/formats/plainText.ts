/** Foreign text fit for a message: at most 40 characters, one line, and nothing in it that steers a terminal. */
export function plainText(text: string): string {
  const plain = text.slice(0, 41).replaceAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu, '\uFFFD');
  return plain.length > 40 ? `${plain.slice(0, 39)}…` : plain;
}
