/** Characters that have a special meaning in double quotes. */
const SPECIAL = /["$`\\!]/;

/** A word for a shell command line: unquoted if that is safe. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellText(word);
}

/** A quoted text for the shells of this system. */
export function shellText(text: string): string {
  if (process.platform === 'win32') {
    return `"${text.replaceAll('"', '\\"')}"`;
  }
  return SPECIAL.test(text) ? `'${text.replaceAll("'", String.raw`'\''`)}'` : `"${text}"`;
}
