/** Within double quotes a shell would read something else there. */
const SPECIAL = /["$`\\!]/;

/** A word as it is written for a shell: as it is where that is safe. */
export function shellWord(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : shellText(word);
}

/** A text in quotes, for the shells of this system. */
export function shellText(text: string): string {
  if (process.platform === 'win32') {
    return `"${text.replaceAll('"', '\\"')}"`;
  }
  return SPECIAL.test(text) ? `'${text.replaceAll("'", String.raw`'\''`)}'` : `"${text}"`;
}
